"""Finished points outlive Ctrl-C, a crash and a full disk, and are not run again."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs
from rich.console import Console

from lossylink.reproduce import ReproduceResult, reproduce
from lossylink.reproduce.framework import points
from lossylink.reproduce.framework.model import Job
from lossylink.reproduce.framework.resuming import Resuming
from lossylink.reproduce.framework.runner import Report, simulate
from lossylink.reproduce.reproduction.orchestrate import POINTS_NAME
from lossylink.running.run import Run

from .synthetic import synthetic_runner

INTERRUPTED_CALL = """
import sys
from dataclasses import replace
from pathlib import Path
from lossylink.reproduce import reproduce
from lossylink.reproduce.framework.runner import simulate

def told(job, *, seed, threads, report):
    (protection,) = job.protections
    with Path("log").open("a") as log:
        log.write(f"{job.key}, {protection}\\n")
    endless = sys.argv[1] == "first" and protection == "lg-nb"
    if endless:
        job = replace(job, settings={**job.settings, "flow.trials": 100_000_000})

    def first_report(done, total):
        if endless and total > 1e6 and not said:
            said.append(True)
            print("ready", flush=True)
        report(done, total)

    said = []
    return simulate(job, seed=seed, threads=threads, report=first_report)

result = reproduce(output=Path("report"), only=["tcp-fct"], quick=True, progress=False, with_figures=False,
                   runner=told)
sys.exit(3 if result.interrupted else 0)
"""
"""A real call whose third point does not end by itself the first time."""


def call(
    output: Path,
    *,
    runner: Callable[..., Run] = synthetic_runner,
    only: tuple[str, ...] = ("tcp-fct",),
    fresh: bool = False,
    seed: int = 1,
) -> ReproduceResult:
    return reproduce(
        output=output,
        only=only,
        runner=runner,
        fresh=fresh,
        seed=seed,
        console=Console(file=io.StringIO()),
        progress=False,
        with_figures=False,
        command=["lossylink"],
    )


class Counting:
    """A made-up simulator that remembers which points it ran, and can be stopped in one."""

    def __init__(self, *, stop_in: str = "") -> None:
        self.points: list[str] = []
        self._stop_in = stop_in

    def __call__(self, job: Job, *, seed: int, threads: int, report: Report) -> Run:
        name = f"{job.key}, {'+'.join(job.protections)}"
        if name == self._stop_in:
            raise KeyboardInterrupt
        self.points.append(name)
        return synthetic_runner(job, seed=seed, threads=threads, report=report)


def test_a_real_ctrl_c_keeps_the_points_before_it(tmp_path: Path) -> None:
    def said_by(which: str, *, interrupted: bool = False) -> tuple[str, int]:
        command = [sys.executable, "-c", INTERRUPTED_CALL, which]
        with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
            try:
                if interrupted:
                    assert process.stdout is not None
                    assert "ready" in process.stdout.readline()
                    process.send_signal(signal.SIGINT)
                words, _ = process.communicate(timeout=60)
            finally:
                process.kill()
        return " ".join(words.split()), process.returncode

    said, code = said_by("first", interrupted=True)
    assert (code, "the same call goes on from here" in said) == (3, True)
    said, code = said_by("second")
    assert (code, "2 points are from an earlier call" in said) == (0, True)
    ran = (tmp_path / "log").read_text(encoding="utf-8").splitlines()
    # The interrupted point is the only one that ran twice.
    assert ran[:3] == ["loss 1e-3, none", "loss 1e-3, lg", "loss 1e-3, lg-nb"]
    assert ran[3] == "loss 1e-3, lg-nb"
    assert len(ran[3:]) == len(set(ran[3:]))
    assert not {"loss 1e-3, none", "loss 1e-3, lg"} & set(ran[3:])


def test_what_is_resumed_equals_what_was_run(tmp_path: Path) -> None:
    job = Job("short", "tcp-fct", ("none", "lg"), {"flow.trials": 40})
    runs = []
    for _ in range(2):
        store = points.PointStore(tmp_path)
        runs.append(Resuming(simulate, store)(job, seed=5, threads=1, report=lambda _done, _total: None))
    first, second = runs
    assert store.resumed == 2
    assert second.rows.drop("checks").equals(first.rows.drop("checks"))
    assert second.rows["checks"].to_list() == first.rows["checks"].to_list()
    assert second.tables["trials"].equals(first.tables["trials"])
    assert (second.scenario, second.seed) == (first.scenario, first.seed)


def test_an_interrupted_call_goes_on_with_what_is_missing(tmp_path: Path) -> None:
    stopped = Counting(stop_in="loss 1e-3, lg")
    assert call(tmp_path, runner=stopped).interrupted
    assert stopped.points == ["loss 1e-3, none"]
    rest = Counting()
    result = call(tmp_path, runner=rest)
    assert (result.interrupted, result.resumed) == (False, 1)
    assert "loss 1e-3, none" not in rest.points
    again = Counting()
    assert call(tmp_path, runner=again).exit_code() == 0
    assert again.points == []


def test_protections_that_share_the_threads_run_together(tmp_path: Path) -> None:
    whole = Counting()
    call(tmp_path, runner=whole, only=("stress",))
    assert all("+" in point for point in whole.points)


@pytest.mark.parametrize("kept", [0, 10, 1000])
def test_a_half_written_point_is_run_again(tmp_path: Path, kept: int) -> None:
    call(tmp_path)
    victim = min((tmp_path / POINTS_NAME).glob("*.zip"))
    victim.write_bytes(victim.read_bytes()[:kept])
    rest = Counting()
    call(tmp_path, runner=rest)
    assert len(rest.points) == 1
    again = Counting()
    call(tmp_path, runner=again)
    assert again.points == []


def test_a_foreign_archive_is_no_point(tmp_path: Path) -> None:
    call(tmp_path)
    victim = min((tmp_path / POINTS_NAME).glob("*.zip"))
    with zipfile.ZipFile(victim, "w") as archive:
        archive.writestr("summary.json", "[1, 2]")
    rest = Counting()
    call(tmp_path, runner=rest)
    assert len(rest.points) == 1


def test_a_point_under_another_points_name_is_run_again(tmp_path: Path) -> None:
    call(tmp_path)
    victim, other = sorted((tmp_path / POINTS_NAME).glob("*.zip"))[:2]
    victim.write_bytes(other.read_bytes())
    rest = Counting()
    call(tmp_path, runner=rest)
    assert len(rest.points) == 1


def test_a_seed_a_build_and_fresh_start_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Counting()
    call(tmp_path, runner=first)
    for change in ("seed", "fresh", "build"):
        runner = Counting()
        if change == "build":
            monkeypatch.setattr(points, "code", lambda: "another")
        call(tmp_path, runner=runner, seed=2 if change == "seed" else 1, fresh=change == "fresh")
        assert runner.points == first.points, change


def test_rows_of_other_types_are_joined(tmp_path: Path) -> None:
    def with_nulls(job: Job, *, seed: int, threads: int, report: Report) -> Run:
        run = synthetic_runner(job, seed=seed, threads=threads, report=report)
        value = None if job.protections == ("none",) else 1.5
        return structs.replace(run, records=[{**row, "extra": value} for row in run.records])

    call(tmp_path, runner=with_nulls)
    result = call(tmp_path, runner=Counting())
    rows = result.experiments[0].finished.run("loss 1e-3").rows
    assert rows["extra"].to_list()[:2] == [None, 1.5]
