"""More work inside a budget, through `reproduce`: what is run, kept and told, and what knows no clock."""

from __future__ import annotations

import io
import itertools
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

import lossylink
from lossylink.cli.reproduce import _budget_seconds
from lossylink.errors import UserError
from lossylink.reproduce import ReproduceResult, reproduce
from lossylink.reproduce.framework.model import Job, Outcome
from lossylink.reproduce.framework.points import PointStore
from lossylink.reproduce.framework.runner import Report, Runner, simulate
from lossylink.reproduce.growth.work import Blocks, Work, work_of
from lossylink.running.run import Run

from .synthetic import synthetic_runner

SECONDS_A_TRIAL = 1e-3
OPEN_ONE = "Without protection one flow in a thousand takes 2.3 to 4.3 ms"
"""Four flows in a thousand take 3.3 to 3.9 ms in the made-up runs: it needs some thousand flows."""
LEAST = "The quickest flow takes two round trips and its serialisation, about 62 us"


def nothing(_done: float, _total: float) -> None:
    """Hear no progress."""


class MadeUp:
    """A made-up simulator and its clock; each trial takes as long as any other."""

    def __init__(self) -> None:
        self.now = 0.0
        self.ran: list[tuple[str, str, int]] = []
        self.stop_beyond = 10**9

    def clock(self) -> float:
        return self.now

    def __call__(self, job: Job, *, seed: int, threads: int, report: Report) -> Run:
        trials = int(job.settings["flow.trials"])
        if trials > self.stop_beyond:
            raise KeyboardInterrupt
        self.now += SECONDS_A_TRIAL * trials * len(job.protections)
        self.ran += [(job.key, protection, trials) for protection in job.protections]
        return synthetic_runner(job, seed=seed, threads=threads, report=report)


def call(
    output: Path, simulator: MadeUp, budget_seconds: float, *, quick: bool = True
) -> tuple[ReproduceResult, str]:
    console = Console(file=io.StringIO(), width=200, color_system=None)
    result = reproduce(
        output=output,
        only=["tcp-fct"],
        quick=quick,
        runner=simulator,
        console=console,
        progress=False,
        with_figures=False,
        command=["lossylink"],
        budget_seconds=budget_seconds,
        clock=simulator.clock,
    )
    assert isinstance(console.file, io.StringIO)
    return result, console.file.getvalue()


def outcomes(result: ReproduceResult) -> dict[str, Outcome]:
    return {one.claim.text: one.judgement.outcome for one in result.verdicts}


def test_without_a_budget_the_published_amounts_decide_alone(tmp_path: Path) -> None:
    simulator = MadeUp()
    result, text = call(tmp_path, simulator, 0.0)
    assert outcomes(result)[OPEN_ONE] is Outcome.UNDECIDED
    assert {trials for _, _, trials in simulator.ran} == {250}
    assert "no budget was given for more. Every verdict depends on the seed alone." in text
    (price,) = (one.price for one in result.verdicts if one.claim.text == OPEN_ONE)
    assert price is not None
    assert price.budget
    assert f"{OPEN_ONE}: {price.text}" in text


def test_a_budget_decides_what_is_open_and_says_with_how_many_trials(tmp_path: Path) -> None:
    simulator = MadeUp()
    result, text = call(tmp_path, simulator, 1e6)
    assert outcomes(result)[OPEN_ONE] is Outcome.HOLDS
    assert Outcome.UNDECIDED not in outcomes(result).values()
    (verdict,) = (one for one in result.verdicts if one.claim.text == OPEN_ONE)
    assert verdict.before is not None
    assert verdict.before.outcome is Outcome.UNDECIDED
    (grown,) = verdict.grown
    assert grown.amount > grown.published == 250
    assert f"{grown.amount:,} trials, 99.5 % interval" in verdict.judgement.reason
    assert f"--protection none --set flow.trials={grown.amount} --seed 1" in grown.command
    assert "(was: too few trials to tell)" in text
    told = json.loads((tmp_path / "reproduce.json").read_text(encoding="utf-8"))
    (said,) = (one for one in told["experiments"][0]["verdicts"] if one["claim"] == OPEN_ONE)
    assert said["before"] == "too few trials to tell"
    assert said["grown"] == {"loss 1e-3, none": grown.amount}
    assert {one["amount"] for one in told["experiments"][0]["grown"]} >= {grown.amount}
    assert told["growth"]["budget_seconds"] == 1e6
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"flow.trials={grown.amount}" in report
    assert "of a budget of" in report


