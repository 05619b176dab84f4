"""The short table where nothing is a terminal: as rich prints it there, without rich.

To load rich and to print with it takes a tenth of a short run. In a script, a log and CI it prints plain
text: no colours, and a width of 80 columns. A table or a line that rich would change is left to rich.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from lossylink.headline import Headline

#: What rich takes for the width where no terminal has one.
WIDTH = 80
#: Variables by which rich would take a file for a terminal, or its width for another one.
_VARIABLES = ("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE")
_STREAMS = (0, 1, 2)


def is_plain() -> bool:
    """Whether rich would find nothing that it could style, or take a width from."""
    if any(os.environ.get(name) for name in _VARIABLES) or "IPython" in sys.modules:
        return False
    return not sys.stdout.isatty() and not any(os.isatty(stream) for stream in _STREAMS)


def plain_table(table: Headline, count: int, *, gap: int) -> list[str]:
    """Return the lines of a table's first columns: the protection left, figures right.

    Examples
    --------
    >>> table = Headline(("protection", "p50", "hit"), ("", "us", ""), (("none", "91.19", "0"),))
    >>> plain_table(table, 3, gap=2)
    ['protection    p50  hit', '               us     ', 'none        91.19    0']
    """
    rows = [table.labels, *([table.units] if any(table.units[:count]) else []), *table.rows]
    widths = [max(len(row[place]) for row in rows) for place in range(count)]
    lefts = [label == "protection" for label in table.labels]
    return [
        (" " * gap).join(
            row[place].ljust(widths[place]) if lefts[place] else row[place].rjust(widths[place])
            for place in range(count)
        )
        for row in rows
    ]


def is_as_rich_prints(lines: Sequence[str]) -> bool:
    """Whether rich would print lines as they stand.

    It wraps long lines, and replaces markup in brackets and names of emoji between colons.
    """
    return all(
        len(line) <= WIDTH
        and line.isascii()
        and line.isprintable()
        and "[" not in line
        and line.count(":") < 2
        for line in lines
    )
