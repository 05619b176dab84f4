"""The stress experiment as the planner uses it: a link as its settings, and a run that is soon over."""

from __future__ import annotations

import json
from typing import Any, Final

from lossylink.plan.link import Link

PROBE_FRAMES: Final = 200_000
"""Frames of a short run that a prediction rests on: a fifth of a second or less."""


def simulate(link: Link, protection: str, *, packets: int) -> dict[str, Any]:
    """Run the stress experiment without the machinery of runs, and return its row."""
    from lossylink import _native
    from lossylink.scenario import resolve
    from lossylink.scenario.native import configuration

    scenario = resolve("stress", settings=stress_settings(link, packets=packets), protection=[protection])
    outcome = _native.simulate(json.dumps(configuration(scenario, scenario.protections[0])), None)
    row: dict[str, Any] = outcome["row"]
    return row


def stress_settings(link: Link, *, packets: int) -> dict[str, Any]:
    """The link as settings of the stress experiment, with a source that keeps it busy."""
    return {
        "link.rate": f"{link.rate_bps}bps",
        "link.propagation": f"{link.propagation_ps}ps",
        "link.mtu": max(link.frame_bytes - 14, 46),
        "loss.forward": repr(link.loss_ratio),
        "loss.reverse": "0",
        "switch.profile": link.switch,
        "traffic.packets": packets,
        "traffic.frame": link.frame_bytes,
        "traffic.source": "saturated",
    }