def test_tables_and_claims_of_the_published_amount_know_no_budget(tmp_path: Path) -> None:
    plain, _ = call(tmp_path / "plain", MadeUp(), 0.0)
    grown, _ = call(tmp_path / "grown", MadeUp(), 1e6)
    assert [one.tables for one in plain.experiments] == [one.tables for one in grown.experiments]
    assert [one.charts for one in plain.experiments] == [one.charts for one in grown.experiments]
    figures = [
        next(one.judgement for one in result.verdicts if one.claim.text == LEAST) for result in (plain, grown)
    ]
    assert figures[0] == figures[1]


def test_a_second_call_with_a_larger_budget_goes_on(tmp_path: Path) -> None:
    first = MadeUp()
    few, _ = call(tmp_path, first, 5.0)
    assert first.now <= 5.0
    assert few.grown
    second = MadeUp()
    many, _ = call(tmp_path, second, 1e6)
    assert outcomes(many)[OPEN_ONE] is Outcome.HOLDS
    assert not set(first.ran) & set(second.ran)
    alone, _ = call(tmp_path / "alone", MadeUp(), 1e6)
    # Whether in one call or in two: as many trials give as much.
    assert {(one.job, one.protection): one.amount for one in many.grown} == {
        (one.job, one.protection): one.amount for one in alone.grown
    }
    assert [one.judgement for one in many.verdicts] == [one.judgement for one in alone.verdicts]


def test_ctrl_c_while_samples_grow_keeps_what_is_done(tmp_path: Path) -> None:
    stopped = MadeUp()
    stopped.stop_beyond = 1000
    result, text = call(tmp_path, stopped, 1e6)
    assert result.interrupted
    assert "Interrupted" in text
    assert max(trials for _, _, trials in stopped.ran) == 1000
    assert max(one.amount for one in result.grown) == 1000
    rest = MadeUp()
    result, _ = call(tmp_path, rest, 1e6)
    assert not result.interrupted
    assert not set(stopped.ran) & set(rest.ran)


TRIALS = 300
TINY = Job("a", "tcp-fct", ("none", "lg"), {"flow.trials": TRIALS, "flow.size": "143B"}, grows="flow.trials")


def blocks(folder: Path, *, is_cheap: bool, seed: int = 3) -> Blocks:
    job = replace(TINY, protections=("none",))
    return Blocks(job, PointStore(folder), seed=seed, threads=2, is_cheap=is_cheap)


def alike(run: Run, trials: int, seed: int = 3) -> bool:
    """Whether a run is that of a plain call with as many trials, to the last bit."""
    plain = lossylink.run(
        "tcp-fct", protection="none", settings={"flow.trials": trials, "flow.size": "143B"}, seed=seed
    )
    return run.rows.equals(plain.rows) and run.tables["trials"].equals(plain.tables["trials"])


@pytest.mark.parametrize("is_cheap", [False, True], ids=["blocks", "anew"])
def test_a_grown_sample_is_a_plain_run_with_as_many_trials(tmp_path: Path, is_cheap: bool) -> None:
    work = blocks(tmp_path, is_cheap=is_cheap)
    for amount in (2 * TRIALS, 4 * TRIALS):
        carried = work.carry_out(amount, nothing)
        assert carried.amount == amount
        assert alike(carried.run, amount)


