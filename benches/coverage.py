"""How often the intervals of rows cover the truth, kind of row by kind of row.

``python benches/coverage.py [--seeds 1000] [--whole] [--only "TEXT|TEXT"]`` runs each configuration with many
seeds, a tenth of them where a seed takes long unless ``--whole`` is given, and counts the intervals that hold
the true value: that of a closed form, or that of a run which is 100 times as long and has seeds of its own.
Rows without an interval are counted apart. An interval at 95 % is right where 93 to 97 % cover, and on the
safe side where more do: the exact interval of few events does so for every truth. Beside it stands the share
that intervals of the same rows would cover if events or values were taken as independent.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from scipy import stats

from lossylink import _native
from lossylink.declared.job import Part
from lossylink.declared.table import Table as Trials
from lossylink.measuring.fit import FEWEST_RUNS, fit, spelling
from lossylink.measuring.ratios import by_batches
from lossylink.measuring.record import Record
from lossylink.running.complete_row import complete_row
from lossylink.running.mathis.rows import bandwidth_interval
from lossylink.running.sweeping.until import parse_until
from lossylink.scenario.native import configuration
from lossylink.scenario.resolving import resolve
from lossylink.scenario.scenario import Scenario
from lossylink.statistics.estimates import (
    Estimate,
    binomial_interval,
    percentile,
    percentile_interval,
    percentile_ratio,
)
from lossylink.statistics.percentiles import percentile_of
from lossylink.theory.bursts import Chain

SEEDS = 1_000
DEAR = 10
"""Times fewer seeds of configurations that take long."""
LONGER = 100
"""Times as long as a run is the one that stands for the truth."""
_ELSEWHERE = 10_000_000
"""Seeds of the runs that stand for the truth begin here."""
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Found:
    """Two intervals of one run: that of its row, and the one of as many independent events or values."""

    own: Estimate | None
    """Nothing where the row says that the run does not tell."""
    independent: Estimate | None = None


@dataclass(frozen=True)
class Run:
    """Runs of one configuration that differ in their seed."""

    experiment: str
    protection: str
    settings: tuple[tuple[str, Any], ...]

    @cached_property
    def scenario(self) -> Scenario:
        """What is run."""
        return resolve(self.experiment, settings=dict(self.settings), protection=[self.protection], seed=1)

    def outcome(self, seed: int, **changes: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the row and the tables of a seed; ``changes`` name the simulator's keys and their values."""
        given = configuration(self.scenario, self.scenario.protections[0]) | {"seed": seed}
        for key, value in changes.items():
            section, leaf = key.split("__")
            given[section] = {**given[section], leaf: value}
        found = _native.Simulation(json.dumps(given)).run()
        row = complete_row(
            self.scenario, self.scenario.protections[0], found["row"], configuration=given, wall_seconds=1.0
        )
        return row, found["columns"]


@dataclass(frozen=True)
class Kind:
    """A configuration whose intervals are counted."""

    name: str
    words: str
    truth: Callable[[], float]
    find: Callable[[int], Found]
    values: Callable[[int], np.ndarray] = lambda _seed: np.empty(0)
    """The sample of a percentile."""
    is_dear: bool = False
    """Whether a seed takes a tenth of a second and more."""


