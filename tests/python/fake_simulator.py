"""A stand-in for the compiled simulator: a flow that obeys the loss law exactly."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable
from typing import Any

BASE: dict[str, Any] = {
    "experiment": "mathis",
    "skip": True,
    "link": {"rate_bps": 3_000_000_000, "propagation_ps": 0, "mtu_bytes": 4352},
    "loss": {"reverse": {"model": "none"}},
    "switch": {"queue_bytes": 100_000_000},
    "protection": {"family": "none"},
    "transport": {
        "congestion_control": "reno",
        "timestamps": False,
        "delayed_ack": 2,
        "rto_min_ps": 200_000_000_000,
        "initial_window": 10,
        "segmentation_offload": False,
    },
}
"""The study's configuration without a trial."""

LARGEST_SUPER_FRAME_BYTES = 65_536


Simulate = Callable[[str, Callable[[float, float], None]], dict[str, Any]]


def simulations_by(simulate: Simulate) -> type:
    """Return what replaces ``_native.Simulation``: a class whose runs are calls of ``simulate``."""

    class Simulation:
        def __init__(self, config_json: str) -> None:
            self._config_json = config_json

        def run(self, progress: Callable[[float, float], None], *, threads: int) -> dict[str, Any]:
            return simulate(json.dumps({**json.loads(self._config_json), "threads": threads}), progress)

    return Simulation


class FakeSimulator:
    """Counts its calls; refuses, interrupts or slows down when told to."""

    def __init__(self, *, refuse: bool = False, interrupt_after: int | None = None) -> None:
        self.configurations: list[dict[str, Any]] = []
        self._refuse = refuse
        self._interrupt_after = interrupt_after
        self._lock = threading.Lock()

    def __call__(self, config_json: str, progress: Callable[[float, float], None]) -> dict[str, Any]:
        """Answer as the compiled simulator does."""
        config = json.loads(config_json)
        with self._lock:
            self.configurations.append(config)
            number = len(self.configurations)
        if self._refuse:
            raise ValueError("path.rtt_ps: this simulator refuses everything")
        if self._interrupt_after is not None and number > self._interrupt_after:
            raise KeyboardInterrupt
        row = flow(config)
        progress(0.5, 1.0)
        progress(1.0, 1.0)
        return {"row": row, "columns": {}, "states": [], "interrupted": False}


def flow(config: dict[str, Any]) -> dict[str, Any]:
    """Measure a flow that obeys sqrt(3/2) * MSS / (RTT * sqrt(p)), capped and inflated by its bottleneck."""
    transport, link, run = config["transport"], config["link"], config["run"]
    mss = min(transport["mss_bytes"], link["mtu_bytes"] - 40) - 12 * transport["timestamps"]
    p = config["loss"]["forward"]["p"]
    rtt_s = config["path"]["rtt_ps"] / 1e12
    seconds = (run["duration_ps"] - run["warmup_ps"]) / 1e12
    segments_in_a_frame = LARGEST_SUPER_FRAME_BYTES // mss if transport["segmentation_offload"] else 1
    window = math.sqrt(1.5 * segments_in_a_frame / p)
    demand_bps = window * mss * 8 / rtt_s
    measured_bps = min(demand_bps, 0.9 * link["rate_bps"])
    frames = round(measured_bps * seconds / 8 / mss / segments_in_a_frame)
    lost = round(p * frames)
    return {
        "measured_mbps": measured_bps / 1e6,
        "realised_loss_ratio": lost / frames if frames else 0.0,
        "frames_offered": frames,
        "frames_lost": lost,
        "rtt_mean_ms": 1e3 * rtt_s * max(1.0, demand_bps / measured_bps),
        "rtt_min_ms": 1e3 * rtt_s,
        "loss_events": lost,
        "retransmissions": lost,
        "timeouts": 0,
        "mss_bytes": mss,
        "largest_frame_bytes": 54 + 12 * transport["timestamps"] + segments_in_a_frame * mss,
        "queue_drops": 0,
        "queue_bytes_max": 0 if demand_bps == measured_bps else 10_000_000,
    }
