"""Runs a sweep: resolves its points, has an executor do those that are missing, collects the rows."""

from __future__ import annotations

import dataclasses
import errno
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from lossylink._package.code import code
from lossylink._package.holding import Holding, holding_of, make_way, refuse
from lossylink._package.writing import output_to
from lossylink.declared.job import Progress
from lossylink.errors import RunError, UserError
from lossylink.running.sweeping import shards
from lossylink.running.sweeping.driving import Outcome, drive
from lossylink.running.sweeping.executors import Asked, check_options, open_workers
from lossylink.running.sweeping.grid import combinations
from lossylink.running.sweeping.pieces import in_pieces
from lossylink.running.sweeping.points import Point, default_directory, question_of, resolve_points
from lossylink.running.sweeping.result import OWN_FILES, Sweep, begin, rows_of_all, write_sweep
from lossylink.running.sweeping.shards import Finished
from lossylink.running.sweeping.task import Done, Task
from lossylink.running.sweeping.telling import Told, Watch
from lossylink.running.sweeping.until import parse_until
from lossylink.scenario.from_python import spelled

#: Tasks for each worker, so that none is idle at the end while another has much left.
TASKS_PER_WORKER = 16
#: With fewer points than so many for each worker, points go out in pieces.
POINTS_PER_WORKER = 4


