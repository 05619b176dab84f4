"""A trap as a teacher shows it: the question, the naive and the corrected set-up side by side, the mend."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from rich.console import Console, Group
from rich.constrain import Constrain
from rich.rule import Rule
from rich.text import Text

from lossylink.results import checks
from lossylink.results.drawn import Drawn, Sentences
from lossylink.results.screen import Grid
from lossylink.running.mathis.traps.catalogue import Setup, Trap
from lossylink.running.mathis.traps.execution import TrapRun

Row = Mapping[str, Any]


def _number(key: str, form: str) -> Callable[[Row], str]:
    def show(row: Row) -> str:
        value = row.get(key)
        return "not measured" if value is None else format(value, form)

    return show


def _percent(key: str) -> Callable[[Row], str]:
    def show(row: Row) -> str:
        value = row.get(key)
        return "not measured" if value is None else f"{value * 100:.4g} %"

    return show


def _interval(row: Row) -> str:
    interval = row["measured_mbps_ci95"]
    return "none: no loss event" if interval is None else f"{interval[0]:.4g} to {interval[1]:.4g}"


QUANTITIES: tuple[tuple[str, Callable[[Row], str]], ...] = (
    ("model MSS/(RTT*sqrt(p)), Mb/s", _number("model_mbps", ".4g")),
    ("measured, Mb/s", _number("measured_mbps", ".4g")),
    ("  95 % interval", _interval),
    ("measured / model", _number("ratio", ".3g")),
    ("loss asked for", _percent("loss_ratio")),
    ("loss on the link", _percent("realised_loss_ratio")),
    ("loss events", _number("loss_events", ",d")),
    ("seconds measured", _number("duration_s", ".4g")),
    ("mean RTT, ms", _number("rtt_mean_ms", ".4g")),
    ("minimum RTT, ms", _number("rtt_min_ms", ".4g")),
    ("bottleneck, Gb/s", _number("link_gbps", ".3g")),
    ("MSS asked for, B", _number("mss_requested_bytes", "d")),
    ("MSS on the link, B", _number("mss_bytes", "d")),
    ("largest frame, B", _number("largest_frame_bytes", "d")),
    ("checks", lambda row: checks.summary(checks.from_json(row["checks"]))),
)
"""What is compared: a label, and how a row shows it."""

_RULE = 80
"""Columns of the line beside the title, whatever the screen."""


def render(outcome: TrapRun) -> Group:
    """Build the whole page of a trap, in the order of the study's flowchart."""
    trap = outcome.trap
    page: list[Any] = [
        Constrain(Rule(f"trap {trap.number} of 6: {trap.title}", align="left"), _RULE),
        _paragraph("The trial", _trial(trap)),
        _paragraph("1. Set up", "\n".join(_commands(outcome))),
        _heading("2. Run, and look at what was measured"),
        Drawn(_comparison(outcome)),
        _paragraph("3. What is wrong", f"{trap.mistake}\nHow it shows: {trap.symptom}"),
        _paragraph("4. Which check catches it", "\n".join(_verdicts(outcome))),
        _paragraph("5. Correct it and run again", trap.correction),
    ]
    if trap.published:
        told = "\n".join(f"{what}: {value}" for what, value in trap.published.items())
        page.append(_paragraph("What the study published", told))
    if outcome.interrupted:
        page.append(_paragraph("Stopped early", "only the set-ups that had finished are shown"))
    return Group(*page)


def text(outcome: TrapRun, *, width: int = 110) -> str:
    """Return the page as plain text.

    Parameters
    ----------
    width
        Columns to lay it out for.
    """
    console = Console(width=width, color_system=None, highlight=False)
    with console.capture() as capture:
        console.print(render(outcome))
    return capture.get()


def _heading(words: str) -> Text:
    return Text(f"\n{words}", style="bold")


def _paragraph(heading: str, body: str) -> Group:
    return Group(_heading(heading), Sentences(body, indent=2))


def _trial(trap: Trap) -> str:
    return (
        f"one Reno flow, MSS {trap.mss_bytes} B, RTT {trap.rtt_ms:g} ms ({trap.rtt_ms / 2:g} ms on each side "
        f"of the router), loss {trap.loss_ratio:.10g} = {trap.loss_ratio * 100:.10g} %"
    )


def _commands(outcome: TrapRun) -> list[str]:
    return [
        f"{setup.name}: {_filled(command, outcome, setup)}"
        for setup in outcome.trap.setups
        for command in setup.commands
    ]


def _filled(command: str, outcome: TrapRun, setup: Setup) -> str:
    """Put what was planned into a command; dots where the set-up has not finished."""
    row = next((row for row in outcome.rows if row["setup"] == setup.name), None)
    if row is None:
        return re.sub(r"\{.*?\}", "...", command)
    return command.format(duration_s=row["duration_s"], warmup_s=row["warmup_s"], link_gbps=row["link_gbps"])


def _comparison(outcome: TrapRun) -> Grid:
    lines = [[f"  {label}", *(show(row) for row in outcome.rows)] for label, show in QUANTITIES]
    return Grid([["", *(row["setup"] for row in outcome.rows)]], lines)


def _verdicts(outcome: TrapRun) -> list[str]:
    lines = []
    for row in outcome.rows:
        check = outcome.catching_check(row["setup"])
        lines.append(f"{row['setup']}: {check.name} {checks.MARKS[check.status]}: {check.message}")
    return lines
