"""Executors: the rows are the same whoever ran what, and dead workers lose nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from lossylink import UserError, sweep
from lossylink.errors import RunError
from lossylink.reproduce import reproduce
from lossylink.running.sweeping import Sweep, shards
from lossylink.running.sweeping.driving import ATTEMPTS
from lossylink.running.sweeping.executors import Asked, open_workers
from lossylink.running.sweeping.task import Done, Task

from .conftest import Ended

Command = Callable[..., Ended]

#: Of the rows, nothing may depend on who ran a point; the same for tables.
SAME = ("rows.parquet", "summary.json", "trials.parquet")
GRID: dict[str, list[Any]] = {
    "loss": ["1e-3", "1e-2"],
    "protection": ["none", "lg", "fec:25/5"],
    "seed": [1, 2, 3, 4],
}
WORDS = (
    "-g",
    "loss=1e-3,1e-2",
    "-g",
    "protection=none,lg,fec:25/5",
    "-g",
    "seed=1..4",
    "-s",
    "flow.trials=100",
)


def swept(folder: Path, **words: Any) -> Sweep:
    return sweep("tcp-fct", grid=GRID, settings={"flow.trials": 100}, output=folder, trials=True, **words)


@pytest.fixture(scope="module")
def serial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of a sweep that ran point by point."""
    folder = tmp_path_factory.mktemp("serial")
    sweep(
        "tcp-fct",
        grid={key: [str(value) for value in values] for key, values in GRID.items()},
        settings={"flow.trials": "100"},
        output=folder,
        trials=True,
        threads=1,
    )
    return folder


def assert_same(one: Path, other: Path) -> None:
    for name in SAME:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name
    assert json.loads((one / "summary.json").read_text())["finished"] == 24


def test_threads_and_order_do_not_matter(serial: Path, command: Command, tmp_path: Path) -> None:
    ended = command("sweep", "tcp-fct", *WORDS, "--trials", "--threads", "3", "--output", "kept")
    assert ended.code == 0, ended.err
    assert "figure: kept/figure.svg" in ended.out
    assert (tmp_path / "kept" / "figure.svg").read_text().startswith("<?xml")
    assert_same(serial, tmp_path / "kept")


def test_any_executor_will_do_and_stays_open(tmp_path: Path) -> None:
    swept(tmp_path / "serial", threads=1)
    with ThreadPoolExecutor(2) as executor:
        swept(tmp_path / "threads", executor=executor)
        assert executor.submit(abs, -3).result() == 3
    # Spawned, as on another machine: nothing but the task crosses.
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        swept(tmp_path / "processes", executor=processes)
    for other in ("threads", "processes"):
        assert_same(tmp_path / "serial", tmp_path / other)


class Deadly(Executor):
    """An executor some of whose workers die: before they begin, or after they have written."""

    def __init__(self, dies: Callable[[Task, int], str]) -> None:
        self.dies = dies
        self.attempts: list[Task] = []

    def submit(self, fn: Callable[..., Any], /, *arguments: Any, **_: Any) -> Future[Any]:
        (task,) = arguments
        self.attempts.append(task)
        attempt = sum(one.prefix == task.prefix for one in self.attempts)
        how, future = self.dies(task, attempt), Future[Any]()
        result = None if how == "before" else fn(task)
        if how:
            future.set_exception(ConnectionError(f"the worker is gone, {how}"))
        else:
            future.set_result(result)
        return future


def test_tasks_of_dead_workers_are_done_by_others(tmp_path: Path) -> None:
    swept(tmp_path / "serial", threads=1)
    deadly = Deadly(lambda task, attempt: ("before", "after", "")[min(attempt, len(task.points) + 1) - 1])
    result = swept(tmp_path / "kept", executor=deadly, threads=1)
    assert result.finished == 24
    assert_same(tmp_path / "serial", tmp_path / "kept")