def sweep(
    what: str | Path,
    *,
    grid: Mapping[str, Sequence[Any]] | None = None,
    zipped: Mapping[str, Sequence[Any]] | None = None,
    protection: str | Sequence[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    seed: int | None = None,
    output: str | Path | None = None,
    replace: bool = False,
    threads: int | None = None,
    executor: str | Executor = "local",
    scheduler: str | None = None,
    slurm: Mapping[str, str] | None = None,
    until: str | None = None,
    trials: bool = False,
    keep_going: bool = False,
    progress: Progress | None = None,
    watch: Watch | None = None,
) -> Sweep:
    """Run every combination of the grid's values that is not in ``output`` already.

    Parameters
    ----------
    what
        An experiment (``"stress"``) or the path of a scenario file.
    grid
        Values by key: any key of a scenario, ``protection`` or ``seed``; numbers in SI units, as for `run`.
    zipped
        Values by key that advance together: as many for each. Each place goes with every combination of the
        grid.
    protection, settings, seed
        As for `run`, at every point that the grid does not say otherwise for.
    output
        Directory of the sweep; by default one named after what is asked, so that asking again resumes. A
        point is resumed if code, scenario and stopping rule are the same. A directory with another result is
        refused: with a sweep that asks something else and shares no point, or with a run.
    replace
        Take the place of another result in ``output`` once all points are finished. What is not of lossylink
        stays.
    threads
        Points at a time on this machine; all cores by default.
    executor
        Who runs the points: ``"local"`` (threads of this process), ``"dask"``, ``"slurm"``, or any
        ``concurrent.futures.Executor``, which stays open. All workers need the same file system.
    scheduler
        Address of a Dask scheduler; without one ``"dask"`` starts ``threads`` processes on this machine.
    slurm
        Parameters for submitit, such as ``{"slurm_partition": "short"}``.
    until
        When a point is known well enough, such as ``"rel=10%@95%"``; work is doubled until then.
    trials
        Keep the tables of the points (a row a trial), too.
    keep_going
        A point that fails becomes a row with its ``error``, and the others run; otherwise it ends the sweep.
    progress
        Called with the points done and all points.
    watch
        Called with the name of the experiment, and the rows of points that have just ended.

    Returns
    -------
    Sweep
        Its ``frame`` is one polars frame of all points, a row each and a protection, the grid's keys in
        front; ``Sweep.plot`` draws it. The rows do not depend on the executor.

    Raises
    ------
    UserError
        A combination cannot be run; told before the first one begins.
    RunError
        A point failed, and ``keep_going`` was not asked for. What had ended is kept.

    Examples
    --------
    >>> import lossylink, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     swept = lossylink.sweep(
    ...         "stress",
    ...         grid={"loss.forward": [1e-3, 1e-2]},
    ...         protection="lg",
    ...         settings={"traffic.packets": 10_000},
    ...         output=folder,
    ...     )
    >>> swept.frame.select("loss.forward", "protection", "packets_sent").rows()
    [(0.001, 'lg', 10000), (0.01, 'lg', 10000)]
    """
    count = threads or len(os.sched_getaffinity(0))
    if count < 1:
        raise UserError(f"threads = {threads}: use at least 1")
    rule = parse_until(until) if until is not None else None
    asked = Asked(threads=count, scheduler=scheduler, slurm=slurm or {}, folder=Path())
    check_options(executor, asked)
    points, repeats = resolve_points(
        what,
        combinations(grid or {}, zipped),
        protection=[protection] if isinstance(protection, str) else protection,
        settings=spelled(settings),
        seed=seed,
        until=rule,
    )
    names = tuple(point.name for point in points)
    directory = Path(output) if output is not None else default_directory(points)
    folder = directory / shards.FOLDER
    question = question_of(points)
    with output_to(directory):
        held = _other_in(directory, points, question, replace=replace)
        _prepare(folder)
        if held is None:
            begin(directory, question, points)

    def usable(beside: Iterable[Path] = ()) -> dict[str, Finished]:
        found = shards.read(folder, names, beside=beside)
        return {name: one for name, one in found.items() if one.is_usable(with_tables=trials)}

    kept = usable()
    missing = [point for point in points if point.name not in kept]
    resumed = len(points) - len(missing)
    pattern = Task(
        points=(),
        folder=folder.resolve(),
        code=code(),
        until=rule,
        with_tables=trials,
        keeps_going=keep_going,
    )
    told = Told(missing, before=resumed, progress=progress, watch=watch)
    asked = dataclasses.replace(asked, folder=directory)
    outcome = run_missing(missing, pattern, executor, asked, told.tell, may_share=rule is None)
    scenarios = {point.name: point.scenario for point in missing}
    with output_to(directory):
        told.take(shards.gather(scenarios, folder.resolve(), told.paths, with_tables=trials))
    if outcome.failed and not keep_going:
        raise RunError(_first_failure(points, outcome))
    with output_to(directory):
        kept = usable(told.paths)
        if not outcome.interrupted:
            _check_all_there(points, {*kept, *outcome.failed}, folder)
        result = Sweep(
            experiment=points[0].scenario.experiment.name,
            grid={key: list(values) for key, values in {**(grid or {}), **(zipped or {})}.items()},
            zipped=tuple(zipped or {}),
            rows=rows_of_all(points, kept, outcome.failed),
            directory=directory,
            points=len(points),
            finished=len(kept),
            failed=outcome.failed,
            resumed=resumed,
            interrupted=outcome.interrupted,
            names=names,
            repeats=repeats,
            beside=held.words if held is not None and outcome.interrupted else "",
        )
        if result.beside:
            return result
        written_files = write_sweep(result, points, kept if trials else {}, question)
        if held is not None:
            make_way(directory, _old_files(held, written_files))
            shards.drop_others(folder, names)
        if result.finished == result.points:
            shards.compact(folder, names)
    return result


def _other_in(directory: Path, points: Sequence[Point], question: str, *, replace: bool) -> Holding | None:
    """Return another result in a directory, if it may be replaced.

    A sweep is no other one if it asks the same, by whatever code, or if any of its points is one of ours.

    Raises
    ------
    UserError
        There is another result, and it may not; or the directory has files of the user's that we would write.
    """
    held = holding_of(directory)
    if held is None:
        taken = [name for name in OWN_FILES if (directory / name).exists()]
        if taken:
            raise UserError(f"{directory / taken[0]} is not of lossylink; choose another --output")
        return None
    if held.kind == "sweep":
        shared = shards.read(directory / shards.FOLDER, (point.name for point in points))
        if question == held.question or shared:
            return None
    if not replace:
        raise refuse(directory, held)
    return held


def _old_files(held: Holding, written: Iterable[str]) -> Iterator[Path]:
    """Yield the files of a result that has been replaced; shards are looked into one by one."""
    for path in held.files:
        is_shard = path.parent.name == shards.FOLDER and path.suffix == ".parquet"
        if path.as_posix() not in set(written) and not is_shard:
            yield path


def run_missing(
    missing: Sequence[Point],
    pattern: Task,
    executor: str | Executor,
    asked: Asked,
    tell: Callable[[Task, Done], None],
    *,
    may_share: bool = False,
) -> Outcome:
    """Have points done by an executor, as tasks like ``pattern``.

    Parameters
    ----------
    may_share
        Whether points may go out in pieces where they are too few to keep all workers busy.
    """
    if not missing:
        return Outcome()
    with open_workers(executor, asked) as workers:
        named = [(point.name, point.scenario) for point in missing]
        if may_share and workers.count > 1 and len(named) < workers.count * POINTS_PER_WORKER:
            named = [piece for one in named for piece in in_pieces(*one)]
            # An earlier call has done some, with whatever workers.
            begun = shards.begun(pattern.folder) - {point.name for point in missing}
            if done := tuple(one for one in named if one[0] in begun):
                tell(dataclasses.replace(pattern, points=done), Done())
            named = [one for one in named if one[0] not in begun]
        size = min(math.ceil(len(named) / (workers.count * TASKS_PER_WORKER)), workers.most_points) or 1
        groups = [tuple(named[first : first + size]) for first in range(0, len(named), size)]
        return drive([dataclasses.replace(pattern, points=one) for one in groups], workers, tell)


def _prepare(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
    if any(folder.glob("*.json")):
        raise UserError(
            f"{folder.parent} is of an earlier version, whose points are not read; choose another --output"
        )


def _check_all_there(points: Sequence[Point], ended: Set[str], folder: Path) -> None:
    """Refuse to end where workers have written what this process does not see."""
    lost = len({point.name for point in points} - ended)
    if lost:
        words = f"workers finished {lost} points that are not in {folder}"
        raise UserError(f"{words}; choose an --output that all machines have at the same path")


def _first_failure(points: Sequence[Point], outcome: Outcome) -> str:
    point = next(point for point in points if point.name in outcome.failed)
    place = ", ".join(f"{key}={value}" for key, value in point.place.items())
    return (
        f"the point {place} failed: {outcome.failed[point.name]}; --keep-going runs the others all the same"
    )
