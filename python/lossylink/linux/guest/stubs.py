"""A library with the names that the compiled simulator expects of a Python process.

A kernel in virtual time loads the simulator's library for its path. The path calls nothing of Python, but the
loader wants every name of the library to exist.
"""

from __future__ import annotations

from pathlib import Path

from lossylink import _native
from lossylink.linux.guest.compiling import compiled, output_of


def stubs_library(cache: Path) -> Path:
    """Return the library with the names, built for this version of the simulator if it is not in ``cache``.

    Raises
    ------
    RunError
        The compiler refuses.
    """
    source = "".join(f"char {name}[64];\n" for name in _undefined(simulator()))
    return compiled(source, "python-names.so", cache, ["-shared", "-fPIC"])


def simulator() -> Path:
    """Return the compiled simulator."""
    return Path(_native.__file__)


def _undefined(library: Path) -> list[str]:
    listed = output_of(["nm", "--dynamic", "--undefined-only", "--format=posix", str(library)])
    names = (line.split()[0] for line in listed.splitlines())
    return sorted(name for name in names if name.startswith(("Py", "_Py")))