def of_losses(protection: str, loss: str, frames: int, *, truth: float | None = None) -> Kind:
    """Return the effective loss of ``stress``."""
    settings = (("loss", loss), ("traffic.packets", frames))
    run = Run("stress", protection, settings)

    def find(seed: int) -> Found:
        row, _ = run.outcome(seed)
        lost, sent = row["effective_lost_packets"], row["packets_sent"]
        own = Estimate(lost / sent, *row["effective_loss_ci95"])
        return Found(own, binomial_interval(lost, sent))

    def known() -> float:
        if truth is not None:
            return truth
        rows = [
            run.outcome(_ELSEWHERE + number, traffic__packets=10 * frames)[0]
            for number in range(LONGER // 10)
        ]
        return float(
            sum(row["effective_lost_packets"] for row in rows) / sum(row["packets_sent"] for row in rows)
        )

    return Kind("loss", f"{protection}, {loss}, {frames:,} frames", known, find)


def of_percentile(
    experiment: str, protection: str, percent: float, trials: int, column: str = "fct_us", **settings: Any
) -> Kind:
    """Return a percentile of trials, as `lossylink.Run.tail` has it."""
    named = {key.replace("__", "."): value for key, value in settings.items()}
    run = Run(experiment, protection, tuple(({**named, "flow.trials": trials}).items()))

    def values(seed: int, **changes: Any) -> np.ndarray:
        columns = run.outcome(seed, **changes)[1]["trials"]
        return Trials.of(protection, columns).frame()[column].drop_nulls().to_numpy()

    def find(seed: int) -> Found:
        seen = values(seed)
        block = run.scenario.experiment.block_trials
        return Found(percentile_interval(seen, percent, block=block), percentile_interval(seen, percent))

    def known() -> float:
        return percentile(values(_ELSEWHERE, flow__trials=LONGER * trials), percent)

    words = ", ".join([experiment, protection, *(f"{key} {value}" for key, value in named.items())])
    words = f"{words}, {trials:,} flows"
    return Kind(f"p{percent:g}", words, known, find, values, is_dear=experiment == "workload")


def of_ratio(percent: float, slower: str, faster: str, trials: int, **settings: Any) -> Kind:
    """Return the ratio of a percentile of completion times under two protections."""
    pair = [
        of_percentile("tcp-fct", protection, percent, trials, **settings) for protection in (slower, faster)
    ]

    def find(seed: int) -> Found:
        above, below = (kind.values(seed + 500_000 * place) for place, kind in enumerate(pair))
        one, other = (
            percentile_ratio(above, below, percent, block=block, resamples=1_000) for block in (100, 1)
        )
        return Found(one, other)

    words = f"tcp-fct, {slower} / {faster}, {settings}, {trials:,} flows"
    return Kind(f"p{percent:g} ratio", words, lambda: pair[0].truth() / pair[1].truth(), find)


def of_throughput(protection: str, loss: str, **settings: Any) -> Kind:
    """Return the throughput of a long flow."""
    named = {key.replace("__", "."): value for key, value in settings.items()} | {"loss": loss}
    run = Run("throughput", protection, tuple(named.items()))

    def find(seed: int) -> Found:
        row, _ = run.outcome(seed)
        ends = row["average_throughput_gbps_ci95"]
        return Found(Estimate(row["average_throughput_gbps"], *ends) if ends else None)

    def known() -> float:
        seeds = range(_ELSEWHERE, _ELSEWHERE + LONGER)
        return float(np.mean([run.outcome(seed)[0]["average_throughput_gbps"] for seed in seeds]))

    words = ", ".join([protection, *(f"{key} {value}" for key, value in named.items())])
    return Kind("throughput", words, known, find)


def of_loss_events(rtt: str, duration: str, loss: str) -> Kind:
    """Return the bandwidth of one flow with the interval of its loss events, which rows of hosts have."""
    times = {"path.rtt": rtt, "run.duration": duration, "run.warmup": "1s", "run.cooldown": "0s"}
    flow = {"link.rate": "1Gbps", "loss": loss, "transport.congestion_control": "reno"}
    run = Run("throughput", "none", tuple((flow | times).items()))

    def find(seed: int) -> Found:
        row, _ = run.outcome(seed)
        ends = bandwidth_interval(row["measured_mbps"], row["loss_events"])
        return Found(Estimate(row["measured_mbps"], *ends) if ends else None)

    def known() -> float:
        seeds = range(_ELSEWHERE, _ELSEWHERE + LONGER)
        return float(np.mean([run.outcome(seed)[0]["measured_mbps"] for seed in seeds]))

    return Kind("mathis", f"by loss events: reno, round trip {rtt}, {duration}, {loss}", known, find)


def of_record(chain: Chain, frames: int) -> Kind:
    """Return the loss ratio of ``fit`` and ``measure`` from frames one by one."""

    def find(seed: int) -> Found:
        record = drawn(chain, frames, seed)
        # Of no loss there is the bound of independent losses: nothing tells of bursts.
        own = fit(record).ratio if record.losses else None
        return Found(own, binomial_interval(record.losses, frames) if record.losses else None)

    visits = frames * float(chain.stationary[0]) * chain.to_bad
    words = f"{spelling(chain)}, {frames:,} frames, {visits:.3g} bursts on average"
    return Kind("fit", words, lambda: chain.loss_ratio, find, is_dear=visits >= FEWEST_RUNS / 2)


def of_counts(chain: Chain, batches: int, frames: int) -> Kind:
    """Return the loss ratio of ``fit`` from the counts of another tool's intervals."""

    def find(seed: int) -> Found:
        record = drawn(chain, batches * frames, seed)
        counts = record.lost.reshape(batches, frames).sum(axis=1)
        own = by_batches([(int(count), frames) for count in counts]) if record.losses else None
        return Found(own, binomial_interval(record.losses, record.frames))

    words = f"{spelling(chain)}, {batches} intervals of {frames:,} packets"
    return Kind("fit of counts", words, lambda: chain.loss_ratio, find)


def drawn(chain: Chain, frames: int, seed: int) -> Record:
    """Draw a record from a chain that has run for long."""
    draws = np.random.default_rng(seed)
    is_bad, at = bool(draws.random() < chain.stationary[1]), 0
    states = np.zeros(frames, dtype=np.int64)
    while at < frames:
        stay = int(draws.geometric(chain.to_good if is_bad else chain.to_bad))
        states[at : at + stay] = is_bad
        at, is_bad = at + stay, not is_bad
    return Record(draws.random(frames) < chain.loss[states])


def of_ended_percentile(rule: str, protection: str, loss: str, trials: int) -> Kind:
    """Return the percentile of completion times at which ``sweep --until`` ends."""
    until = parse_until(rule)
    column, percent = percentile_of(until.column or "") or ("", 0.0)
    plain = of_percentile("tcp-fct", protection, percent, trials, loss=loss)
    run = Run("tcp-fct", protection, (("loss", loss), ("flow.trials", trials)))

    def find(seed: int) -> Found:
        own = Estimate(0.0, 0.0, float("inf"))
        for amount in until.looks(trials):
            row, columns = run.outcome(seed, flow__trials=amount)
            part = Part(row=row, tables={"trials": Trials.of(protection, columns["trials"])})
            own = until.estimate(run.scenario.experiment, part) or own
            if until.is_met(own):
                break
        return Found(own)

    return Kind("until", f"{rule}, {column}, {protection}, {loss}, from {trials:,} flows", plain.truth, find)


def of_rule(rule: str, protection: str, loss: str, frames: int, truth: float) -> Kind:
    """Return the effective loss at which ``sweep --until`` ends."""
    until = parse_until(rule)
    run = Run("stress", protection, (("loss", loss), ("traffic.packets", frames)))

    def find(seed: int) -> Found:
        own = Estimate(0.0, 0.0, 1.0)
        row: dict[str, Any] = {}
        for amount in until.looks(frames):
            row, _ = run.outcome(seed, traffic__packets=amount)
            own = until.estimate(run.scenario.experiment, Part(row=row)) or own
            if until.is_met(own):
                break
        return Found(own, binomial_interval(row["effective_lost_packets"], row["packets_sent"]))

    return Kind("until", f"{rule}, {protection}, {loss}, from {frames:,} frames", lambda: truth, find)


def of_rare(protection: str, loss: str, looks: int, truth: float) -> Kind:
    """Return the residual loss of ``run.rare``."""
    settings = (("loss", loss), ("run.rare", True), ("run.looks", looks), ("run.tail", False))
    run = Run("stress", protection, settings)

    def find(seed: int) -> Found:
        row, _ = run.outcome(seed)
        return Found(Estimate(row["residual_loss_rate"], *row["residual_loss_ci95"]))

    return Kind("rare", f"{protection}, {loss}, {looks:,} looks", lambda: truth, find, is_dear=True)


def block_loss(data: int, parity: int, ratio: float) -> float:
    """Return the share of data that blocks leave lost: that of blocks which lose more than their parity."""
    lost = np.arange(parity + 1, data + parity + 1)
    return float((stats.binom.pmf(lost, data + parity, ratio) * lost).sum() / (data + parity))


def kinds() -> Iterator[Kind]:
    """All configurations, the cheapest of each sort first."""
    yield of_losses("none", "1e-5", 100_000, truth=1e-5)
    yield of_losses("none", "1e-3", 100_000, truth=1e-3)
    yield of_losses("none", "0.2", 20_000, truth=0.2)
    bursts, short_bursts = "gilbert-elliott:0.001,0.05", "gilbert-elliott:0.0005,0.3"
    for frames in (1_000, 5_000, 20_000, 200_000):
        yield of_losses("none", bursts, frames, truth=0.001 / 0.051)
    yield of_losses("none", "gilbert-elliott:0.01,0.2,0.5,0.001", 50_000)
    for frames in (5_000, 50_000):
        yield of_losses("fec:5/5", "0.2", frames, truth=block_loss(5, 5, 0.2))
    for frames in (100_000, 1_000_000):
        yield of_losses("fec:20/10", "0.1", frames, truth=block_loss(20, 10, 0.1))
    yield of_losses("fec:20/10", bursts, 50_000)
    yield of_losses("lg:copies=1", "1e-2", 100_000)
    yield of_losses("lg-nb:copies=1", bursts, 50_000)
    yield of_losses("lg:copies=2", short_bursts, 50_000)
    yield of_losses("llr:replays=1", "2e-2", 50_000)
    yield of_losses("llr:replays=1", bursts, 50_000)
    for percent in (50, 99):
        yield of_percentile("tcp-fct", "none", percent, 1_000, loss="1e-2")
        yield of_percentile("tcp-fct", "none", percent, 1_000, loss=bursts)
        yield of_percentile("tcp-fct", "lg", percent, 1_000, loss=short_bursts)
        yield of_percentile("rdma-fct", "none", percent, 1_000, loss=bursts)
    for loss in ("1e-2", short_bursts):
        yield of_ratio(99, "none", "lg", 1_000, loss=loss)
    yield from _of_flows()
    yield of_rule("rel=20%@95%", "none", "1e-3", 5_000, 1e-3)
    yield of_rule("rel=20%@95%", "none", bursts, 5_000, 0.001 / 0.051)
    yield of_rule("rel=20%@95%", "fec:5/5", "0.2", 5_000, block_loss(5, 5, 0.2))
    yield of_ended_percentile("rel=10%@95%,column=fct_us_p99", "none", "1e-2", 500)
    yield of_rare("lg-nb:copies=1", "1e-3", 2_000, 1e-6)
    yield of_rare("fec:25/5", "1e-3", 2_000, block_loss(25, 5, 1e-3))
    for percent in (50, 90, 99):
        yield of_percentile("workload", "none", percent, 2_000, "slowdown", loss="1e-3", flow__load="0.5")
    yield from _of_measurements()


def _of_flows() -> Iterator[Kind]:
    """Throughput, with runs whose rows say null: a silent span, few loss events, a timeout that may be."""
    short = {"link__rate": "10Gbps", "run__warmup": "20ms", "run__cooldown": "0s"}
    cases = [
        ("none", "1e-3", "220ms"),
        ("none", "1e-4", "220ms"),
        ("none", "gilbert-elliott:0.001,0.5", "220ms"),
        ("none", "gilbert-elliott:0.001,0.05", "220ms"),
        ("lg", "1e-3", "220ms"),
        ("lg", "gilbert-elliott:0.0005,0.3", "220ms"),
    ]
    for protection, loss, duration in cases:
        yield of_throughput(protection, loss, run__duration=duration, **short)
    for loss, duration in (("1e-4", "1s"), ("1e-4", "220ms"), ("1e-3", "220ms")):
        yield of_throughput("none", loss, run__duration=duration, transport__protocol="rdma", **short)
    for duration in ("6s", "21s"):
        yield of_loss_events("20ms", duration, "1e-3")


def _of_measurements() -> Iterator[Kind]:
    """Records of few bursts and of many, of losses apart, and counts of intervals."""
    bursts = Chain(to_bad=0.001, to_good=0.05)
    for frames in (3_000, 5_000, 10_000, 50_000):
        yield of_record(bursts, frames)
    yield of_record(Chain.without_memory(0.001), 5_000)
    yield of_record(Chain.without_memory(0.001), 50_000)
    yield of_record(Chain(to_bad=0.001, to_good=0.05, loss_bad=0.5), 50_000)
    for batches in (10, 60):
        yield of_counts(Chain.without_memory(0.01), batches, 1_000)
        yield of_counts(bursts, batches, 10_000)


@dataclass(frozen=True)
class Counted:
    """What the seeds of a configuration say."""

    truth: float
    known: int
    """Seeds whose row has an interval."""
    own: int
    """Those of them that hold the truth."""
    independent: float | None
    """Share of seeds that would hold it with independent events or values."""

    def share(self) -> str:
        """The share that holds the truth, in per cent, with its own interval."""
        if not self.known:
            return "no interval"
        one = binomial_interval(self.own, self.known)
        return f"{100 * one.value:.1f} ({100 * one.low:.1f} to {100 * one.high:.1f})"


def counted(kind: Kind, seeds: int, threads: int, report: Callable[[], None]) -> Counted:
    """Return the truth, and how many seeds cover it: with intervals of rows, and with independent ones."""
    truth = kind.truth()

    def one(seed: int) -> tuple[bool | None, bool | None]:
        found = kind.find(seed)
        report()
        own, independent = (
            None if interval is None else interval.contains(truth)
            for interval in (found.own, found.independent)
        )
        return own, independent

    with ThreadPoolExecutor(threads) as pool:
        covered = list(pool.map(one, range(1, seeds + 1)))
    own = [held for held, _ in covered if held is not None]
    independent = [held for _, held in covered if held is not None]
    return Counted(truth, len(own), sum(own), float(np.mean(independent)) if independent else None)


def main() -> None:
    """Count, and print a table in Markdown, a line as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=SEEDS, help="seeds of each configuration")
    parser.add_argument("--whole", action="store_true", help="all seeds of dear configurations, too")
    parser.add_argument("--only", default="", help="kinds or words of configurations, with bars between")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    wanted = [word for word in given.only.split("|") if word]
    chosen = [
        kind for kind in kinds() if not wanted or any(word in f"{kind.name} {kind.words}" for word in wanted)
    ]
    print("| figure | configuration | truth | seeds with an interval | hold it, % | if independent, % |")
    print("|---|---|---|---|---|---|", flush=True)
    with Progress(console=Console(stderr=True), transient=True) as progress:
        for kind in chosen:
            seeds = given.seeds // DEAR if kind.is_dear and not given.whole else given.seeds
            task = progress.add_task(f"{kind.name} {kind.words}", total=seeds)
            found = counted(kind, seeds, given.threads, lambda: progress.advance(task))  # noqa: B023
            progress.remove_task(task)
            other = "" if found.independent is None else f"{100 * found.independent:.1f}"
            cells = f"{found.truth:.4g}", f"{found.known:,} of {seeds:,}", found.share(), other
            print("|", " | ".join((kind.name, kind.words, *cells)), "|", flush=True)


if __name__ == "__main__":
    main()
