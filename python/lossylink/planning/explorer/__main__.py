"""Writes the catalogue of the explorer: ``python -m lossylink.planning.explorer [--few-links] FILE``.

With ``--few-links`` only some links are planned, for tests of the page.
"""

from __future__ import annotations

import sys
from pathlib import Path

from lossylink.planning.explorer.catalogue import as_text, catalogue
from lossylink.planning.explorer.decisions import FEW_LINKS

# Processes that plan links import this module, too.
if __name__ == "__main__":
    match sys.argv[1:]:
        case [file]:
            made = catalogue()
        case ["--few-links", file]:
            made = catalogue(planned=FEW_LINKS)
        case _:
            sys.exit("write python -m lossylink.planning.explorer [--few-links] FILE")
    Path(file).write_text(as_text(made), encoding="utf-8")
