"""How often the intervals of rows cover the truth, kind of row by kind of row.

``python benches/coverage.py [--seeds 1000] [--only TEXT,...]`` runs each configuration with many seeds and
counts the intervals that hold the true value: that of a closed form, or that of a run which is 100 times as
long and has seeds of its own. An interval at 95 % is right where 93 to 97 % cover, and on the safe side where
more do: the exact interval of few events does so for every truth. Beside it stands the share that intervals
of the same rows would cover if events or values were taken as independent.
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
from rich.table import Table
from scipy import stats

from lossylink import _native
from lossylink.complete_row import complete_row
from lossylink.job import Part
from lossylink.scenario import Scenario, resolve
from lossylink.scenario.native import configuration
from lossylink.statistics import (
    Estimate,
    binomial_interval,
    percentile,
    percentile_interval,
    percentile_ratio,
)
from lossylink.sweeping.until import parse_until
from lossylink.table import Table as Trials

SEEDS = 1_000
LONGER = 100
"""Times as long as a run is the one that stands for the truth."""
_ELSEWHERE = 10_000_000
"""Seeds of the runs that stand for the truth begin here."""
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Found:
    """Two intervals of one run: that of its row, and the one of as many independent events or values."""

    own: Estimate
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
        found = _native.simulate(json.dumps(given))
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
    return Kind(f"p{percent:g}", f"{words}, {trials:,} flows", known, find, values)


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
        return Found(Estimate(row["average_throughput_gbps"], *row["average_throughput_gbps_ci95"]))

    def known() -> float:
        seeds = range(_ELSEWHERE, _ELSEWHERE + LONGER)
        return float(np.mean([run.outcome(seed)[0]["average_throughput_gbps"] for seed in seeds]))

    words = ", ".join([protection, *(f"{key} {value}" for key, value in named.items())])
    return Kind("throughput", words, known, find)


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

    return Kind("rare", f"{protection}, {loss}, {looks:,} looks", lambda: truth, find)


def block_loss(data: int, parity: int, ratio: float) -> float:
    """Return the share of data that blocks leave lost: that of blocks which lose more than their parity."""
    lost = np.arange(parity + 1, data + parity + 1)
    return float((stats.binom.pmf(lost, data + parity, ratio) * lost).sum() / (data + parity))


def kinds() -> Iterator[Kind]:
    """All configurations, the cheapest of each sort first."""
    yield of_losses("none", "1e-5", 100_000, truth=1e-5)
    yield of_losses("none", "1e-3", 100_000, truth=1e-3)
    yield of_losses("none", "0.2", 20_000, truth=0.2)
    bursts = "gilbert-elliott:0.001,0.05"
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
    yield of_losses("lg:copies=2", "gilbert-elliott:0.0005,0.3", 50_000)
    yield of_losses("llr:replays=1", "2e-2", 50_000)
    yield of_losses("llr:replays=1", bursts, 50_000)
    for percent in (50, 99):
        yield of_percentile("tcp-fct", "none", percent, 1_000, loss="1e-2")
        yield of_percentile("tcp-fct", "none", percent, 1_000, loss=bursts)
        yield of_percentile("tcp-fct", "lg", percent, 1_000, loss=bursts)
        yield of_percentile("rdma-fct", "none", percent, 1_000, loss=bursts)
    for loss in ("1e-2", bursts):
        yield of_ratio(99, "none", "lg", 1_000, loss=loss)
    short = {"link__rate": "10Gbps", "run__duration": "60ms", "run__warmup": "20ms", "run__cooldown": "0s"}
    for protection, loss in (("none", "1e-3"), ("none", "1e-4"), ("lg", "1e-3")):
        yield of_throughput(
            protection, loss, **{key.replace(".", "__"): value for key, value in short.items()}
        )
    yield of_rule("rel=20%@95%", "none", "1e-3", 5_000, 1e-3)
    yield of_rule("rel=20%@95%", "none", bursts, 5_000, 0.001 / 0.051)
    yield of_rule("rel=20%@95%", "fec:5/5", "0.2", 5_000, block_loss(5, 5, 0.2))
    yield of_rare("lg-nb:copies=1", "1e-3", 2_000, 1e-6)
    yield of_rare("fec:25/5", "1e-3", 2_000, block_loss(25, 5, 1e-3))
    for percent in (50, 90, 99):
        yield of_percentile("workload", "none", percent, 2_000, "slowdown", loss="1e-3", workload__load="0.5")


def counted(
    kind: Kind, seeds: int, threads: int, report: Callable[[], None]
) -> tuple[float, int, int | None]:
    """Return the truth, and how many seeds cover it: with intervals of rows, and with independent ones."""
    truth = kind.truth()

    def one(seed: int) -> tuple[bool, bool | None]:
        found = kind.find(seed)
        report()
        independent = None if found.independent is None else found.independent.contains(truth)
        return found.own.contains(truth), independent

    with ThreadPoolExecutor(threads) as pool:
        covered = list(pool.map(one, range(1, seeds + 1)))
    independent = [other for _, other in covered if other is not None]
    return truth, sum(own for own, _ in covered), sum(independent) if independent else None


def main() -> None:
    """Count, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=SEEDS, help="seeds of each configuration")
    parser.add_argument("--only", default="", help="kinds or words of configurations, with commas between")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    wanted = [word for word in given.only.split(",") if word]
    chosen = [
        kind for kind in kinds() if not wanted or any(word in f"{kind.name} {kind.words}" for word in wanted)
    ]
    table = Table("row", "configuration", "truth", "seeds", "covered", "if independent")
    console = Console()
    with Progress(console=console, transient=True) as progress:
        for kind in chosen:
            task = progress.add_task(f"{kind.name} {kind.words}", total=given.seeds)
            truth, own, other = counted(kind, given.seeds, given.threads, lambda: progress.advance(task))  # noqa: B023
            interval = binomial_interval(own, given.seeds)
            share = f"{100 * own / given.seeds:.1f} % [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"
            less = "-" if other is None else f"{100 * other / given.seeds:.1f} %"
            table.add_row(kind.name, kind.words, f"{truth:.4g}", f"{given.seeds:,}", share, less)
            progress.remove_task(task)
            progress.console.print(f"{kind.name} {kind.words}: {truth:.4g} {share} ({less})", highlight=False)
    console.print(table)


if __name__ == "__main__":
    main()
