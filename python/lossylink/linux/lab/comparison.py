"""One TCP scenario on the simulator and on the live lab: both throughputs with their intervals."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

#: The link: two cores emulate 100 Mb/s exactly.
LINK = "100Mbps"
#: Two-sided 95 % quantiles of Student's t for 1 to 9 degrees of freedom.
_STUDENT_95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
#: Slow start and what it does to the queue are over by then.
_WARMUP_SECONDS = 2
#: A simulated run lasts so many times as long as a live one: it costs little.
_SIMULATED_TIMES = 10
#: The length of a simulated run that tells how often the flow loses something.
_SCOUT_SECONDS = 60
#: Bounds of a live run, in seconds.
_SHORTEST_SECONDS, _LONGEST_SECONDS = 8, 120
#: How often a live run is made until one is undisturbed.
_ATTEMPTS = 3

#: Runs a scenario on a backend and returns its row: backend, settings, seed.
Measure = Callable[[str, dict[str, Any], int], dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Point:
    """What is compared: an algorithm on a link of a loss ratio and a round trip."""

    congestion_control: str
    loss_ratio: float
    rtt: str

    def settings(self, *, seconds: int) -> dict[str, Any]:
        """Return the scenario's settings, the same for both backends; ``seconds`` count."""
        return {
            "link.rate": LINK,
            "loss.forward": f"bernoulli:{self.loss_ratio!r}",
            "path.rtt": self.rtt,
            "switch.profile": "ideal",
            # More than any window here: what TCP sends again, the link has lost.
            "switch.queue": "6MB",
            "host.profile": "lab",
            "transport.congestion_control": self.congestion_control,
            "run.duration": f"{_WARMUP_SECONDS + seconds}s",
            "run.warmup": f"{_WARMUP_SECONDS}s",
            "run.cooldown": "0s",
        }


@dataclass(frozen=True, kw_only=True)
class Mean:
    """The mean of a few runs, and the half-width of its 95 % interval; in Mb/s."""

    mbps: float
    half_width_mbps: float

    @classmethod
    def of(cls, values: list[float]) -> Mean:
        """Return the mean of at least two runs (Student's t).

        Examples
        --------
        >>> mean = Mean.of([10.0, 11.0, 12.0])
        >>> mean.mbps, round(mean.half_width_mbps, 2)
        (11.0, 2.48)
        """
        half = _STUDENT_95[len(values) - 2] * statistics.stdev(values) / len(values) ** 0.5
        return cls(mbps=statistics.fmean(values), half_width_mbps=half)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One point on both backends."""

    point: Point
    sim: Mean
    live: Mean
    live_seconds: int
    live_loss_events: int
    invalid_because: str | None
    """Why live runs may not be used; nothing when all of them may."""

    @property
    def difference(self) -> float:
        """How far the live mean lies from the simulated one, relative to the latter."""
        return self.live.mbps / self.sim.mbps - 1

    @property
    def difference_half_width(self) -> float:
        """The half-width of the difference's 95 % interval, from those of both means.

        Examples
        --------
        >>> mean = Mean(mbps=10.0, half_width_mbps=0.3)
        >>> point = Point(congestion_control="reno", loss_ratio=0.01, rtt="6ms")
        >>> comparison = Comparison(point=point, sim=mean, live=Mean(mbps=10.0, half_width_mbps=0.4),
        ...     live_seconds=10, live_loss_events=100, invalid_because=None)
        >>> round(comparison.difference_half_width, 3)
        0.05
        """
        shares = [mean.half_width_mbps / mean.mbps for mean in (self.sim, self.live)]
        return self.live.mbps / self.sim.mbps * math.hypot(*shares)

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON has it."""
        return {
            "congestion_control": self.point.congestion_control,
            "loss_ratio": self.point.loss_ratio,
            "rtt": self.point.rtt,
            "sim_mbps": self.sim.mbps,
            "sim_half_width_mbps": self.sim.half_width_mbps,
            "live_mbps": self.live.mbps,
            "live_half_width_mbps": self.live.half_width_mbps,
            "difference": self.difference,
            "difference_half_width": self.difference_half_width,
            "live_seconds": self.live_seconds,
            "live_loss_events": self.live_loss_events,
            "invalid_because": self.invalid_because,
        }


def compare(point: Point, *, runs: int, events: int, measure: Measure) -> Comparison:
    """Measure a point on both backends: ``runs`` times, each until about ``events`` loss events.

    A long run is no substitute for several: the spread between runs is the interval's source. Losses that are
    rare make runs long, since the throughput of a flow is the mean over the cycles between its losses.
    """
    scout = measure("sim", point.settings(seconds=_SCOUT_SECONDS), 0)
    seconds = seconds_for(events, scout["loss_events"] / _SCOUT_SECONDS)
    long = point.settings(seconds=_SIMULATED_TIMES * seconds)
    simulated = [measure("sim", long, seed) for seed in range(1, runs + 1)]
    live = [_undisturbed(point, seconds, seed, measure) for seed in range(1, runs + 1)]
    reasons = dict.fromkeys(row["invalid_because"] for row in live if not row["valid"])
    return Comparison(
        point=point,
        sim=_mean(simulated),
        live=_mean(live),
        live_seconds=seconds,
        live_loss_events=sum(row["loss_events"] for row in live),
        invalid_because="; ".join(reasons) or None,
    )


def seconds_for(events: int, events_per_second: float) -> int:
    """Return how long a live run must last to see so many loss events, within bounds.

    Examples
    --------
    >>> seconds_for(60, 3.0), seconds_for(60, 100.0), seconds_for(60, 0.0)
    (20, 8, 120)
    """
    needed = math.ceil(events / events_per_second) if events_per_second else _LONGEST_SECONDS
    return max(_SHORTEST_SECONDS, min(needed, _LONGEST_SECONDS))


def _undisturbed(point: Point, seconds: int, seed: int, measure: Measure) -> dict[str, Any]:
    """Measure live until a run is valid; the last one counts if none is, and the table says so."""
    row: dict[str, Any] = {}
    for _ in range(_ATTEMPTS):
        row = measure("live", point.settings(seconds=seconds), seed)
        if row["valid"]:
            break
    return row


def _mean(rows: list[dict[str, Any]]) -> Mean:
    return Mean.of([row["average_throughput_gbps"] * 1e3 for row in rows])


def points(controls: tuple[str, ...], places: tuple[tuple[float, str], ...]) -> Iterator[Point]:
    """Yield every algorithm at every loss ratio and round trip."""
    for control in controls:
        for loss, rtt in places:
            yield Point(congestion_control=control, loss_ratio=loss, rtt=rtt)
