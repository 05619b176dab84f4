"""Array jobs of SLURM, through submitit, which also has ``cluster=local`` and ``cluster=debug``."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from lossylink.errors import UserError
from lossylink.running.sweeping.executors._declaration import Asked, ExecutorKind, Workers, missing
from lossylink.running.sweeping.task import Done, Task, do

#: Parameters that nobody has to give.
DEFAULTS: dict[str, str | int | float] = {
    "name": "lossylink-sweep",
    "timeout_min": 240,
    "cpus_per_task": 1,
    "slurm_array_parallelism": 64,
}
#: Tasks of an array at most; SLURM's own limit (MaxArraySize) is 1001 unless it is configured.
ARRAY_TASKS = 1000
#: Time between two looks at the jobs, in seconds.
POLL_SECONDS = 0.2


@contextmanager
def _open(asked: Asked) -> Iterator[Workers]:
    try:
        import submitit
    except ImportError as error:
        raise missing("slurm", error) from None
    given = {key: _value(value) for key, value in asked.slurm.items() if key != "cluster"}
    parameters = DEFAULTS | given
    cluster = asked.slurm.get("cluster", "slurm")
    try:
        executor = submitit.AutoExecutor(folder=asked.folder / "slurm" / "%j", cluster=cluster)
        executor.update_parameters(**parameters)
    except (ValueError, TypeError, NameError, RuntimeError, AssertionError) as error:
        raise UserError(f"--slurm: {' '.join(str(error).split())}") from None
    jobs = _Jobs(executor)
    # Only SLURM queues: submitit starts every job of this machine at once.
    count = int(parameters["slurm_array_parallelism"]) if cluster == "slurm" else asked.threads
    try:
        yield Workers(submit=jobs.submit, count=count, most_points=10_000)
    finally:
        jobs.close()


def _value(text: str) -> str | int | float:
    """Return a number where a parameter is one, as submitit asks for."""
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


class _Jobs:
    """Jobs that were submitted, and the futures that wait for them."""

    def __init__(self, executor: Any) -> None:
        self._executor = executor
        self._waiting: list[tuple[Any, Future[Done]]] = []
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="lossylink-slurm", daemon=True)
        self._thread.start()

    def submit(self, tasks: Sequence[Task]) -> list[Future[Done]]:
        """Submit tasks as arrays; gives a future for each."""
        futures: list[Future[Done]] = []
        for first in range(0, len(tasks), ARRAY_TASKS):
            some = list(tasks[first : first + ARRAY_TASKS])
            try:
                jobs = self._executor.map_array(do, some)
            except Exception as error:  # what sbatch says comes as an error of submitit's own
                words = " ".join(str(error).split())
                raise UserError(f"--executor slurm: cannot submit jobs: {words}") from None
            new: list[Future[Done]] = [Future() for _ in jobs]
            with self._lock:
                self._waiting += zip(jobs, new, strict=True)
            futures += new
        return futures

    def close(self) -> None:
        """Cancel what has not ended."""
        self._closed.set()
        self._thread.join()
        for job, _ in self._waiting:
            job.cancel(check=False)

    def _watch(self) -> None:
        while not self._closed.wait(POLL_SECONDS):
            with self._lock:
                waiting = list(self._waiting)
            ended = {id(job) for job, future in waiting if not self._closed.is_set() and _settle(job, future)}
            with self._lock:
                self._waiting = [pair for pair in self._waiting if id(pair[0]) not in ended]


def _settle(job: Any, future: Future[Done]) -> bool:
    """Pass on how a job ended; returns whether it has."""
    try:
        if not job.done():
            return False
        result: Done = job.result()
    except Exception as error:  # submitit's errors for a job that was killed, timed out or left nothing
        future.set_exception(error)
    else:
        future.set_result(result)
    return True


EXECUTOR = ExecutorKind(options=frozenset({"slurm"}), open=_open)
