"""What a backend declares about itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from lossylink._package.discovery import names_in
from lossylink._package.resources import BACKENDS
from lossylink.declared.job import Job, Part, Progress


def backend_names() -> list[str]:
    """Return the names of all backends, without importing them.

    Examples
    --------
    >>> backend_names()
    ['kernel', 'live', 'sim']
    """
    return names_in(BACKENDS)


class Backend(Struct, frozen=True):
    """A way to carry a job out.

    Attributes
    ----------
    name
        As users write it.
    measure
        Carries one job out and tells its progress about ten times a second. It gives the row as measured,
        tables without a column for the protection, and raises ``ValueError`` for what the user has to mend,
        ``RuntimeError`` for a failure. When what it reports to raises ``KeyboardInterrupt`` it ends early.
    grow
        Carries a job of flows one after another out, as ``measure`` does, with numbers of trials at which to
        ask whether they are enough; nothing where the backend cannot add trials to those that have run.
    run_blocks, gather_blocks
        Carries some blocks of a job of flows one after another out, from a first one on, so many, and gives
        them as text; makes of all texts of a job what ``measure`` gives. Nothing where a job is run whole.
    one_at_a_time
        Whether jobs would disturb each other; they then run one after another in the caller's thread.
    listens
        Whether ``measure`` hears Ctrl-C while it runs: a single job then needs no thread of its own.
    leaves_out
        Whether its rows lack what only the simulator can tell; they hold it as nothing.
    no_capture
        Why it cannot record a hop, and what can; empty when it can.
    no_state
        The same of the state of the link's two ends at an instant.
    """

    name: str
    measure: Callable[[Job, Progress], Part]
    grow: Callable[[Job, Progress, Sequence[int], Callable[[Part], bool]], Part] | None = None
    run_blocks: Callable[[Job, Progress, int, int], str] | None = None
    gather_blocks: Callable[[Job, Sequence[str]], Part] | None = None
    one_at_a_time: bool = False
    listens: bool = False
    leaves_out: bool = False
    no_capture: str = ""
    no_state: str = ""
