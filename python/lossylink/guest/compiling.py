"""Small programs and libraries in C for a guest, compiled on first use and kept in the user's cache."""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from lossylink.errors import RunError


def compiled(name: str, source: str, *, cache: Path, options: Sequence[str] = ("-O2",)) -> Path:
    """Return what a source in C compiles to, compiled if it is not in the cache yet.

    Parameters
    ----------
    name
        What the file in the cache begins with.
    options
        Of the compiler; libraries (``-l...``) among them. Another source or other options make another file.

    Raises
    ------
    RunError
        The compiler is missing, or refuses.
    """
    made_of = "\0".join((source, *options))
    target = cache / f"{name}-{hashlib.sha256(made_of.encode()).hexdigest()[:12]}"
    if not target.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            built = Path(folder) / name
            # A linker takes from a library what the source before it has asked for.
            output(["gcc", "-x", "c", "-o", str(built), "-", *options], text_in=source)
            built.replace(target)
    return target


def output(command: Sequence[str], *, text_in: str | None = None) -> str:
    """Return what a tool of the compiler prints.

    Raises
    ------
    RunError
        It is missing, or refuses.
    """
    try:
        done = subprocess.run(command, input=text_in, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise RunError(f"{command[0]} is missing: apt-get install gcc libc6-dev binutils") from None
    if done.returncode != 0:
        raise RunError(f"{command[0]}: {_reason(done.stderr) or f'exit code {done.returncode}'}")
    return done.stdout


def _reason(complaints: str) -> str:
    """Return the line of a compiler's complaints that says what is wrong."""
    lines = [line.strip() for line in complaints.splitlines() if line.strip()]
    return next((line for line in lines if "error:" in line), lines[0] if lines else "")
