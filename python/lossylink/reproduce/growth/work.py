"""Who carries out more work of a place: blocks that are added to those that ran, or a longer run.

Both keep what they finish. A later call takes it from the disk and goes on from there.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Final, Protocol

from lossylink.declared.experiments import experiment_named
from lossylink.reproduce.framework.model import Job
from lossylink.reproduce.framework.points import PointStore
from lossylink.reproduce.framework.resuming import Resuming, scenario_of
from lossylink.reproduce.framework.runner import Report, Runner, simulate
from lossylink.reproduce.growth.amounts import amount_of, with_amount
from lossylink.running.run import Run
from lossylink.running.sweeping.pieces import Piece, put_together, run_piece
from lossylink.scenario.fingerprint import fingerprint
from lossylink.scenario.scenario import Scenario

FACTOR: Final = 2
"""From one look to the next the work grows by this factor, as in a sweep with ``--until``."""
SECONDS_OF_A_WRITTEN_TRIAL: Final = 0.7e-6
"""What it takes to write a trial down as text, to keep it and to read it back, on one core of 2020."""


@dataclass(frozen=True)
class Carried:
    """The run of an amount of work, and the seconds that all of its work took, whoever did it when."""

    run: Run
    amount: int
    seconds: float


class Work(Protocol):
    """Gives the run of a place with as much work as is asked for."""

    @property
    def identity(self) -> str:
        """A name for what decides the result beside the amount: works alike are one."""
        ...

    @property
    def published(self) -> int:
        """The amount of the published run, in whole blocks."""
        ...

    def kept(self, report: Report) -> Carried | None:
        """The longest run that earlier calls carried out beyond the published amount."""
        ...

    def missing(self, amount: float) -> float:
        """How much work has to be done for this amount."""
        ...

    def carry_out(self, amount: int, report: Report) -> Carried:
        """Run this amount; an interruption raises `KeyboardInterrupt`."""
        ...


class Anew:
    """Runs the whole amount each time, for work that cannot be added to."""

    def __init__(self, job: Job, runner: Runner, store: PointStore, *, seed: int, threads: int) -> None:
        self._job = job
        self._runner = Resuming(runner, store)
        self._store = store
        self._seed = seed
        self._threads = threads

    @property
    def identity(self) -> str:
        """Runs of another published amount are others: none begins as another one did."""
        return fingerprint(_scenario(self._job, self.published, self._seed), "")

    @property
    def published(self) -> int:
        """The amount of the published run."""
        return amount_of(self._job)

    def kept(self, report: Report) -> Carried | None:
        """The longest run of those that each had twice the work of the one before."""
        del report
        found, amount = None, FACTOR * self.published
        while (run := self._store.look(_scenario(self._job, amount, self._seed))) is not None:
            found, amount = Carried(run, amount, run.wall_seconds), FACTOR * amount
        return found

    def missing(self, amount: float) -> float:
        """All of it."""
        return amount

    def carry_out(self, amount: int, report: Report) -> Carried:
        """Run anew, longer."""
        job = with_amount(self._job, amount)
        return _carried(self._runner(job, seed=self._seed, threads=self._threads, report=report), amount)


class Blocks:
    """Adds blocks of flows to those that ran: the random streams of a block depend on the seed and its place.

    The run is that of a plain run with as many trials. Trials that are cheaper to simulate than to write down
    are simulated anew, and their number alone is kept.
    """

    def __init__(self, job: Job, store: PointStore, *, seed: int, threads: int, is_cheap: bool) -> None:
        self._job = job
        self._store = store
        self._seed = seed
        self._threads = threads
        self._is_cheap = is_cheap
        self._block = experiment_named(job.experiment).block_trials
        self._name = _scenario(job, self._block, seed)
        self._texts: list[str] = []
        self._blocks = 0
        self._seconds = 0.0

    @property
    def identity(self) -> str:
        """Blocks do not know how many follow."""
        return fingerprint(self._name, "")

    @property
    def published(self) -> int:
        """The amount of the published run, in whole blocks."""
        return -(-amount_of(self._job) // self._block) * self._block

    def kept(self, report: Report) -> Carried | None:
        """What the blocks give that are kept one after the other from the first on."""
        while (found := self._store.piece_from(self._name, self._blocks)) is not None:
            piece, text, seconds = found
            if not text:
                return self._simulated(piece.blocks * self._block, report)
            self._add(piece, text, seconds)
        amount = self._blocks * self._block
        return self._put_together(amount) if amount > self.published else None

    def missing(self, amount: float) -> float:
        """What the blocks lack that ran; all where they run anew."""
        return amount if self._is_cheap else amount - self._blocks * self._block

    def carry_out(self, amount: int, report: Report) -> Carried:
        """Run the blocks that are missing and put all together, or all of them where that is cheaper."""
        if self._is_cheap:
            carried = self._simulated(amount, report)
            self._store.keep_piece(self._name, Piece(0, amount // self._block), "", carried.seconds)
            return carried
        piece, started = Piece(self._blocks, amount // self._block - self._blocks), time.monotonic()
        scenario = _scenario(self._job, amount, self._seed)
        text = run_piece(scenario, piece, report, threads=self._threads)
        seconds = time.monotonic() - started
        self._store.keep_piece(self._name, piece, text, seconds)
        self._add(piece, text, seconds)
        return self._put_together(amount)

    def _add(self, piece: Piece, text: str, seconds: float) -> None:
        self._texts.append(text)
        self._blocks += piece.blocks
        self._seconds += seconds

    def _simulated(self, amount: int, report: Report) -> Carried:
        job = with_amount(self._job, amount)
        return _carried(simulate(job, seed=self._seed, threads=self._threads, report=report), amount)

    def _put_together(self, amount: int) -> Carried:
        carried = _carried(put_together(_scenario(self._job, amount, self._seed), self._texts), amount)
        return replace(carried, seconds=self._seconds)


def work_of(
    job: Job, protection: str, runner: Runner, store: PointStore, *, seed: int, threads: int
) -> tuple[Work, float]:
    """Who carries out more work of one protection of a job, and the seconds of its published amount.

    The simulator adds blocks where the experiment has them; any other runner begins anew.
    """
    one, own_seed = replace(job, protections=(protection,)), seed + job.seed_offset
    published = store.look(scenario_of(one, one.protections, own_seed))
    seconds = 0.0 if published is None else published.wall_seconds
    growth = experiment_named(job.experiment).growth
    in_blocks = growth is not None and growth.in_blocks and growth.key == job.grows
    if in_blocks and runner is simulate:
        is_cheap = seconds < SECONDS_OF_A_WRITTEN_TRIAL * amount_of(one)
        return Blocks(one, store, seed=own_seed, threads=threads, is_cheap=is_cheap), seconds
    return Anew(one, runner, store, seed=own_seed, threads=threads), seconds


def _scenario(job: Job, amount: int, seed: int) -> Scenario:
    return scenario_of(with_amount(job, amount), job.protections, seed)


def _carried(run: Run, amount: int) -> Carried:
    if run.interrupted:
        raise KeyboardInterrupt
    return Carried(run, amount, run.wall_seconds)
