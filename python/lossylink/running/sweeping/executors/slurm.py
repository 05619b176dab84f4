"""Array jobs of SLURM, through submitit, which also has ``cluster=local`` and ``cluster=debug``."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from lossylink.errors import UserError
from lossylink.running.sweeping.executors._declaration import Asked, ExecutorKind, Workers, missing
from lossylink.running.sweeping.task import Task, do

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
    # Only SLURM queues: submitit starts every job of this machine at once.
    count = int(parameters["slurm_array_parallelism"]) if cluster == "slurm" else asked.threads
    waiting: list[Any] = []

    def submit(tasks: Sequence[Task]) -> list[Any]:
        first = len(waiting)
        for at in range(0, len(tasks), ARRAY_TASKS):
            try:
                waiting.extend(executor.map_array(do, tasks[at : at + ARRAY_TASKS]))
            except Exception as error:  # what sbatch says comes as an error of submitit's own
                words = " ".join(str(error).split())
                raise UserError(f"--executor slurm: cannot submit jobs: {words}") from None
        return waiting[first:]

    def wait(jobs: Collection[Any]) -> set[Any]:
        time.sleep(POLL_SECONDS)
        ended = {job for job in jobs if _has_ended(job)}
        waiting[:] = [job for job in waiting if job not in ended]
        return ended

    try:
        yield Workers(submit=submit, wait=wait, count=count, most_points=10_000)
    finally:
        for job in waiting:
            job.cancel(check=False)


def _has_ended(job: Any) -> bool:
    """Whether a job has a result, or an error that its result raises: killed, timed out, or left nothing."""
    try:
        return bool(job.done())
    except Exception:  # each kind of error is submitit's own
        return True


def _value(text: str) -> str | int | float:
    """Return a number where a parameter is one, as submitit asks for."""
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


EXECUTOR = ExecutorKind(options=frozenset({"slurm"}), open=_open)
