"""The P4 compiler and the reference switch: where they are, and compiled programs in the user's cache."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from lossylink._package.resources import P4
from lossylink.errors import RunError, UserError
from lossylink.linux.bmv2.sources import program

COMPILER = "p4c-bm2-ss"
SWITCH = "simple_switch"
#: A folder with ``bin``, looked at before the PATH.
VARIABLE = "LOSSYLINK_P4"


def find(tool: str) -> Path:
    """Return the compiler or the switch.

    Raises
    ------
    UserError
        It is not there; the message says the mend.
    """
    folder = os.environ.get(VARIABLE)
    places = [str(Path(folder) / "bin")] if folder else []
    path = os.pathsep.join([*places, os.environ.get("PATH", os.defpath)])
    found = shutil.which(tool, path=path)
    if found is None:
        where = f"in {folder}/bin or " if folder else ""
        raise UserError(
            f"{tool} is not {where}in the PATH: install p4c and BMv2, or say {VARIABLE}=FOLDER (p4/README.md)"
        )
    return Path(found)


def version(tool: str) -> str:
    """Return what a tool says of its version, such as ``1.2.5.16 (SHA: 34b86e9bac BUILD: Release)``.

    Raises
    ------
    UserError
        It is not there, or does not start: a library that it needs may be missing.
    """
    path = find(tool)
    try:
        done = subprocess.run(
            [path, "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True
        )
        # The compiler says its path first, and on its standard error.
        last = done.stdout.strip().splitlines()[-1]
    except (OSError, subprocess.CalledProcessError, IndexError):
        raise UserError(
            f"{path} does not say its version: run `{path} --version` and mend what it says"
        ) from None
    return last.removeprefix("Version ").strip()


def compiled(family: str) -> Path:
    """Return the compiled program of a protection's switches, compiling it where the cache has none.

    Raises
    ------
    UserError
        There is no compiler.
    RunError
        The compiler refuses the program, or warns.
    """
    compiler = find(COMPILER)
    target = cache_folder() / f"{family}-{_key(compiler)}.json"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        compile_to(target, program(family))
    return target


def compile_to(target: Path, source: Path) -> None:
    """Compile a program; a warning is an error."""
    unfinished = target.with_name(f"{target.stem}.{os.getpid()}{target.suffix}")
    done = subprocess.run(
        [find(COMPILER), source, "-o", unfinished], capture_output=True, text=True, check=False
    )
    # An error is one line, however many the compiler makes of it.
    said = " ".join((done.stdout + done.stderr).split())
    if done.returncode or said:
        unfinished.unlink(missing_ok=True)
        raise RunError(f"{COMPILER} {source}: {said or f'exit code {done.returncode}'}")
    unfinished.replace(target)


def cache_folder() -> Path:
    """Return where compiled programs are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "lossylink" / "p4"


def _key(compiler: Path) -> str:
    """Return what a compiled program depends on: every source, and the compiler."""
    digest = hashlib.sha256(f"{compiler.resolve()} {compiler.stat().st_mtime_ns}".encode())
    for file in sorted(P4.rglob("*.p4")):
        digest.update(file.relative_to(P4).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]
