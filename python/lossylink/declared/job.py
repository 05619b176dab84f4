"""What experiments ask of a backend, one job at a time, and what a backend gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from lossylink.declared.experiment import Experiment
from lossylink.declared.setup import Setup
from lossylink.declared.table import Table

#: Called with the work done and the whole work, in the experiment's own unit, from any thread.
Progress = Callable[[float, float], None]
#: Turns what a backend measured into a row; its second argument is how long that took, in seconds.
Finish = Callable[[Mapping[str, Any], float], dict[str, Any]]


class Job(Struct, frozen=True, kw_only=True):
    """One measurement: a protection of a scenario, or a trial of a study.

    Attributes
    ----------
    label
        The protection as the user spelt it, which names tables and files.
    setup
        What to measure.
    finish
        Makes the row.
    weight
        What the job costs beside the others; nothing when only its progress tells.
    is_whole
        Whether a job that was stopped early counts for nothing: half a trial is no trial.
    threads
        Threads to use inside of the job.
    """

    experiment: Experiment
    label: str
    setup: Setup
    finish: Finish
    weight: float | None = None
    is_whole: bool = False
    threads: int = 1

    @property
    def configuration(self) -> dict[str, Any]:
        """What to measure, in the simulator's words and in base units."""
        return self.setup.configuration


class Part(Struct, frozen=True, kw_only=True):
    """What one job gave; a row without any key stands for a job in which nothing finished."""

    row: Mapping[str, Any] = {}
    tables: Mapping[str, Table] = {}
    files: Mapping[str, str] = {}
    """Texts to keep beside the rows, by file name."""
    states: Sequence[Mapping[str, Any]] = ()
    """What the two ends of the link were about at the instants that were asked for."""
    interrupted: bool = False
