"""The live lab: real hosts in network namespaces, and our data plane as the path between them.

The hosts are those of the published artifact, h4 (10.2.2.1/24) and h8 (10.2.2.2/24)::

    h4 --- [guard] === link that corrupts === [guard] --- h8

Examples
--------
>>> from lossylink.lab import LabSettings
>>> LabSettings(rate_bps=10**9, rtt_ps=200 * 10**6).propagation_ps
100000000
"""

from __future__ import annotations

from lossylink.lab.lab import Lab
from lossylink.lab.settings import LabSettings

__all__ = ["Lab", "LabSettings"]