def test_what_a_dead_worker_wrote_is_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lossylink.running.runner import run_scenario as honest

    ran: list[int] = []

    def counted(scenario: Any, **words: Any) -> Any:
        ran.append(scenario.seed)
        return honest(scenario, **words)

    monkeypatch.setattr("lossylink.running.sweeping.task.run_scenario", counted)
    deadly = Deadly(lambda _task, attempt: "after" if attempt == 1 else "")
    sweep(
        "stress",
        grid={"seed": list(range(50))},
        protection="none",
        settings={"traffic.packets": 100},
        output=tmp_path,
        executor=deadly,
        threads=1,
    )
    assert sorted(ran) == list(range(50))


def test_a_point_that_kills_its_workers_fails_alone(tmp_path: Path) -> None:
    def dies(task: Task, _attempt: int) -> str:
        return "before" if any(scenario.seed == 13 for _, scenario in task.points) else ""

    def go(folder: Path, keep_going: bool) -> tuple[Sweep, Deadly]:
        deadly = Deadly(dies)
        result = sweep(
            "stress",
            grid={"seed": list(range(50))},
            protection="none",
            settings={"traffic.packets": 100},
            output=folder,
            executor=deadly,
            threads=1,
            keep_going=keep_going,
        )
        return result, deadly

    result, deadly = go(tmp_path / "a", True)
    assert (result.finished, list(result.failed)) == (49, [result.names[13]])
    assert "its worker died 3 times; the last one: ConnectionError" in result.failed[result.names[13]]
    alone = [task for task in deadly.attempts if [scenario.seed for _, scenario in task.points] == [13]]
    assert len(alone) == ATTEMPTS
    with pytest.raises(RunError, match="the point seed=13 failed: its worker died"):
        go(tmp_path / "b", False)


def test_a_pool_that_is_broken_keeps_what_it_had(tmp_path: Path) -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        pid = pool.submit(os.getpid).result()

        def kill_at_the_first(_experiment: str, rows: Any) -> None:
            if rows:
                os.kill(pid, signal.SIGKILL)

        with pytest.raises(
            RunError, match="the executor takes no more tasks .Broken.*what had ended is kept"
        ):
            swept(tmp_path, executor=pool, watch=kill_at_the_first, threads=1)
    kept = len(shards.read(tmp_path / "points"))
    assert kept >= 1
    assert swept(tmp_path).resumed == kept


def test_a_worker_with_other_code_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lossylink.running.sweeping.task.code", lambda: "0.1.0+other")
    with pytest.raises(UserError, match="runs other code than this call; install the same lossylink"):
        swept(tmp_path)
    assert shards.read(tmp_path / "points") == {}


def test_workers_on_another_file_system_are_found_out(tmp_path: Path) -> None:
    class Elsewhere(Executor):
        def submit(self, fn: Callable[..., Any], /, *arguments: Any, **_: Any) -> Future[Any]:
            future: Future[Any] = Future()
            done = fn(*arguments)
            for path in done.paths:
                Path(path).unlink()
            future.set_result(done)
            return future

    with pytest.raises(
        UserError, match="workers finished 24 points that are not in .*that all machines have"
    ):
        swept(tmp_path, executor=Elsewhere())


def test_a_shard_that_is_listed_late_is_read_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards, "paths", lambda folder, prefix="": [])
    assert swept(tmp_path).finished == 24


def test_an_executor_that_cannot_take_tasks_is_a_mistake(tmp_path: Path) -> None:
    class Refusing(Executor):
        def submit(self, fn: Callable[..., Any], /, *_: Any, **__: Any) -> Future[Any]:
            future: Future[Any] = Future()
            future.set_exception(ModuleNotFoundError("No module named 'lossylink'"))
            return future

    with pytest.raises(UserError, match="the workers cannot do tasks of lossylink"):
        swept(tmp_path, executor=Refusing())


