"""Which code computes: a word that changes with the version, the simulator and the Python sources."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from lossylink import _native

_PACKAGE = Path(__file__).parents[1]


@cache
def code() -> str:
    """Return the version, and a digest of the compiled module and of every Python source of the package.

    Results of one code are not resumed by another: the simulator measures, and Python completes rows.
    """
    digest = hashlib.sha256(Path(str(_native.__file__)).read_bytes())
    for path in sorted(_PACKAGE.rglob("*.py")):
        digest.update(f"{path.relative_to(_PACKAGE).as_posix()}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return f"{_native.version()}+{digest.hexdigest()}"
