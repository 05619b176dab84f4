"""Long TCP flows in a guest while the link between the hosts corrupts, heals, and is protected."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from lossylink.running.backends.kernel.long_flows import flows_measured
from lossylink.running.backends.kernel.running import Measured

_PS_PER_SECOND = 10**12


def measure(config: dict[str, Any], report: Callable[[float, float], None]) -> dict[str, Any]:
    """Measure the time line of a configuration; the sender tells of itself at the end of each bin."""
    end = config["run"]["duration_ps"] / _PS_PER_SECOND
    width = config["timeline"]["bin_ps"] / _PS_PER_SECOND
    ends = [min(width * place, end) for place in range(1, math.ceil(end / width - 1e-9) + 1)]
    with flows_measured(config, report, looks_seconds=[0.0, end], samples_seconds=ends) as seen:
        again = [
            sum(flow["retransmissions"] for flow in json.loads(line)["flows"])
            for line in seen.lines["sample"]
        ]
        columns = dict(seen.timeline) | {"retransmissions": list(_steps(again))}
        return {"row": _row(config, seen), "columns": {"timeline": columns}}


def _steps(totals: Sequence[int]) -> Iterator[float]:
    """Yield what each total adds to the one before."""
    return (float(after - before) for before, after in itertools.pairwise((0, *totals)))


def _row(config: Mapping[str, Any], seen: Measured) -> dict[str, Any]:
    begin, end = (json.loads(line) for line in seen.lines["look"])
    received = sum(end["received"]) - sum(begin["received"])
    counters = seen.counters
    return {
        **seen.report,
        "congestion_control": config["transport"]["congestion_control"],
        "flows": len(end["received"]),
        "average_throughput_gbps": received * 8 / (end["at"] - begin["at"]) / 1e9,
        "retransmissions": counters["RetransSegs"],
        "timeouts": counters["TCPTimeouts"] - counters["TCPSynRetrans"],
        "mss_bytes": config["transport"]["mss_bytes"],
        "guest_kernel": seen.kernel,
    }


#: The experiments that are measured here.
MEASURES = {"timeline": measure}
