"""What flows that share a protected link make of it: the tail of their slowdowns, by a run of a workload.

The flows come from many hosts and meet in the queue in front of the link. Most of a tail is the wait in that
queue, whatever the protection: the link without loss, which stands beside the protections, says how much.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from lossylink.declared.experiments import experiment_named
from lossylink.errors import UserError
from lossylink.planning.link import Link
from lossylink.planning.prediction import Prediction
from lossylink.planning.transport import NAMES, Transport, link_settings
from lossylink.running.runner import run_scenario
from lossylink.scenario.profiles import load_profile
from lossylink.scenario.resolving import resolve

if TYPE_CHECKING:
    import polars

    from lossylink.statistics.estimates import Estimate, Values

FLOWS: Final = 10_000
"""Flows over each protection: their 99.9th percentile rests on ten of them."""
PERCENT: Final = 99.9
HOSTS: Final = "ae-hosts"
CLEAN: Final = "0"
"""Of the link that the protections are held against."""


@dataclass(frozen=True)
class Workload:
    """Flows of many sizes that begin at random."""

    distribution: str = "web-search"
    """Name of a packaged distribution of sizes, or a file."""
    load: float = 0.5
    """Bytes of the flows over the rate of the link."""
    flows: int = FLOWS


@dataclass(frozen=True)
class UnderLoad:
    """The 99.9th percentile of the slowdowns of a workload's flows, over each protection and without loss."""

    transport: Transport
    workload: Workload
    slowdowns: Mapping[str, Estimate]
    """By protection; a slowdown is a completion time over that of the flow alone."""
    clean: Estimate
    """On the link without loss and without protection."""

    unfinished: Mapping[str, int] = field(default_factory=dict)
    """Flows that did not end, by protection: in the tails they are infinitely slow."""

    def row(self, protection: str) -> dict[str, float | None]:
        """Plain values, by the keys of a plan's row; nothing for what is infinite."""
        one = self.slowdowns[protection]
        values = {
            "slowdown_p99_9": one.value,
            "slowdown_p99_9_low": one.low,
            "slowdown_p99_9_high": one.high,
        }
        return {
            **{key: value if math.isfinite(value) else None for key, value in values.items()},
            "flows_unfinished": self.unfinished.get(protection, 0),
        }

    def best(self, meeting: Sequence[Prediction]) -> Prediction:
        """Return the fastest link of those whose tail is not told from the least.

        Two are told apart where their intervals do not overlap, or where flows do not end over one of them.
        """
        least = min((self.slowdowns[one.protection] for one in meeting), key=lambda one: one.value)

        def is_as_good(one: Estimate) -> bool:
            return one.low <= least.high and math.isinf(one.value) <= math.isinf(least.value)

        equal = [one for one in meeting if is_as_good(self.slowdowns[one.protection])]
        return max(equal, key=lambda one: one.effective_speed_gbps.value or 0.0)

    def reason(self, chosen: Prediction, meeting: Sequence[Prediction]) -> str:
        """Say how slow the flows are over the choice, beside a link without loss, and over the others."""
        own = self.slowdowns[chosen.protection]
        flows = f"{NAMES[self.transport]} flows of {self.workload.distribution}"
        words = (
            f"999 of 1,000 {flows} that share the link at {self.workload.load * 100:g} % load take at most "
            f"{own.value:.3g} times as long as alone, and {self.clean.value:.3g} times without loss"
        )
        unfinished = self.unfinished.get(chosen.protection, 0)
        words += f"; {unfinished:,} of {self.workload.flows:,} do not end" if unfinished else ""
        others = [one for one in meeting if one is not chosen]
        worse = [one for one in others if self.slowdowns[one.protection].low > own.high]
        if not others:
            return f"{words}; nothing else meets the target"
        if not worse:
            return f"{words}; the tails over all {len(meeting)} that meet the target are alike: it is fastest"
        return f"{words}; {len(worse)} of {len(meeting)} that meet the target have a worse tail"


def under_load(
    link: Link,
    predictions: Sequence[Prediction],
    transport: Transport,
    workload: Workload,
    *,
    seed: int = 1,
    progress: Callable[[float, float], None] | None = None,
) -> UnderLoad:
    """Run a workload over each protection, and over the link without loss.

    Raises
    ------
    UserError
        The workload cannot be simulated on this link, or one flow in a thousand does not end without any
        loss, or over every protection; one line says why.
    """
    import numpy as np  # a plan without flows does without it

    settings = _settings(link, transport, workload)
    protections = [prediction.protection for prediction in predictions]
    share = len(protections) / (len(protections) + 1)
    trials = _trials(settings, protections, seed, _part(progress, 0.0, share))
    clean = _trials(settings | {"loss.forward": CLEAN}, ["none"], seed, _part(progress, share, 1.0))
    slowdowns = {one: _tail(_slowdowns(trials, one)) for one in protections}
    without_loss = _tail(_slowdowns(clean, "none"))
    where = "without loss" if math.isinf(without_loss.value) else "over every protection"
    if math.isinf(max(without_loss.value, min(one.value for one in slowdowns.values()))):
        words = (
            f"--workload {workload.distribution} by {transport}: one flow in a thousand or more does not end"
        )
        raise UserError(f"{words} {where}; give a lower --load")
    unfinished = {one: int(np.isinf(_slowdowns(trials, one)).sum()) for one in protections}
    return UnderLoad(transport, workload, slowdowns, without_loss, unfinished)


def _settings(link: Link, transport: Transport, workload: Workload) -> dict[str, Any]:
    key = "network_one_way_ns" if transport == "tcp" else "rdma_one_way_ns"
    one_way_ps = load_profile("host", HOSTS)[key] * 1000 + link.propagation_ps
    settings = link_settings(link, transport) | {
        "host.profile": HOSTS,
        "transport.protocol": transport,
        # Each flow has an interface of its own: flows of one host would wait in it, and not for the link.
        "path.rtt": f"{2 * one_way_ps:.0f}ps",
        "flow.distribution": workload.distribution,
        "flow.load": workload.load,
        "flow.trials": workload.flows,
    }
    # Writes at line rate overload a link unless they heed its marks.
    return settings | ({"transport.dcqcn": True} if transport == "rdma" else {})


def _trials(
    settings: dict[str, Any],
    protections: list[str],
    seed: int,
    progress: Callable[[float, float], None] | None,
) -> polars.DataFrame:
    scenario = resolve("workload", settings=settings, protection=protections, seed=seed)
    run = run_scenario(scenario, progress=progress)
    if run.interrupted:
        raise KeyboardInterrupt
    return run.tables["trials"]


def _slowdowns(trials: polars.DataFrame, protection: str) -> Values:
    """Return the slowdowns of the flows over a protection; those of flows that did not end are infinite."""
    return trials.filter(trials["protection"] == protection)["slowdown"].to_numpy()


def _tail(slowdowns: Values) -> Estimate:
    """Return the tail of the slowdowns with the interval that the run's replicas tell."""
    from lossylink.statistics.estimates import percentile_interval

    # Flows of a replica wait for each other: ranks among all of them would claim too much.
    return percentile_interval(slowdowns, PERCENT, block=experiment_named("workload").block_trials)


def _part(
    progress: Callable[[float, float], None] | None, start: float, end: float
) -> Callable[[float, float], None] | None:
    """Return what tells of a part of the work, from ``start`` to ``end`` of 1."""
    if progress is None:
        return None
    tell = progress
    return lambda done, whole: tell(start + (end - start) * done / whole, 1.0)
