"""A folder holds one result: another is refused, or takes its place with ``--replace``; other files stay."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs
from rich.console import Console

import lossylink
from lossylink import UserError
from lossylink._package.holding import holding_of
from lossylink.cli.exits import INTERRUPTED, MISTAKE
from lossylink.reproduce import ReproduceResult, reproduce
from lossylink.reproduce.framework.model import Job
from lossylink.reproduce.framework.runner import Report
from lossylink.results.directory import default_directory, staged
from lossylink.running.run import Run
from lossylink.running.sweeping import Sweep, shards

from .conftest import Ended
from .synthetic import synthetic_runner

Command = Callable[..., Ended]

SMALL = ("stress", "-p", "lg", "-s", "traffic.packets=1000")
RUN = ("run", *SMALL, "--output", "kept")
SWEEP = ("sweep", *SMALL, "-g", "loss=1e-3,1e-2", "--output", "kept")
OTHER = ("sweep", *SMALL, "-g", "loss=1e-4", "--output", "kept")
FIT = ("fit", "losses.trace", "-o", "kept")
MEND = "add --replace to take its place, or choose another --output"


def bytes_in(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def names(files: dict[str, bytes]) -> set[str]:
    """Names of files, of which those of shards are random."""
    return {"points/shard" if name.startswith("points/") else name for name in files}


@pytest.fixture
def results(tmp_path: Path) -> dict[str, tuple[str, ...]]:
    (tmp_path / "losses.trace").write_text("0" * 990 + "1" + "0" * 9)
    return {"run": RUN, "sweep": SWEEP, "measurement": FIT, "other": OTHER}


@pytest.mark.parametrize(
    ("first", "second", "holds"),
    [
        ("run", "run", "a run of stress with seed 1"),
        ("run", "sweep", "a run of stress with seed 1"),
        ("run", "measurement", "a run of stress with seed 1"),
        ("sweep", "run", "a sweep of stress over loss with 2 points"),
        ("sweep", "other", "a sweep of stress over loss with 2 points"),
        ("sweep", "measurement", "a sweep of stress over loss with 2 points"),
        ("measurement", "run", "a measurement of a link"),
        ("measurement", "sweep", "a measurement of a link"),
    ],
)
def test_another_result_is_refused_and_replaced(
    command: Command, tmp_path: Path, results: dict[str, tuple[str, ...]], first: str, second: str, holds: str
) -> None:
    folder = tmp_path / "kept"
    assert command(*results[first]).code == 0
    (folder / "notes.txt").write_text("mine")
    (folder / "mine").mkdir()
    (folder / "mine" / "too.txt").write_text("mine, too")
    before = bytes_in(folder)
    ended = command(*results[second])
    assert (ended.code, ended.err) == (MISTAKE, f"error: kept holds {holds}; {MEND}\n")
    assert bytes_in(folder) == before

    ended = command(*results[second], "--replace")
    assert ended.code == 0, ended.err
    taken = bytes_in(folder)
    assert taken.pop("notes.txt") == b"mine"
    assert taken.pop("mine/too.txt") == b"mine, too"
    assert command(*results[second][:-1], "alone").code == 0
    assert names(taken) == names(bytes_in(tmp_path / "alone")), (
        "something of the first is left, or is missing"
    )
    assert not list(tmp_path.glob(".*")), "a hidden folder was left"
    held = holding_of(folder)
    assert held is not None
    assert held.kind == {"other": "sweep"}.get(second, second)


def test_a_sweep_goes_on_in_its_own_folder(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    assert command(*SWEEP).code == 0
    assert "2 of 2 points, 2 resumed" in command(*SWEEP).out
    assert "3 of 3 points, 2 resumed" in command(*SWEEP[:-3], "loss=1e-3,1e-2,1e-1", *SWEEP[-2:]).out
    assert "2 of 2 points, 2 resumed" in command(*SWEEP, "--replace").out
    for module in ("points", "task", "running"):
        monkeypatch.setattr(f"lossylink.running.sweeping.{module}.code", lambda: "another code")
    assert "2 of 2 points, 0 resumed" in command(*SWEEP).out


def test_a_replaced_sweep_leaves_no_point(command: Command, tmp_path: Path) -> None:
    assert command(*SWEEP, "--trials").code == 0
    assert command(*OTHER, "--replace").code == 0
    loaded = lossylink.load(tmp_path / "kept")
    assert isinstance(loaded, Sweep)
    assert set(shards.read(tmp_path / "kept" / shards.FOLDER)) == set(loaded.names)
    assert len(loaded.runs()) == 1


def start(*words: str, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-u", "-m", "lossylink", *words]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=folder)


#: One point ends at once, and one takes longer than any test.
LONG_SWEEP = (
    *("sweep", "stress", "-p", "lg", "-g", "traffic.packets=1000,1_000_000_000_000"),
    *("--output", "kept", "--threads", "1"),
)


def test_a_sweep_that_was_killed_is_known_by_its_question(command: Command, tmp_path: Path) -> None:
    with start(*LONG_SWEEP, folder=tmp_path) as process:
        while not holding_of(tmp_path / "kept"):
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        process.kill()
    ended = command(*SWEEP)
    assert ended.err == f"error: kept holds a sweep that has not ended; {MEND}\n"


def test_a_result_that_fails_replaces_nothing(tmp_path: Path) -> None:
    run = lossylink.run("stress", protection="lg", settings={"traffic.packets": 1000})
    folder = run.save(tmp_path / "kept")
    (tmp_path / "kept" / "mine").write_text("mine")
    before = bytes_in(folder)

    def fail() -> None:
        with staged(folder, replace=True) as stage:
            (stage.folder / "summary.json").write_text("{}")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert bytes_in(folder) == before
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    with pytest.raises(UserError, match="holds a run of stress"):
        run.save(folder)
    assert run.save(folder, replace=True) == folder


def test_what_was_stopped_goes_beside(tmp_path: Path) -> None:
    run = lossylink.run("stress", protection="lg", settings={"traffic.packets": 1000})
    folder = run.save(tmp_path / "kept")
    before = bytes_in(folder)
    for name in ("kept-interrupted", "kept-interrupted-2"):
        with staged(folder, replace=True) as stage:
            (stage.folder / "summary.json").write_text("{}")
            stage.give_way()
        assert stage.target == tmp_path / name
        assert (tmp_path / name / "summary.json").read_text() == "{}"
    assert bytes_in(folder) == before


def test_another_result_that_came_meanwhile_is_left_alone(tmp_path: Path) -> None:
    run = lossylink.run("stress", protection="lg", settings={"traffic.packets": 1000})
    with staged(tmp_path / "kept") as stage:
        (stage.folder / "summary.json").write_text("{}")
        before = bytes_in(run.save(tmp_path / "kept"))
    assert stage.target == tmp_path / "kept-also"
    assert bytes_in(tmp_path / "kept") == before


def test_a_stopped_run_says_where_it_is(command: Command, tmp_path: Path) -> None:
    assert command(*RUN).code == 0
    before = bytes_in(tmp_path / "kept")
    words = ("run", "stress", "-p", "lg", "-s", "traffic.packets=1_000_000_000_000", "--output", "kept")
    with start(*words, "--replace", folder=tmp_path) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=120)
    assert process.returncode == INTERRUPTED, complaint
    assert bytes_in(tmp_path / "kept") == before
    assert "kept what had finished in kept-interrupted" in complaint or "nothing is kept" in complaint


def test_a_sweep_that_is_stopped_takes_no_place(command: Command, tmp_path: Path) -> None:
    assert command(*RUN).code == 0
    before = bytes_in(tmp_path / "kept")
    with start(*LONG_SWEEP, "--replace", "--csv", folder=tmp_path) as process:
        while not shards.read(tmp_path / "kept" / shards.FOLDER):
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=120)
    assert process.returncode == INTERRUPTED, complaint
    assert "which still holds a run of stress with seed 1; the same command goes on" in complaint
    after = bytes_in(tmp_path / "kept")
    assert {name: content for name, content in after.items() if not name.startswith("points/")} == before


def test_a_result_of_an_earlier_version_gives_way_too(command: Command, tmp_path: Path) -> None:
    assert command(*RUN, "--csv").code == 0
    path = tmp_path / "kept" / "manifest.json"
    told = json.loads(path.read_text())
    del told["files"]
    path.write_text(json.dumps(told))
    (tmp_path / "kept" / "mine.parquet").write_text("mine")
    assert command(*SWEEP, "--replace").code == 0
    files = bytes_in(tmp_path / "kept")
    assert files["mine.parquet"] == b"mine"
    assert "scenario.toml" not in files


def test_a_file_of_the_user_whose_name_is_needed_is_kept(command: Command, tmp_path: Path) -> None:
    assert command(*SWEEP).code == 0
    (tmp_path / "kept" / "scenario.toml").write_text("mine")
    assert command(*RUN, "--replace").code == 0
    files = bytes_in(tmp_path / "kept")
    assert files["scenario.toml.kept"] == b"mine"
    assert b"experiment" in files["scenario.toml"]


def test_a_sweep_overwrites_nothing_of_the_user(command: Command, tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "figure.svg").write_text("mine")
    ended = command(*SWEEP)
    assert ended.err == "error: kept/figure.svg is not of lossylink; choose another --output\n"


def test_a_manifest_names_no_file_elsewhere(command: Command, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    assert command(*RUN).code == 0
    path = tmp_path / "kept" / "manifest.json"
    told = json.loads(path.read_text())
    path.write_text(json.dumps(told | {"files": [*told["files"], "../precious", str(tmp_path / "precious")]}))
    assert command(*SWEEP, "--replace").code == 0
    assert (tmp_path / "precious").read_text() == "mine"


def test_two_runs_of_one_second_have_two_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(3):
        default_directory("stress", {}).mkdir(parents=True)
    assert len(list((tmp_path / "runs").iterdir())) == 3


def test_replace_needs_an_output(command: Command) -> None:
    ended = command("run", "stress", "--replace")
    assert (ended.code, ended.err.count("\n")) == (MISTAKE, 1)
    assert "add --output" in ended.err


def test_figures_of_other_results_are_refused_and_replaced(command: Command, tmp_path: Path) -> None:
    for name, loss in (("one", "1e-3"), ("two", "1e-2")):
        assert command(*RUN[:-1], name, "-s", f"loss={loss}").code == 0
    plot = ("plot", "--format", "csv", "-o", "drawn")
    assert command(*plot, "one", "--kind", "link-speed").code == 0
    assert command(*plot, "one", "--kind", "effective-loss").code == 0
    (tmp_path / "drawn" / "mine.csv").write_text("mine")
    before = bytes_in(tmp_path / "drawn")
    ended = command(*plot, "two", "--kind", "link-speed")
    assert ended.err.startswith("error: drawn holds figures of one; add --replace to take their place")
    assert (ended.code, bytes_in(tmp_path / "drawn")) == (MISTAKE, before)
    assert command(*plot, "two", "--kind", "link-speed", "--replace").code == 0
    assert set(bytes_in(tmp_path / "drawn")) == {"link-speed.csv", "mine.csv", ".figures.json"}
    ended = command("plot", "one", "-o", "two")
    assert "two holds a run of stress with seed 1, which is not drawn; choose another --output" in ended.err
    assert command("plot", "one", "-o", "one", "--format", "csv").code == 0


def test_a_page_of_other_results_is_refused_and_replaced(command: Command, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert command(*RUN[:-1], name).code == 0
    assert command("report", "one").code == 0
    assert command("report", "one").code == 0
    ended = command("report", "two")
    assert ended.err == f"error: report.html shows one; {MEND}\n"
    assert command("report", "one", "two", "--replace").code == 0
    assert command("report", "two", "one").code == 0
    (tmp_path / "mine.html").write_text("<html>mine</html>")
    ended = command("report", "one", "-o", "mine.html", "--replace")
    assert "mine.html is no report of this version of lossylink; choose another --output" in ended.err


REPRODUCE = ("reproduce", "--quick", "--only", "tcp-fct", "--output", "kept")


def test_a_reproduction_is_refused_a_folder_of_another_result_and_takes_it_with_replace(
    command: Command, tmp_path: Path
) -> None:
    folder = tmp_path / "kept"
    assert command(*RUN).code == 0
    (folder / "notes.txt").write_text("mine")
    before = bytes_in(folder)
    ended = command(*REPRODUCE)
    assert (ended.code, ended.out) == (MISTAKE, "")
    assert ended.err == f"error: kept holds a run of stress with seed 1; {MEND}\n"
    assert bytes_in(folder) == before

    ended = command(*REPRODUCE, "--replace")
    assert ended.code == 0, ended.err
    taken = bytes_in(folder)
    assert taken["notes.txt"] == b"mine"
    assert not before.keys() & taken.keys() - {"notes.txt", "manifest.json"}, "files of the run are left"
    assert {"reproduce.json", "report.html"} <= taken.keys()
    held = holding_of(folder)
    assert held is not None
    assert held.kind == "reproduction"
    assert folder / "notes.txt" not in {folder / name for name in held.files}


def test_a_reproduction_goes_on_in_its_own_folder_and_gives_way_to_a_run(
    command: Command, tmp_path: Path
) -> None:
    def reproduced() -> ReproduceResult:
        return reproduce(
            output=tmp_path / "kept",
            only=["tcp-fct"],
            runner=synthetic_runner,
            console=Console(file=io.StringIO()),
            progress=False,
            with_figures=False,
        )

    assert reproduced().resumed == 0
    assert reproduced().resumed > 0, "its own folder was refused"
    ended = command(*RUN)
    assert (ended.code, ended.err) == (MISTAKE, f"error: kept holds a reproduction; {MEND}\n")
    assert command(*RUN, "--replace").code == 0
    left = names(bytes_in(tmp_path / "kept"))
    assert command(*RUN[:-1], "alone").code == 0
    assert left == names(bytes_in(tmp_path / "alone"))


def test_a_reproduction_that_is_stopped_takes_no_place(command: Command, tmp_path: Path) -> None:
    def stopped(job: Job, *, seed: int, threads: int, report: Report) -> Run:
        run = synthetic_runner(job, seed=seed, threads=threads, report=report)
        return structs.replace(run, interrupted=True)

    assert command(*RUN).code == 0
    before = bytes_in(tmp_path / "kept")
    told = io.StringIO()
    result = reproduce(
        output=tmp_path / "kept",
        replace=True,
        only=["tcp-fct"],
        runner=stopped,
        console=Console(file=told),
        progress=False,
        with_figures=False,
    )
    assert result.interrupted
    assert "still holds a run of stress with seed 1." in " ".join(told.getvalue().split())
    after = bytes_in(tmp_path / "kept")
    assert {name: after[name] for name in before} == before
