"""What a run was made with: versions, machine, command line. Enough to say why two runs differ."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from lossylink import _native

#: Libraries that may have a part in a figure.
_LIBRARIES = ("msgspec", "numpy", "polars", "pydantic", "scipy")


def manifest(*, seed: int, command: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the manifest of a run that has just ended.

    Its ``commit`` is that of the sources from which the compiled simulator was built: ``+changes`` follows
    it if tracked files differed then, and it is ``unknown`` if git knew nothing of the sources.
    """
    return {
        "written_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "command_line": shlex.join(command if command is not None else sys.argv),
        "seed": seed,
        "commit": _native.commit(),
        "versions": {
            "lossylink": _native.version(),
            "python": sys.version.split()[0],
            **_libraries(),
        },
        "machine": machine(),
    }


def _libraries() -> dict[str, str]:
    """Return the versions of the libraries that this process has loaded: no other had a part in the run."""
    return {name: sys.modules[name].__version__ for name in _LIBRARIES if name in sys.modules}


def machine() -> dict[str, Any]:
    """Return what the speed of a run depends on."""
    return {
        "system": f"{os.uname().sysname} {os.uname().release}",
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
    }


@cache
def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, os.uname().machine)