@pytest.mark.parametrize("name", ["dask", "slurm"])
def test_a_missing_library_is_one_line(command: Command, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setitem(sys.modules, {"dask": "distributed", "slurm": "submitit"}[name], None)
    ended = command("sweep", "stress", "-g", "seed=1", "--executor", name, "--output", "kept")
    assert ended.code == 2
    library = {"dask": "distributed", "slurm": "submitit"}[name]
    assert ended.err == f"error: --executor {name} needs {library}; pip install 'lossylink[{name}]'\n"


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # logs that submitit leaves open
@pytest.mark.parametrize("cluster", ["debug", "local"])
def test_slurm_submits_arrays(serial: Path, command: Command, tmp_path: Path, cluster: str) -> None:
    """Debug does jobs in this process, local in others: the rest is what SLURM gets."""
    words = ("--executor", "slurm", "--slurm", f"cluster={cluster}", "--slurm", "slurm_array_parallelism=1")
    ended = command("sweep", "tcp-fct", *WORDS, "--trials", *words, "--output", "kept", "--json")
    assert ended.code == 0, ended.err
    assert_same(serial, tmp_path / "kept")
    assert (tmp_path / "kept" / "slurm").is_dir()


def test_slurm_gets_its_parameters(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Against a SLURM whose commands write down what they are asked for."""
    commands = tmp_path / "bin"
    commands.mkdir()
    for name in ("srun", "sbatch", "scancel", "sacct"):
        text = (
            f'#!/bin/sh\necho "$@" >> {tmp_path}/{name}\n[ {name} = sbatch ] && cp "$1" {tmp_path}/script\n'
        )
        (commands / name).write_text(text + "echo Submitted batch job 7\n")
        (commands / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{commands}:{os.environ['PATH']}")
    asked = Asked(
        threads=1,
        slurm={"slurm_partition": "short", "timeout_min": "30", "slurm_array_parallelism": "5"},
        folder=tmp_path / "sweep",
    )
    tasks = [Task(points=(), folder=tmp_path, code=str(number)) for number in range(3)]
    with open_workers("slurm", asked) as workers:
        assert workers.count == 5
        futures = workers.submit(tasks)
    assert len(futures) == 3
    script = (tmp_path / "script").read_text()
    for line in (
        "--partition=short",
        "--time=30",
        "--array=0-2%3",
        "--cpus-per-task=1",
        "--job-name=lossylink-sweep",
    ):
        assert f"#SBATCH {line}\n" in script
    assert (tmp_path / "scancel").read_text().split() == ["7_0", "7_1", "7_2"]


@contextmanager
def dask_cluster(workers: int) -> Iterator[Any]:
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        silence_logs=50,
    ) as cluster:
        yield cluster


def test_dask_starts_workers_of_its_own(serial: Path, command: Command, tmp_path: Path) -> None:
    ended = command(
        "sweep", "tcp-fct", *WORDS, "--trials", "--executor", "dask", "--threads", "2", "--output", "kept"
    )
    assert ended.code == 0, ended.err
    assert_same(serial, tmp_path / "kept")


def test_workers_of_dask_may_be_killed(command: Command, tmp_path: Path) -> None:
    words = ("sweep", "stress", "-p", "lg", "-g", "seed=1..60", "-s", "traffic.packets=400k")
    assert command(*words, "--output", "serial", "--threads", "1", "--json").code == 0
    with dask_cluster(2) as cluster:
        ended = threading.Event()

        def kill() -> None:
            while not ended.is_set() and not shards.read(tmp_path / "kept" / "points"):
                time.sleep(0.02)
            for nanny in list(cluster.workers.values()):
                os.kill(nanny.pid, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        done = command(
            *words,
            "--executor",
            "dask",
            "--scheduler",
            cluster.scheduler_address,
            "--output",
            "kept",
            "--json",
        )
        ended.set()
        killer.join()
    assert done.code == 0, done.err
    for name in ("rows.parquet", "summary.json"):
        assert (tmp_path / "serial" / name).read_bytes() == (tmp_path / "kept" / name).read_bytes()


def test_ctrl_c_on_a_terminal_reaches_the_workers_of_dask_too(tmp_path: Path) -> None:
    """They leave it to the client, and print nothing."""
    words = [sys.executable, "-m", "lossylink", "sweep", "stress", "-p", "lg", "-g", "seed=1..2000"]
    words += ["-s", "traffic.packets=400k", "--executor", "dask", "--threads", "2", "--output", str(tmp_path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as process:
        while len(shards.read(tmp_path / "points")) < 2:
            assert process.poll() is None, process.communicate()
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGINT)
        _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in complaint
    assert f"interrupted: kept {len(shards.read(tmp_path / 'points'))} of 2000 points" in complaint


def test_a_killed_client_loses_nothing_that_workers_of_dask_wrote(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "lossylink", "sweep", "stress", "-p", "lg", "-g", "seed=1..40"]
    words += ["-s", "traffic.packets=200k", "--executor", "dask", "--output", str(tmp_path), "--scheduler"]
    with dask_cluster(1) as cluster:
        words.append(cluster.scheduler_address)
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            while len(shards.read(tmp_path / "points")) < 2:
                assert process.poll() is None
                time.sleep(0.02)
            process.kill()
        kept = len(shards.read(tmp_path / "points"))
        again = subprocess.run(words, capture_output=True, text=True, check=True)
    resumed = int(again.stdout.split(" of 40 points, ")[1].split()[0])
    assert 2 <= kept <= resumed


def test_a_scheduler_that_does_not_answer_is_one_line(command: Command) -> None:
    ended = command("sweep", "stress", "-g", "seed=1", "--executor", "dask", "--scheduler", "nonsense://x")
    assert ended.code == 2
    assert ended.err.startswith("error: --scheduler: no Dask scheduler answers at nonsense://x")


def test_a_reproduction_is_the_same_by_an_executor(tmp_path: Path) -> None:
    """Rows and verdicts; what the clock says differs."""

    def figures(folder: Path, executor: str | None) -> Any:
        result = reproduce(
            output=folder,
            only=["tcp-fct", "stress"],
            quick=True,
            progress=False,
            with_figures=False,
            executor=executor,
            threads=2,
            command=["lossylink"],
        )
        assert not result.interrupted
        assert result.resumed == 0
        assert not list(folder.glob("shards/*"))
        summary = json.loads((folder / "reproduce.json").read_text())
        return [
            {key: value for key, value in one.items() if "seconds" not in key}
            for one in summary["experiments"]
        ]

    plain = figures(tmp_path / "plain", None)
    for executor in ("local", "dask"):
        assert without_clock(figures(tmp_path / executor, executor)) == without_clock(plain)


def test_a_reproduction_by_an_executor_is_interrupted_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lossylink.running.runner import run_scenario as honest

    def call(stops: bool) -> Any:
        ran: list[Any] = []

        def run(scenario: Any, **words: Any) -> Any:
            ran.append(scenario)
            if stops and len(ran) == 2:
                raise KeyboardInterrupt
            return honest(scenario, **words)

        monkeypatch.setattr("lossylink.running.sweeping.task.run_scenario", run)
        return reproduce(
            output=tmp_path,
            only=["stress"],
            quick=True,
            progress=False,
            with_figures=False,
            executor="local",
            threads=1,
            command=["lossylink"],
        )

    first = call(stops=True)
    assert first.interrupted
    kept = len(list((tmp_path / "points").glob("*.zip")))
    assert kept >= 1
    second = call(stops=False)
    assert (second.interrupted, second.resumed) == (False, kept)


def without_clock(value: Any) -> Any:
    """Leave out what the clock on the wall measures, wherever it stands: the price of an open claim, too."""
    if isinstance(value, dict):
        kept = {key: inner for key, inner in value.items() if "wall" not in key and key != "price"}
        return {key: without_clock(inner) for key, inner in kept.items()}
    if isinstance(value, list):
        return [without_clock(inner) for inner in value]
    return value


def test_done_is_small() -> None:
    import pickle

    done = Done(paths=(Path("points/0123456789abcdef-host-1-2.parquet"),))
    assert len(pickle.dumps(done)) < 500
