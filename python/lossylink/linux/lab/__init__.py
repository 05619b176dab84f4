"""The live lab: real hosts in network namespaces, and our data plane as the path between them.

The hosts are those of the published artifact, h4 (10.2.2.1/24) and h8 (10.2.2.2/24)::

    h4 --- [guard] === link that corrupts === [guard] --- h8

Examples
--------
>>> from lossylink.linux.lab import LabSettings
>>> LabSettings(rate_bps=10**9, rtt_ps=200 * 10**6).propagation_ps
100000000
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lossylink.linux.lab.tools import complete_path

if TYPE_CHECKING:
    from lossylink.linux.lab.lab import Lab
    from lossylink.linux.lab.settings import LabSettings

__all__ = ["Lab", "LabSettings"]

complete_path()

#: Where each public name lives; they are imported when first used, so that ``--help`` stays quick.
_HOMES = {"Lab": "lossylink.linux.lab.lab", "LabSettings": "lossylink.linux.lab.settings"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'lossylink.linux.lab' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)
