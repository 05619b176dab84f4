"""The compiled simulator."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self, TypedDict, final, type_check_only

__all__ = [
    "Columns",
    "Monitor",
    "Simulation",
    "binomial_interval",
    "burst_chances",
    "check_protection",
    "clustered_interval",
    "commit",
    "copies_for",
    "copies_leave",
    "design_effect",
    "enclosing_places",
    "flow_patience_s",
    "give_up_privileges",
    "live_main",
    "loss_design_effect",
    "prometheus_page",
    "thresholds_at",
    "version",
    "write_parquet",
]

@final
class Columns:
    """Named columns of numbers, of equal length, as a simulation left them."""

    @property
    def names(self) -> list[str]:
        """The names of the columns, in order."""

    def __len__(self) -> int:
        """Return how many values each column has."""

    def __getitem__(self, name: str, /) -> bytes:
        """Return the values of a column as little-endian float64.

        Raises
        ------
        KeyError
            There is no such column.
        OSError
            Values that were laid aside in a temporary file cannot be read back.
        """

def write_parquet(path: Path, parts: Sequence[tuple[str, Columns]], facts: Sequence[tuple[str, str]]) -> None:
    """Write columns as a Parquet file, one part under the other.

    Parameters
    ----------
    parts
        Each with its label, which becomes the column ``protection``. A column that a part lacks is null
        there.
    facts
        Keys and values that are kept as the file's metadata.

    Raises
    ------
    OSError
        The file cannot be written.
    """

@type_check_only
class Outcome(TypedDict):
    row: dict[str, Any]
    columns: dict[str, Columns]
    states: list[dict[str, Any]]
    interrupted: bool

@final
class Simulation:
    """One experiment under one protection: it has been read, and its parts were built once to check them.

    Parameters
    ----------
    config_json
        The configuration of `lossylink.scenario.native`, as JSON.

    Raises
    ------
    ValueError
        The configuration cannot be simulated; one line says what is wrong and the mend.
    RuntimeError
        An invariant of the simulator broke.
    """

    def __new__(cls, config_json: str) -> Self: ...
    def run(
        self,
        progress: Callable[[float, float], None] | None = None,
        *,
        threads: int | None = None,
        parts: Sequence[str] | None = None,
    ) -> Outcome:
        """Run the experiment.

        Parameters
        ----------
        progress
            Called from the calling thread about ten times a second, and once at the end, with the work done
            and the whole work. A ``KeyboardInterrupt`` that it raises cancels the run and keeps what is
            finished.
        threads
            Threads to use; those of the configuration when not given.
        parts
            Texts of `run_blocks`, from the first block on; the other blocks are run.

        Returns
        -------
        Outcome
            The row, the columns of each table, the states that ``state_at_ps`` asked for, and whether the run
            was cut short.

        Raises
        ------
        ValueError, RuntimeError
            As the class.
        """

    def grow(
        self,
        progress: Callable[[float, float], None],
        looks: Sequence[int],
        is_enough: Callable[[Outcome], bool],
        *,
        threads: int | None = None,
    ) -> Outcome:
        """Run flows one after another, of ``tcp-fct`` or ``rdma-fct``, until there are enough of them.

        Parameters
        ----------
        progress, threads
            As for `run`; the trials of the configuration do not count.
        looks
            Numbers of trials, rising, after which to ask.
        is_enough
            Asked from another thread, with the outcome of all trials so far. The run ends when it returns
            true, or with the last of the looks.

        Returns
        -------
        Outcome
            That of `run` with as many trials.

        Raises
        ------
        ValueError, RuntimeError
            As `run`; what ``is_enough`` raises ends the run and is raised.
        """

    def run_blocks(
        self,
        progress: Callable[[float, float], None],
        first_block: int,
        blocks: int,
        *,
        threads: int | None = None,
    ) -> str | None:
        """Run some blocks of the flows of ``tcp-fct`` or ``rdma-fct``.

        Parameters
        ----------
        progress, threads
            As for `run`.
        first_block, blocks
            The first block, and how many blocks.

        Returns
        -------
        str or None
            The results as text, a part for `run`; nothing if the run was cut short.

        Raises
        ------
        ValueError, RuntimeError
            As `run`.
        """

def binomial_interval(events: int, trials: int, confidence: float) -> tuple[float, float]:
    """Return the exact interval of a ratio of counted events (Clopper and Pearson 1934).

    Raises
    ------
    ValueError
        More events than trials, no trials, or a confidence that is not between 0 and 1.
    """

def burst_chances(mean: float, burst: float) -> tuple[float, float]:
    """Return the chances of a Gilbert-Elliott chain to go bad and to recover, a frame.

    The chain loses all frames of its bad state.

    Parameters
    ----------
    mean
        Share of frames that the chain loses.
    burst
        Mean length of a burst, in frames.

    Raises
    ------
    ValueError
        The mean is no ratio, a burst is shorter than a frame, or too short for the mean.
    """

def clustered_interval(
    events: int, trials: int, design_effect: float, batches: int, confidence: float
) -> tuple[float, float]:
    """Return the interval of a ratio whose events come in clusters (Korn and Graubard 1998).

    It is the exact binomial interval of as many independent trials as would tell as much.

    Parameters
    ----------
    design_effect
        By how much the variance of the events exceeds that of independent ones.
    batches
        From how many batches that is known, so that it is known to the interval of a variance; 0 where it is
        not from batches.

    Raises
    ------
    ValueError
        As `binomial_interval`, and of a design effect that is not above 0.
    """

def design_effect(
    batches: Sequence[tuple[int, int]],
    foreseen: tuple[float, float] | None = None,
    confidence: float | None = None,
) -> tuple[float, int]:
    """Return by how much events come together, and from how many batches that is known.

    Parameters
    ----------
    batches
        Events and trials of each batch of consecutive trials; at least two, and longer than what makes events
        come together lasts.
    foreseen
        Events of a cluster, on average and as seen from one of its events. What is foreseen counts as much as
        three clusters; without it the batches decide alone.
    confidence
        Of an interval for which the design effect is wanted: it is larger then, being itself an estimate.
    """

def enclosing_places(
    values: int, independent: int, quantile: float, confidence: float
) -> tuple[int | None, int | None]:
    """Return the places, among values in ascending order, of the two that enclose a quantile.

    An end is none where it lies beyond all values (binomial ranks; Woodruff 1952, Korn and Graubard 1998).

    Parameters
    ----------
    values
        How many there are.
    independent
        As how many independent ones they tell, from 1 to `values`.
    quantile
        From 0 to 1.

    Raises
    ------
    ValueError
        There are no such values, or there is no such quantile.
    """

def loss_design_effect(config_json: str, batches: Sequence[tuple[int, int]]) -> tuple[float, int]:
    """Return as `design_effect` by how much lost frames of a link come together.

    What is foreseen of its losses and its protection counts as well. Without batches it decides alone.

    Raises
    ------
    ValueError
        The configuration cannot be simulated; one line says what is wrong and the mend.
    """

def check_protection(protection_json: str, live: bool) -> None:
    """Check the options of a protection, without a link.

    Parameters
    ----------
    protection_json
        The value of ``core::protection::Protection``, as JSON.
    live
        Whether to refuse as well what the simulator alone has.

    Raises
    ------
    ValueError
        One line says which option is out of range, or what the live data plane does not have.
    """

def flow_patience_s(least_s: float) -> float:
    """Return how long a flow that runs by itself is waited for, in seconds.

    Parameters
    ----------
    least_s
        What the flow needs at the least, on an empty and clean path, in seconds.
    """

def thresholds_at(thresholds_json: str, rate_bps: int) -> dict[str, int]:
    """Return LinkGuardian's thresholds at a rate, between those of a switch profile.

    Parameters
    ----------
    thresholds_json
        The profile's list of ``[[threshold]]`` tables, as JSON.
    rate_bps
        The link's rate in bits per second.

    Returns
    -------
    dict
        ``rate_bps``, ``resume_bytes``, ``pause_bytes`` and ``ack_no_timeout_ticks``.

    Raises
    ------
    ValueError
        The list is empty or malformed.
    """

def copies_for(config_json: str, target_loss: float) -> int:
    """Return how many copies of a retransmission LinkGuardian sends on a link (LG-19).

    Parameters
    ----------
    config_json
        A configuration of the simulator: its link, its switch and the losses of its forward direction count.
    target_loss
        Effective loss ratio to reach.

    Raises
    ------
    ValueError
        The configuration cannot be simulated.
    """

def copies_leave(config_json: str, copies: int, holes: int | None = None) -> float:
    """Return the share of frames that stay lost when losses come in bursts.

    Parameters
    ----------
    config_json
        As in `copies_for`; the losses are a Gilbert-Elliott chain, or a recording that counts as one.
    copies
        Copies of each retransmission.
    holes
        Losses of one run that are asked for; all that a notification can name when not given.

    Raises
    ------
    ValueError
        The configuration cannot be simulated, or its losses are independent.
    """

def version() -> str:
    """Return the version of the simulator that is compiled in."""

def commit() -> str:
    """Return the commit of the sources that this module was built from.

    ``+changes`` follows it if tracked files differed; it is ``unknown`` if git knew nothing of the sources.
    """

def live_main(arguments: list[str]) -> int:
    """Run a live data plane until it is told to stop and return its exit code.

    Its one argument is the configuration in JSON; see ``docs/guides/live-lab.md``.
    """

def prometheus_page(counters: str) -> str:
    """Return the counters of a data plane, given in JSON, as a page of Prometheus text with HTTP header."""

def give_up_privileges() -> None:
    """Give up the privileges of the calling thread, for good, but the right to live in locked memory.

    Threads that it starts begin with what is left.

    Raises
    ------
    OSError
        The kernel is older than 4.3.
    """

@final
class Monitor:
    """Decides from frame counters when a link needs a protection: ``docs/protocols/monitor.md``.

    Parameters
    ----------
    window_frames
        Frames that the decision to do less looks back on; at least ``-ln(1 - confidence) / off_loss``.
    on_loss, off_loss
        Loss ratios from which the link is protected, and below which it is not any more.
    many_copies_loss
        Loss ratio below which one copy is sent whatever the target asks for.
    target_loss
        Effective loss ratio that copies are to reach.
    confidence
        How sure a decision must be; above 0.5 and below 1.
    hold_seconds
        Least time from a change to one that does less.

    Raises
    ------
    ValueError
        The thresholds cannot work together; one line says the mend.
    """

    def __new__(
        cls,
        *,
        window_frames: int,
        on_loss: float,
        off_loss: float,
        many_copies_loss: float,
        target_loss: float,
        confidence: float,
        hold_seconds: float,
    ) -> Self: ...
    def observe(self, now_seconds: float, received_ok: int, received_all: int) -> int | None:
        """Take a reading and return what to change: copies from now on, 0 for no protection, or nothing.

        Parameters
        ----------
        now_seconds
            A clock that never goes back.
        received_ok, received_all
            The link's counters, which only grow: frames received whole, and frames received in all.
        """

    @property
    def copies(self) -> int:
        """Copies in use; 0 while the link is not protected."""

    @property
    def counts(self) -> tuple[int, int]:
        """Frames of the window, and those of them that were corrupted."""
