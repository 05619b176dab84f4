"""Small programs and libraries in C, compiled when they are first needed and kept in the cache."""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from lossylink.errors import RunError

#: Letters of a hash that tell sources apart.
_KEY_DIGITS = 12


def compiled(source: str, name: str, cache: Path, options: Sequence[str]) -> Path:
    """Return what gcc makes of a source, from ``cache`` if it is there.

    Parameters
    ----------
    source
        A source in C, whole.
    name
        A file's name; a hash of source and options comes before its suffix.
    cache
        A folder, which need not exist yet.
    options
        Words for gcc, behind those that name the source.

    Raises
    ------
    RunError
        There is no compiler, or it refuses.
    """
    key = hashlib.sha256("\0".join((source, *options)).encode()).hexdigest()[:_KEY_DIGITS]
    target = cache / f"{Path(name).stem}-{key}{Path(name).suffix}"
    if not target.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            built = Path(folder) / name
            output_of(["gcc", "-x", "c", "-o", str(built), "-", *options], text_in=source)
            built.replace(target)
    return target


def output_of(command: Sequence[str], *, text_in: str | None = None) -> str:
    """Return what a program of gcc or binutils prints.

    Raises
    ------
    RunError
        It is missing, or it fails.
    """
    try:
        done = subprocess.run(command, input=text_in, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise RunError(f"{command[0]} is missing: apt-get install gcc binutils") from None
    if done.returncode != 0:
        raise RunError(f"{command[0]}: {_reason(done.stderr) or f'exit code {done.returncode}'}")
    return done.stdout


def _reason(complaints: str) -> str:
    """Return the line of a compiler's complaints that says what is wrong."""
    lines = [line.strip() for line in complaints.splitlines() if line.strip()]
    return next((line for line in lines if "error:" in line), lines[0] if lines else "")
