"""What flows make of a protected link: completion times by a short run, because no closed form has them.

A link that delivers out of order may be the fastest, and its flows not the quickest: a transport may take
a late frame for a lost one. A link in order delays many frames for each loss.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from lossylink.errors import UserError
from lossylink.planning.link import Link
from lossylink.planning.prediction import Prediction
from lossylink.running.runner import run_scenario
from lossylink.scenario.resolving import resolve

Transport = Literal["tcp", "rdma"]

EXPERIMENTS: Final = {"tcp": "tcp-fct", "rdma": "rdma-fct"}
NAMES: Final = {"tcp": "TCP", "rdma": "RDMA"}
FLOW_BYTES: Final = 2_000_000
FLOWS: Final = 500
"""Flows of each protection: the fewest round number whose 99th percentile has an interval at both ends."""
PERCENT: Final = 99.0
_HEADERS_BYTES: Final = 40
_ETHERNET_BYTES: Final = 14
_FASTEST_NIC_BPS: Final = 100 * 10**9
"""Of the published hosts; a faster link has faster interfaces."""


@dataclass(frozen=True)
class Carried:
    """The 99th percentile of the completion times of flows over one protection, with its interval.

    A flow that does not end is slower than all that do. Where one in a hundred does not end, the percentile
    is infinite.
    """

    protection: str
    fct_us_p99: float
    low: float
    """Of 95 %."""
    high: float

    def row(self) -> dict[str, float | None]:
        """Plain values, by the keys of a plan's row; nothing for what is infinite."""
        values = {"fct_us_p99": self.fct_us_p99, "fct_us_p99_low": self.low, "fct_us_p99_high": self.high}
        return {key: value if math.isfinite(value) else None for key, value in values.items()}


def carry(
    link: Link,
    predictions: Sequence[Prediction],
    transport: Transport,
    *,
    flow_bytes: int = FLOW_BYTES,
    seed: int = 1,
    progress: Callable[[float, float], None] | None = None,
) -> tuple[Carried, ...]:
    """Run flows one after another over each protection, between the published hosts.

    Parameters
    ----------
    flow_bytes
        Payload of each of `FLOWS` flows.

    Raises
    ------
    UserError
        The transport cannot be simulated on this link, or one flow in a hundred does not end over any
        protection; one line says why.
    """
    from lossylink.statistics.estimates import percentile_interval

    scenario = resolve(
        EXPERIMENTS[transport],
        settings=_settings(link, transport, flow_bytes),
        protection=[prediction.protection for prediction in predictions],
        seed=seed,
    )
    run = run_scenario(scenario, progress=progress)
    if run.interrupted:
        raise KeyboardInterrupt
    # Flows one after another share nothing but a burst of losses that outlasts the first of them.
    block = 1 if link.is_independent else scenario.experiment.block_trials
    carried = []
    for prediction in predictions:
        of_this = run.tables["trials"].filter(run.tables["trials"]["protection"] == prediction.protection)
        estimate = percentile_interval(of_this["fct_us"].to_numpy(), PERCENT, block=block)
        carried.append(Carried(prediction.protection, estimate.value, estimate.low, estimate.high))
    if all(math.isinf(one.fct_us_p99) for one in carried):
        words = "one flow in a hundred or more does not end over any protection; give smaller flows"
        raise UserError(f"--transport {transport}: {words}")
    return tuple(carried)


def link_settings(link: Link, transport: Transport) -> dict[str, Any]:
    """Return the settings of an experiment for the link, and a transport whose packets fill its frames."""
    mtu = link.frame_bytes - _ETHERNET_BYTES
    settings: dict[str, Any] = {
        "link.rate": f"{link.rate_bps}bps",
        "link.propagation": f"{link.propagation_ps}ps",
        "link.mtu": mtu,
        "loss.forward": link.loss.spelling if link.loss is not None else f"{link.loss_ratio:.17g}",
        "switch.profile": link.switch,
    }
    return settings | ({"transport.mss": mtu - _HEADERS_BYTES} if transport == "tcp" else {})


def _settings(link: Link, transport: Transport, flow_bytes: int) -> dict[str, Any]:
    return link_settings(link, transport) | {
        "host.nic_rate": f"{max(link.rate_bps, _FASTEST_NIC_BPS)}bps",
        "flow.size": f"{flow_bytes}B",
        "flow.trials": FLOWS,
    }


def best_carried(meeting: Sequence[Prediction], carried: Sequence[Carried]) -> Prediction:
    """Return the fastest link of those whose flows are not told from the quickest.

    Two are told apart where their intervals do not overlap, or where flows do not end over one of them.
    """
    times = {one.protection: one for one in carried}
    quickest = min((times[one.protection] for one in meeting), key=lambda one: one.fct_us_p99)
    equal = [one for one in meeting if _is_as_quick(times[one.protection], quickest)]
    return max(equal, key=lambda one: one.effective_speed_gbps.value or 0.0)


def _is_as_quick(one: Carried, quickest: Carried) -> bool:
    return one.low <= quickest.high and math.isinf(one.fct_us_p99) <= math.isinf(quickest.fct_us_p99)
