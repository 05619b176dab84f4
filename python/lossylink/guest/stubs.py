"""A library with the names that the compiled simulator expects of a Python process.

A kernel in virtual time loads the simulator's library for its path. The path calls nothing of Python, but the
loader wants every name of the library to exist.
"""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from pathlib import Path

from lossylink import _native
from lossylink.errors import RunError


def stubs_library(cache: Path) -> Path:
    """Return the library with the names, built for this version of the simulator if it is not in ``cache``.

    Raises
    ------
    RunError
        The compiler refuses.
    """
    names = _undefined(simulator())
    source = "".join(f"char {name}[64];\n" for name in names)
    target = cache / f"python-names-{hashlib.sha256(source.encode()).hexdigest()[:12]}.so"
    if not target.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            built = Path(folder) / "names.so"
            _compile(source, built)
            built.replace(target)
    return target


def simulator() -> Path:
    """Return the compiled simulator."""
    return Path(_native.__file__)


def _undefined(library: Path) -> list[str]:
    listed = _output(["nm", "--dynamic", "--undefined-only", "--format=posix", str(library)])
    names = (line.split()[0] for line in listed.splitlines())
    return sorted(name for name in names if name.startswith(("Py", "_Py")))


def _compile(source: str, target: Path) -> None:
    _output(["gcc", "-shared", "-fPIC", "-x", "c", "-o", str(target), "-"], text_in=source)


def _output(command: list[str], *, text_in: str | None = None) -> str:
    try:
        done = subprocess.run(command, input=text_in, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise RunError(f"{command[0]} is missing: apt-get install gcc binutils") from None
    if done.returncode != 0:
        raise RunError(f"{command[0]}: {done.stderr.strip() or f'exit code {done.returncode}'}")
    return done.stdout
