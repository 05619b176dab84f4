"""Has tasks done by workers that may die: tasks of a dead worker go to another one."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass, field

from lossylink.errors import LossylinkError, RunError, UserError
from lossylink.running.pool import POLL_SECONDS
from lossylink.running.sweeping.executors import Workers
from lossylink.running.sweeping.pieces import read_name
from lossylink.running.sweeping.task import Done, Task

#: So often a worker may die over a task.
ATTEMPTS = 3


@dataclass
class Outcome:
    """What became of the tasks.

    Attributes
    ----------
    failed
        The error of each point that failed, by name.
    interrupted
        Whether Ctrl-C came.
    """

    failed: dict[str, str] = field(default_factory=dict)
    interrupted: bool = False


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
    driver = _Driver(workers, tell)
    try:
        driver.run(tasks)
    except KeyboardInterrupt:
        driver.outcome.interrupted = True
    return driver.outcome


class _Driver:
    def __init__(self, workers: Workers, tell: Callable[[Task, Done], None]) -> None:
        self._workers = workers
        self._tell = tell
        self._running: dict[Future[Done], Task] = {}
        self._deaths: Counter[str] = Counter()
        self._has_stopped = False
        self.outcome = Outcome()

    def run(self, tasks: Sequence[Task]) -> None:
        self._start(tasks)
        while self._running and not self._has_stopped:
            # In short waits: Ctrl-C reaches nobody who waits in a system call that polars lets restart.
            ended, _ = wait(self._running, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
            for future in ended:
                self._end(self._running.pop(future), future)

    def _start(self, tasks: Sequence[Task]) -> None:
        try:
            futures = self._workers.submit(tasks)
        except LossylinkError:
            raise
        except (
            Exception
        ) as error:  # each executor has errors of its own for a pool or a scheduler that is gone
            words = f"{type(error).__name__}: {' '.join(str(error).split())}"
            raise RunError(f"the executor takes no more tasks ({words}); what had ended is kept") from None
        self._running.update(zip(futures, tasks, strict=True))

    def _end(self, task: Task, future: Future[Done]) -> None:
        try:
            done = future.result()
        except (pickle.PicklingError, ImportError, AttributeError, TypeError) as error:
            words = f"{type(error).__name__}: {error}"
            raise UserError(
                f"the workers cannot do tasks of lossylink ({words}); install the same one there"
            ) from None
        except (Exception, CancelledError) as error:
            self._mourn(task, f"{type(error).__name__}: {error}")
            return
        if done.mistake:
            raise UserError(done.mistake)
        self.outcome.interrupted |= done.interrupted
        self._has_stopped |= done.interrupted
        self._take(task, done)

    def _mourn(self, task: Task, words: str) -> None:
        """Have the task of a dead worker done by another; a point that kills one after the other fails."""
        self._deaths[task.prefix] += 1
        if self._deaths[task.prefix] < ATTEMPTS:
            self._start([task])
        elif len(task.points) > 1:
            self._start(task.single())
        else:
            ((name, _),) = task.points
            why = f"its worker died {ATTEMPTS} times; the last one: {words.splitlines()[0][:200]}"
            self._take(task, Done(failed=((name, why),)))

    def _take(self, task: Task, done: Done) -> None:
        self._tell(task, done)
        self.outcome.failed |= {read_name(name)[0]: words for name, words in done.failed}
        self._has_stopped |= bool(done.failed) and not task.keeps_going