@pytest.mark.parametrize("is_cheap", [False, True], ids=["blocks", "anew"])
def test_another_call_takes_up_what_is_kept(
    tmp_path: Path, is_cheap: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = blocks(tmp_path, is_cheap=is_cheap)
    assert first.kept(nothing) is None
    for amount in (2 * TRIALS, 4 * TRIALS):
        first.carry_out(amount, nothing)
    second = blocks(tmp_path, is_cheap=is_cheap)
    carried = second.kept(nothing)
    assert carried is not None
    assert carried.amount == 4 * TRIALS
    assert alike(carried.run, 4 * TRIALS)
    assert second.missing(8 * TRIALS) == (8 * TRIALS if is_cheap else 4 * TRIALS)
    assert alike(second.carry_out(8 * TRIALS, nothing).run, 8 * TRIALS)


def test_a_damaged_piece_and_a_fresh_call_begin_before_it(tmp_path: Path) -> None:
    work = blocks(tmp_path, is_cheap=False)
    for amount in (2 * TRIALS, 4 * TRIALS):
        work.carry_out(amount, nothing)
    fresh = Blocks(
        replace(TINY, protections=("none",)),
        PointStore(tmp_path, fresh=True),
        seed=3,
        threads=2,
        is_cheap=False,
    )
    assert fresh.kept(nothing) is None
    assert blocks(tmp_path, is_cheap=False, seed=4).kept(nothing) is None
    (second,) = tmp_path.glob(f"*+{2 * TRIALS // 100}-*.zip")
    second.write_bytes(second.read_bytes()[:100])
    carried = blocks(tmp_path, is_cheap=False).kept(nothing)
    assert carried is not None
    assert carried.amount == 2 * TRIALS


def test_a_piece_of_a_block_is_filled_up_before_it_grows(tmp_path: Path) -> None:
    job = replace(TINY, protections=("none",), settings={**TINY.settings, "flow.trials": 250})
    work = Blocks(job, PointStore(tmp_path), seed=3, threads=2, is_cheap=False)
    assert work.published == 300


def of_job(job: Job, folder: Path, runner: Runner = simulate) -> Work:
    work, _ = work_of(job, job.protections[0], runner, PointStore(folder), seed=1, threads=1)
    return work


def test_works_alike_are_one_whatever_their_published_amount(tmp_path: Path) -> None:
    more = replace(TINY, key="b", settings={**TINY.settings, "flow.trials": 8 * TRIALS})
    other = replace(TINY, settings={**TINY.settings, "loss.forward": "0%"})
    assert of_job(TINY, tmp_path).identity == of_job(more, tmp_path).identity
    assert of_job(TINY, tmp_path).identity != of_job(other, tmp_path).identity
    assert of_job(TINY, tmp_path).identity != of_job(replace(TINY, seed_offset=1), tmp_path).identity
    workload = Job("c", "workload", ("lg",), {"flow.trials": 4000}, grows="flow.trials")
    longer = replace(workload, settings={"flow.trials": 8000})
    assert of_job(workload, tmp_path).identity != of_job(longer, tmp_path).identity


def test_a_budget_is_read_in_minutes_and_in_the_units_of_times() -> None:
    texts = ["30m", "90s", "2h", "1.5 min", "0"]
    assert [_budget_seconds(text, quick=False) for text in texts] == [1800, 90, 7200, 90, 0]
    assert _budget_seconds(None, quick=False) == 180
    assert _budget_seconds(None, quick=True) == 0
    with pytest.raises(UserError, match="--budget: '5' has no unit"):
        _budget_seconds("5", quick=False)


def test_experiments_share_a_sample_and_see_all_that_it_has(tmp_path: Path) -> None:
    """The protected flows of the ablation are those of the completion times; a clock ticks at each look."""
    ticks = itertools.count()
    result = reproduce(
        output=tmp_path,
        only=["tcp-fct", "ablation"],
        quick=True,
        progress=False,
        with_figures=False,
        console=Console(file=io.StringIO()),
        command=["lossylink"],
        budget_seconds=400.0,
        clock=lambda: float(next(ticks)),
    )
    place = ("loss 1e-3", "lg")
    amounts = [
        {(one.job, one.protection): one.amount for one in experiment.grown}
        for experiment in result.experiments
    ]
    assert all(place in one for one in amounts)
    assert amounts[0][place] == amounts[1][place]
    assert len({one.command for one in result.grown}) == len(result.grown)
