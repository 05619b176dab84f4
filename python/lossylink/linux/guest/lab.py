"""A live lab in a guest: hosts, wire and guards as ``lossylink lab up`` builds them, by the guest's clock.

`run_in_lab` calls a function beside such a lab. Nothing there costs time but what waits, so that the same
function gives the same result every time, down to the nanosecond, however busy the machine is.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lossylink.declared.protections import parse_protection
from lossylink.errors import RunError
from lossylink.linux.guest.inside import REQUEST, RESULT
from lossylink.linux.guest.machine import Guest, Plan
from lossylink.linux.kernel.cache import Kernel
from lossylink.linux.lab.settings import LabSettings
from lossylink.scenario.native import configuration
from lossylink.scenario.resolving import resolve

#: Lines of a function's traceback that are shown when it fails.
_LAST_LINES = 3


@dataclass(frozen=True, kw_only=True)
class Played:
    """What a function did beside a lab.

    Attributes
    ----------
    result
        What it returned.
    lines
        What it printed.
    virtual_seconds, wall_seconds
        How long the guest took by its own clock, and by that of the machine.
    """

    result: Any
    lines: tuple[str, ...]
    virtual_seconds: float
    wall_seconds: float


def run_in_lab(
    kernel: Kernel,
    function: Callable[..., Any],
    settings: LabSettings,
    *,
    arguments: Mapping[str, Any] | None = None,
    seed: int = 1,
) -> Played:
    """Bring a lab up in a guest and call a function with it; both vanish with the guest.

    Parameters
    ----------
    kernel
        A kernel in virtual time.
    function
        A function of a module, not of a class or another function. Its first argument is the
        `lossylink.linux.lab.Lab`; what it returns is plain data, as JSON knows it.
    settings
        Those of the lab, but for `spins` and `fifo`: its data planes never spin, and come before programs.
    arguments
        Further arguments of the function, by name: plain data.
    seed
        Decides every random draw of the guest's kernel, and so the identities of guards. The losses of the
        link come from the seed in the settings.

    Raises
    ------
    RunError
        The function failed, the guest died, or a program in it lets no time pass.
    """
    request = {
        "module": function.__module__,
        "function": function.__qualname__,
        "settings": virtual(settings).model_dump(mode="json"),
        "arguments": dict(arguments or {}),
    }
    plan = Plan(script=_script(), path=_unused_path(), seed=seed, files={REQUEST: json.dumps(request)})
    lines: list[str] = []
    problems: list[str] = []
    with Guest(kernel, plan) as guest:
        finished = guest.run(on_output=lines.append, on_error=problems.append)
        result = finished.work / RESULT
        if finished.status != 0 or not result.exists():
            said = [line for line in (*problems, *lines) if line.strip()]
            raise RunError(f"in the guest: {' / '.join(said[-_LAST_LINES:]) or 'no result, and no word'}")
        return Played(
            result=json.loads(result.read_text()),
            lines=tuple(lines),
            virtual_seconds=finished.virtual_seconds,
            wall_seconds=finished.wall_seconds,
        )


def virtual(settings: LabSettings) -> LabSettings:
    """Return the settings of a lab whose clock stands still while a program computes.

    To spin would only delay. The kernel is exact with the timers of threads at a real-time priority alone.

    Examples
    --------
    >>> virtual(LabSettings(fifo=False)).fifo, virtual(LabSettings()).spins
    (True, False)
    """
    return settings.model_copy(update={"spins": False, "fifo": True})


def _script() -> str:
    paths = os.pathsep.join(os.path.abspath(path) for path in sys.path if os.path.isdir(path or "."))
    return "\n".join(
        [
            f"export PYTHONPATH={shlex.quote(paths)}",
            # What a run leaves behind would let the next one begin some system calls earlier.
            "export PYTHONDONTWRITEBYTECODE=1",
            f"exec {shlex.quote(sys.executable)} -m lossylink.linux.guest.inside",
        ]
    )


def _unused_path() -> dict[str, Any]:
    """Return a simulated path: a guest has one, and the hosts of a live lab are elsewhere."""
    return configuration(resolve("throughput", settings={"host.profile": "ideal"}), parse_protection("none"))


__all__ = ["Played", "run_in_lab", "virtual"]
