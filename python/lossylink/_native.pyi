"""The compiled simulator."""

from collections.abc import Callable
from typing import Any, TypedDict

class Outcome(TypedDict):
    row: dict[str, Any]
    columns: dict[str, dict[str, bytes]]
    interrupted: bool

def simulate(config_json: str, progress: Callable[[float, float], None] | None = None) -> Outcome:
    """Run one experiment under one protection.

    Parameters
    ----------
    config_json
        The configuration of `lossylink.scenario.native`, as JSON.
    progress
        Called from the calling thread about ten times a second, and once at the end, with the work done
        and the whole work. A ``KeyboardInterrupt`` that it raises cancels the run and keeps what is finished.

    Returns
    -------
    Outcome
        The row, columns of little-endian float64 by table and name, and whether the run was cut short.

    Raises
    ------
    ValueError
        The configuration cannot be simulated; one line says what is wrong and the mend.
    RuntimeError
        An invariant of the simulator broke.
    """

def version() -> str:
    """Return the version of the simulator that is compiled in."""

def live_main(arguments: list[str]) -> int:
    """Run a live data plane until it is told to stop and return its exit code.

    Its one argument is the configuration in JSON; see ``docs/guides/live-lab.md``.
    """
