"""Runs one data plane until it is told to stop: ``python -m lossylink.linux.dataplane CONFIGURATION``.

The configuration is JSON, or ``@FILE`` with JSON in it. The data plane is Rust inside the extension module:
one file to install, one to find, and its version cannot differ from that of the package. Nothing of Python
runs while frames pass.
"""

from __future__ import annotations

import sys
from pathlib import Path

from lossylink import _native


def _text(word: str) -> str:
    return Path(word.removeprefix("@")).read_text(encoding="utf-8") if word.startswith("@") else word


if __name__ == "__main__":
    sys.exit(_native.live_main([_text(word) for word in sys.argv[1:]]))
