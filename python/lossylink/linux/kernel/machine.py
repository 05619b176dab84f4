"""What building and running a kernel for virtual time asks of the machine."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from lossylink.errors import UserError

#: Programs that a build calls, and the Debian package that holds each.
BUILD_TOOLS = {
    "make": "make",
    "gcc": "gcc",
    "ld": "binutils",
    "strip": "binutils",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "tar": "tar",
    "xz": "xz-utils",
}
#: What a build needs at its largest: source, objects and the kernel. Measured: 2.0 GB.
ROOM_BYTES = 3 * 10**9

# Measured on two cores of an AMD EPYC with gcc 12 and Linux 6.12: fetching, unpacking and configuring
# take about 45 s; the rest is 280 s of one core, which all share.
_ALONE_SECONDS = 45
_SHARED_SECONDS = 280

_PROBE_SECONDS = 10
_TRACE_ME = "import ctypes, sys; sys.exit(ctypes.CDLL(None).ptrace(0, 0, None, None) != 0)"


def architecture_obstacle() -> str | None:
    """Return why this processor cannot run the kernel, or None if it can."""
    machine = platform.machine()
    return None if machine == "x86_64" else f"virtual time needs x86-64, and this machine is {machine}"


def trace_obstacle() -> str | None:
    """Return why a process may not trace its children, as the kernel does, or None if it may."""
    try:
        done = subprocess.run(
            [sys.executable, "-S", "-E", "-c", _TRACE_ME],
            capture_output=True,
            timeout=_PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"ptrace cannot be tried: {error}"
    if done.returncode == 0:
        return None
    scope = Path("/proc/sys/kernel/yama/ptrace_scope")
    level = scope.read_text().strip() if scope.is_file() else "unknown"
    return f"ptrace is refused (kernel.yama.ptrace_scope is {level})"


def missing_tools(wanted: Iterable[str] = BUILD_TOOLS) -> list[str]:
    """Return the programs of a build that are not here."""
    return [name for name in wanted if shutil.which(name) is None]


def install_line(missing: Iterable[str]) -> str:
    """Return the command that installs missing programs.

    Examples
    --------
    >>> install_line(["bc", "ld", "strip"])
    'apt-get install bc binutils'
    """
    return f"apt-get install {' '.join(sorted({BUILD_TOOLS[name] for name in missing}))}"


def require_machine(folder: Path) -> None:
    """Insist on what a build needs: processor, programs, and room for ``folder``.

    Raises
    ------
    UserError
        One of these is missing; the message says how to get it.
    """
    if reason := architecture_obstacle():
        raise UserError(f"{reason}; build it on another machine")
    if missing := missing_tools():
        raise UserError(f"{', '.join(missing)} missing; run {install_line(missing)}")
    free = free_bytes(folder)
    if free < ROOM_BYTES:
        raise UserError(
            f"{folder} has {free / 1e9:.1f} GB free and a build needs {ROOM_BYTES / 1e9:.0f} GB; "
            "make room, or set XDG_CACHE_HOME to another folder"
        )


def free_bytes(folder: Path) -> int:
    """Return the room on the disk of a folder that need not exist yet."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.is_dir())
    return shutil.disk_usage(there).free


def build_minutes(cores: int | None = None) -> int:
    """Return about how long a build takes.

    Examples
    --------
    >>> build_minutes(2), build_minutes(16)
    (3, 1)
    """
    shared = _SHARED_SECONDS / (cores or len(os.sched_getaffinity(0)))
    return max(1, round((_ALONE_SECONDS + shared) / 60))
