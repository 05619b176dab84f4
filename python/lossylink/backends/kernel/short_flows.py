"""Completion times of short TCP flows in a guest, from the record of what passes at the sender."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lossylink.backends.kernel.running import Measured, measured
from lossylink.backends.kernel.times import completion_times
from lossylink.backends.live.capture import completion_times_us
from lossylink.errors import RunError

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
    shape = {"size_bytes": size, "flows": trials}

    def tell(word: str, rest: str) -> None:
        if word == "done":
            report(float(rest), trials)

    with measured(
        config,
        "short_flows",
        server=shape,
        client=shape | {"seed": config["seed"], "options": options},
        on_line=tell,
        records=True,
    ) as seen:
        times = completion_times_us(seen.record, server_port=_PORT, size_bytes=size)
        row = _row(config, seen, times)
    columns = {"fct_us": [time for time, _ in times], "sent_again": [float(again) for _, again in times]}
    return {"row": row, "columns": {"trials": columns}, "interrupted": False}


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
        "dsacks": counters["TCPDSACKRecvSegs"],
        # A connection request that was lost is no part of a flow's time.
        "timeouts": counters["TCPTimeouts"] - counters["TCPSynRetrans"],
        "loss_probes": counters["TCPLossProbes"],
        "mss_bytes": config["transport"]["mss_bytes"],
        "guest_kernel": seen.kernel,
    }


#: The experiments that are measured here.
MEASURES = {"tcp-fct": measure}
