"""The simulator beside the kernel: the same scenarios, seeds and losses on both, with intervals."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from lossylink.results.result import Result
from lossylink.statistics.estimates import Estimate, mean_interval, percentile_interval

CONTROLS = ("reno", "cubic", "dctcp", "bbr")
PROTECTIONS = ("lg", "lg-nb", "llr", "fec:25/5")
#: The largest difference of two throughputs that passes.
LIMIT = 0.05
#: Percentiles of completion times, and how far they may differ where both are all but exact.
PERCENTS = (50.0, 95.0, 99.0)
CLOSE = 0.01
_FLOW_BYTES = (24_387, 2_000_000)
#: Flows of a point, by their size.
_FLOWS = {24_387: 1_500, 2_000_000: 150}


#: Runs an experiment: its name, protection, backend, settings, seed.
Measure = Callable[[str, str, str, dict[str, Any], int], "Result"]


@dataclass(frozen=True, kw_only=True)
class Place:
    """A link under TCP: rate, round trip (none is the artifact's path of 30 us), loss, protection.

    The parts of a run: ``warmup_s`` does not count, and ``counted_s`` does.
    """

    rate: str
    loss: str
    warmup_s: float
    counted_s: float
    rtt: str | None = None
    protection: str = "none"
    receive_window: str | None = None

    def settings(self, control: str) -> dict[str, Any]:
        """Return the scenario's settings, the same for both backends."""
        chosen: dict[str, Any] = {
            "host.profile": "ideal",
            "link.rate": self.rate,
            "loss.forward": self.loss,
            "transport.congestion_control": control,
        }
        if self.rtt is not None:
            # A path that is nothing but the link: an interface turns bursts into frames.
            chosen |= {"path.rtt": self.rtt, "host.nic_rate": self.rate}
        if self.receive_window is not None:
            chosen["transport.receive_window"] = self.receive_window
        return chosen

    def lasting(self) -> dict[str, Any]:
        """Return the settings of how long a flow runs."""
        return {
            "run.duration": f"{self.warmup_s + self.counted_s:g}s",
            "run.warmup": f"{self.warmup_s:g}s",
            "run.cooldown": "0s",
        }

    def __str__(self) -> str:
        return f"{self.rate} {self.rtt or '30us'} {self.loss} {self.protection}"


_TEN = Place(rate="10Gbps", loss="1e-3", warmup_s=0.1, counted_s=0.4)
_HUNDRED = Place(rate="100Gbps", loss="1e-3", warmup_s=0.02, counted_s=0.08)
#: Where throughput is compared.
PLACES = (
    replace(_TEN, loss="1e-4"),
    _TEN,
    replace(_TEN, loss="1e-2"),
    replace(_TEN, loss="1e-1", counted_s=3.9),
    replace(_HUNDRED, loss="1e-4"),
    _HUNDRED,
    Place(rate="1Gbps", rtt="1ms", loss="1e-3", warmup_s=1, counted_s=3),
    Place(rate="1Gbps", rtt="10ms", loss="1e-3", warmup_s=2, counted_s=18),
    Place(rate="1Gbps", rtt="100ms", loss="1e-2", warmup_s=10, counted_s=90),
    *(replace(_TEN, protection=protection) for protection in PROTECTIONS),
    replace(_HUNDRED, protection="lg"),
)


@dataclass(frozen=True, kw_only=True)
class Throughput:
    """Throughput of one long flow on both, Mb/s; the difference is that of runs with the same losses."""

    place: Place
    control: str
    sim_mbps: float
    kernel_mbps: float
    difference: Estimate
    """Relative to the simulator: mean and interval over the pairs."""
    lateness_ns: float

    @property
    def passes(self) -> bool:
        """Whether they differ by at most `LIMIT`, or by nothing that these runs can tell."""
        return abs(self.difference.value) <= LIMIT or self.difference.contains(0.0)

    def __str__(self) -> str:
        known = (self.difference.high - self.difference.low) / 2
        return (
            f"{self.control} {self.place}: {self.sim_mbps:.1f} and {self.kernel_mbps:.1f} Mb/s, "
            f"{self.difference.value:+.1%} +- {known:.1%}"
        )

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON has it."""
        return asdict(self) | {"difference": self.difference.as_json(), "passes": self.passes}


def compare_throughput(place: Place, control: str, *, runs: int, measure: Measure) -> Throughput:
    """Run a long flow with ``runs`` seeds on both; a seed gives both the same losses."""
    settings = place.settings(control) | place.lasting()
    pairs, late = [], 0.0
    for seed in range(1, runs + 1):
        rows = [
            measure("throughput", place.protection, backend, settings, seed).records[0]
            for backend in ("sim", "kernel")
        ]
        pairs.append(tuple(row["average_throughput_gbps"] * 1e3 for row in rows))
        late = max(late, rows[1]["lateness_ns_max"])
    simulated, real = (statistics.fmean(column) for column in zip(*pairs, strict=True))
    return Throughput(
        place=place,
        control=control,
        sim_mbps=simulated,
        kernel_mbps=real,
        difference=mean_interval([kernel / sim - 1 for sim, kernel in pairs]),
        lateness_ns=late,
    )


@dataclass(frozen=True, kw_only=True)
class Times:
    """One percentile of the completion times of short flows on both, us."""

    place: Place
    control: str
    size_bytes: int
    percent: float
    sim_us: Estimate
    kernel_us: Estimate

    @property
    def passes(self) -> bool:
        """Whether each lies in the other's interval, or both all but agree."""
        is_close = abs(self.kernel_us.value / self.sim_us.value - 1) <= CLOSE
        return is_close or (
            self.sim_us.contains(self.kernel_us.value) and self.kernel_us.contains(self.sim_us.value)
        )

    def __str__(self) -> str:
        sides = " and ".join(
            f"{one.value:.3f} ({one.low:.3f} to {one.high:.3f})" for one in (self.sim_us, self.kernel_us)
        )
        return f"{self.control} {self.place} {self.size_bytes:,} B p{self.percent:g}: {sides} us"

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON has it."""
        sides = {"sim_us": self.sim_us.as_json(), "kernel_us": self.kernel_us.as_json()}
        return asdict(self) | sides | {"passes": self.passes}


def compare_times(place: Place, control: str, size_bytes: int, *, measure: Measure) -> Iterator[Times]:
    """Run short flows on both and compare percentiles of their completion times."""
    flows = {"flow.size": size_bytes, "flow.trials": _FLOWS[size_bytes]}
    sim, kernel = (
        measure("tcp-fct", place.protection, backend, place.settings(control) | flows, 1)
        .tables["trials"]["fct_us"]
        .to_numpy()
        for backend in ("sim", "kernel")
    )
    for percent in PERCENTS:
        yield Times(
            place=place,
            control=control,
            size_bytes=size_bytes,
            percent=percent,
            sim_us=percentile_interval(sim, percent),
            kernel_us=percentile_interval(kernel, percent),
        )


def throughputs(
    controls: Sequence[str], *, runs: int, measure: Measure, places: Sequence[Place] = PLACES
) -> Iterator[Throughput]:
    """Compare the throughput of every congestion control at every place, one after another."""
    for control in controls:
        for place in places:
            yield compare_throughput(place, control, runs=runs, measure=measure)


def times(controls: Sequence[str], *, measure: Measure) -> Iterator[Times]:
    """Compare completion times at 100 Gb/s, without and under protection, one point after another."""
    for control in controls:
        for protection in ("none", "lg", "lg-nb"):
            for size_bytes in _FLOW_BYTES:
                place = replace(_HUNDRED, protection=protection)
                yield from compare_times(place, control, size_bytes, measure=measure)
