"""Checks as people and programs read them: a table, one line, and the JSON of a row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from lossylink.results.checks.verdict import Check, Status

if TYPE_CHECKING:
    from rich.table import Table

MARKS = {Status.PASSED: "passed", Status.FAILED: "FAILED", Status.NOT_APPLICABLE: "n/a"}
_STYLES = {Status.PASSED: "green", Status.FAILED: "bold red", Status.NOT_APPLICABLE: "dim"}
_PASSED = {Status.PASSED: True, Status.FAILED: False, Status.NOT_APPLICABLE: None}


def as_json(checks: Iterable[Check]) -> dict[str, dict[str, Any]]:
    """Return the `checks` entry of a row: name to passed (null where nothing was judged) and message.

    Examples
    --------
    >>> from lossylink.results.checks.verdict import passed
    >>> as_json([passed("mss", "MSS 1460 B as requested")])
    {'mss': {'passed': True, 'message': 'MSS 1460 B as requested'}}
    """
    return {check.name: {"passed": _PASSED[check.status], "message": check.message} for check in checks}


def from_json(checks: dict[str, dict[str, Any]]) -> list[Check]:
    """Read the `checks` entry of a row back."""
    status = {passed: status for status, passed in _PASSED.items()}
    return [
        Check(name=name, status=status[entry["passed"]], message=entry["message"])
        for name, entry in checks.items()
    ]


def table(checks: Sequence[Check], *, title: str = "methodology checks") -> Table:
    """Build the rich table of one flow's checks, failures standing out."""
    from rich.table import Table  # which the rows of a run do without

    grid = Table(title=title, title_justify="left")
    grid.add_column("check", no_wrap=True)
    grid.add_column("outcome", no_wrap=True)
    grid.add_column("what was found, and what to change", overflow="fold")
    for check in checks:
        style = _STYLES[check.status]
        grid.add_row(check.name, f"[{style}]{MARKS[check.status]}[/]", check.message)
    return grid


def summary(checks: Iterable[Check]) -> str:
    """Say in one cell how the checks came out, naming those that failed.

    Examples
    --------
    >>> from lossylink.results.checks.verdict import failed, passed
    >>> summary([passed("mss", "as requested"), failed("queue", "a queue forms")])
    'FAILED: queue'
    """
    judged = [check for check in checks if check.status is not Status.NOT_APPLICABLE]
    wrong = [check.name for check in judged if check.failed]
    if wrong:
        return f"FAILED: {', '.join(wrong)}"
    return f"{len(judged)} passed" if judged else "n/a"
