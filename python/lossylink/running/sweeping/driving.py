"""Has tasks done by workers that may die: tasks of a dead worker go to another one."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field

from lossylink.errors import LossylinkError, RunError, UserError
from lossylink.running.sweeping.executors import Workers
from lossylink.running.sweeping.pieces import read_name
from lossylink.running.sweeping.task import Done, Task

#: So often a worker may die over a task.
ATTEMPTS = 3


@dataclass
class Outcome:
    """What became of the tasks."""

    failed: dict[str, str] = field(default_factory=dict)
    """The error of each point that failed, by name."""
    interrupted: bool = False
    """Whether Ctrl-C came."""


def drive(tasks: Sequence[Task], workers: Workers, tell: Callable[[Task, Done], None]) -> Outcome:
    """Have tasks done until the last, Ctrl-C, or a point that fails where nobody asked to keep going.

    Parameters
    ----------
    tell
        Told of each task that has ended.

    Raises
    ------
    UserError
        A worker met a mistake of the user.
    RunError
        No worker is left.
    """
    outcome, attempts, has_stopped = Outcome(), Counter[str](), False
    try:
        running = _start(workers, tasks)
        while running and not has_stopped:
            for future in workers.wait(running):
                task = running.pop(future)
                attempts[task.prefix] += 1
                is_last = attempts[task.prefix] >= ATTEMPTS
                done = _done(future, task, is_last=is_last)
                if done is None:
                    running |= _start(workers, task.single() if is_last else [task])
                    continue
                tell(task, done)
                outcome.interrupted |= done.interrupted
                outcome.failed |= {read_name(name)[0]: words for name, words in done.failed}
                has_stopped |= done.interrupted or (bool(done.failed) and not task.keeps_going)
    except KeyboardInterrupt:
        outcome.interrupted = True
    return outcome


def _start(workers: Workers, tasks: Sequence[Task]) -> dict[Future[Done], Task]:
    try:
        return dict(zip(workers.submit(tasks), tasks, strict=True))
    except LossylinkError:
        raise
    except Exception as error:  # each executor has its own for a pool or a scheduler that is gone
        words = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise RunError(f"the executor takes no more tasks ({words}); what had ended is kept") from None


def _done(future: Future[Done], task: Task, *, is_last: bool) -> Done | None:
    """Return what became of a task; nothing where its worker died and others are to do it.

    A single point that kills one worker after the other fails.
    """
    try:
        done = future.result()
    except (pickle.PicklingError, ImportError, AttributeError, TypeError) as error:
        words = f"the workers cannot do tasks of lossylink ({type(error).__name__}: {error})"
        raise UserError(f"{words}; install the same one there") from None
    except (Exception, CancelledError) as error:
        if not is_last or len(task.points) > 1:
            return None
        words = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        why = f"its worker died {ATTEMPTS} times; the last one: {words}"
        return Done(failed=((task.points[0][0], why),))
    if done.mistake:
        raise UserError(done.mistake)
    return done
