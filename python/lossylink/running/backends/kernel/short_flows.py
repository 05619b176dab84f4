"""Completion times of short TCP flows in a guest, from the record of what passes at the sender.

A flow is waited for as long as the simulator waits for one, in virtual time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from lossylink import _native
from lossylink.errors import RunError
from lossylink.linux.guest.hosts import round_trip_seconds
from lossylink.running.backends._completion_times import completion_times
from lossylink.running.backends.kernel.running import Measured, measured
from lossylink.running.backends.live.capture import flows_in

#: The port of the program's server.
_PORT = 5001


def measure(config: dict[str, Any], report: Callable[[float, float], None]) -> dict[str, Any]:
    """Run the flows that a configuration asks for."""
    size, trials = config["flow"]["size_bytes"], config["flow"]["trials"]
    transport = config["transport"]
    options = {
        "congestion_control": transport["congestion_control"],
        "mss_bytes": transport["mss_bytes"],
        "flow_rate_bytes": config["host"]["flow_rate_bps"] // 8,
    }

    def tell(word: str, rest: str) -> None:
        if word == "done":
            report(float(rest), trials)

    with measured(
        config,
        "short_flows",
        server={"size_bytes": size},
        client={
            "size_bytes": size,
            "flows": trials,
            "patience_seconds": patience_seconds(config),
            "seed": config["seed"],
            "options": options,
        },
        on_line=tell,
        records=True,
    ) as seen:
        flows = flows_in(seen.record, server_port=_PORT, size_bytes=size)
        times = [(flow.took_us, flow.sent_again) for flow in flows]
        row = _row(config, seen, times)
    columns = {"fct_us": [time for time, _ in times], "sent_again": [float(again) for _, again in times]}
    return {"row": row, "columns": {"trials": columns}, "interrupted": False}


def patience_seconds(config: dict[str, Any]) -> float:
    """Return how long a flow is waited for.

    Examples
    --------
    >>> link, path = {"rate_bps": 12e6}, {"rtt_ps": 500e9}
    >>> [
    ...     patience_seconds({"link": link, "path": path, "flow": {"size_bytes": size}})
    ...     for size in (24_387, 20_000_000)
    ... ]
    [600.0, 1383.3...]
    """
    seconds = config["flow"]["size_bytes"] * 8 / config["link"]["rate_bps"] + round_trip_seconds(config)
    return _native.flow_patience_s(seconds)


def _row(config: dict[str, Any], seen: Measured, times: list[tuple[float, int]]) -> dict[str, Any]:
    if len(times) != config["flow"]["trials"]:
        raise RunError(f"the guest's record has {len(times)} of {config['flow']['trials']} flows")
    counters = seen.counters
    return {
        **seen.report,
        "congestion_control": config["transport"]["congestion_control"],
        "flow_bytes": config["flow"]["size_bytes"],
        **completion_times([time for time, _ in times]),
        "flows_hit": sum(again > 0 for _, again in times),
        "retransmissions": sum(again for _, again in times),
        "flows_unfinished": sum(math.isinf(time) for time, _ in times),
        "dsacks": counters["TCPDSACKRecvSegs"],
        # A connection request that was lost is no part of a flow's time.
        "timeouts": counters["TCPTimeouts"] - counters["TCPSynRetrans"],
        "loss_probes": counters["TCPLossProbes"],
        "mss_bytes": config["transport"]["mss_bytes"],
        "guest_kernel": seen.kernel,
    }


#: The experiments that are measured here.
MEASURES = {"tcp-fct": measure}
