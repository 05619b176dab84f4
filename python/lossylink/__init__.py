"""lossylink: a laboratory and a data plane for links that corrupt packets.

>>> import lossylink
>>> lossylink.run("stress", protection="none", settings={"traffic.packets": 10_000}).experiment
'stress'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lossylink.errors import LossylinkError, RunError, UserError
    from lossylink.linux.lab.lab import Lab
    from lossylink.linux.lab.settings import LabSettings
    from lossylink.planning.link import Link
    from lossylink.planning.planner import Plan, plan
    from lossylink.running.loading import load
    from lossylink.running.run import Run
    from lossylink.running.runner import run
    from lossylink.running.sweeping import Sweep, sweep

__all__ = [
    "Lab",
    "LabSettings",
    "Link",
    "LossylinkError",
    "Plan",
    "Run",
    "RunError",
    "Sweep",
    "UserError",
    "__version__",
    "load",
    "plan",
    "run",
    "sweep",
]

#: Where each public name lives. They are imported when first used, so that ``import lossylink`` and
#: ``--help`` stay quick and small.
_HOMES = {
    "Lab": "lossylink.linux.lab",
    "LabSettings": "lossylink.linux.lab",
    "Link": "lossylink.planning.link",
    "LossylinkError": "lossylink.errors",
    "Plan": "lossylink.planning.planner",
    "Run": "lossylink.running.run",
    "RunError": "lossylink.errors",
    "Sweep": "lossylink.running.sweeping",
    "UserError": "lossylink.errors",
    "load": "lossylink.running.loading",
    "plan": "lossylink.planning.planner",
    "run": "lossylink.running.runner",
    "sweep": "lossylink.running.sweeping",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("lossylink._native").version()
    if name not in _HOMES:
        raise AttributeError(f"module 'lossylink' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
