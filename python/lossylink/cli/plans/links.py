"""``lossylink plan FILE``: leave, protect or drain each of many links, the most harmful first."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lossylink._package.progress import progress_bar
from lossylink._package.writing import whole
from lossylink.cli.exits import INTERRUPTED, leave
from lossylink.errors import UserError
from lossylink.planning.links_file import Defaults, read_links
from lossylink.planning.triage import DRAIN, LEAVE, NOT_TESTABLE, PROTECT, Action, Verdict, ranked, triage
from lossylink.results.drawn import Drawn, new_console, show
from lossylink.results.screen import Grid

_STYLES: dict[Action, str] = {DRAIN: "red", PROTECT: "yellow", NOT_TESTABLE: "cyan", LEAVE: "green"}
_LABELS = ("link", "action", "loss", "harm", "left", "protection", "why")
_UNITS = ("", "", "ratio", "flows/s", "flows/s", "", "")
_STANDARD_OUTPUT = Path("-")
_LEFT_OUT = (
    "not tried: lg in order, whose speed has no closed form; the plan of one link, in the column command of "
    "--csv, runs it"
)


def plan_links(
    path: Path,
    *,
    defaults: Defaults,
    target: float,
    keep: float,
    switch: str,
    table: Path | None,
    as_json: bool,
) -> None:
    """Decide about the links of a file and print the verdicts; Ctrl-C keeps those that are there."""
    rows, unknown = read_links(path, defaults)
    if unknown:
        print(f"columns that mean nothing here: {', '.join(unknown)}", file=sys.stderr)
    verdicts, is_stopped = [], False
    with progress_bar("links") as progress:
        try:
            for verdict in triage(rows, target=target, keep=keep, switch=switch):
                verdicts.append(verdict)
                progress(len(verdicts), len(rows))
        except KeyboardInterrupt:
            is_stopped = True
    verdicts = ranked(verdicts)
    if table is not None:
        _write(verdicts, table)
    if as_json:
        print(json.dumps(_summary(verdicts, target=target, keep=keep), allow_nan=False))
    elif table != _STANDARD_OUTPUT:
        _show(verdicts, target=target, keep=keep)
    if is_stopped:
        print(f"stopped: {len(verdicts)} of {len(rows)} links were decided about", file=sys.stderr)
        leave(INTERRUPTED)


def _summary(verdicts: Sequence[Verdict], *, target: float, keep: float) -> dict[str, Any]:
    return {
        "target_loss_ratio": target,
        "capacity_share": keep,
        "actions": dict(Counter(verdict.action for verdict in verdicts)),
        "links": [verdict.row() for verdict in verdicts],
    }


def _write(verdicts: Sequence[Verdict], path: Path) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(verdicts[0].row()) if verdicts else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(verdict.row() for verdict in verdicts)
    if path == _STANDARD_OUTPUT:
        print(text.getvalue(), end="")
        return
    try:
        with whole(path) as partial:
            partial.write_text(text.getvalue(), encoding="utf-8")
    except OSError as error:
        raise UserError(f"--csv: cannot write {path}: {error.strerror}") from None


def _show(verdicts: Sequence[Verdict], *, target: float, keep: float) -> None:
    counts = Counter(verdict.action for verdict in verdicts)
    each = ", ".join(f"{counts[action]} {action}" for action in _STYLES if counts[action])
    print(f"{len(verdicts)} links, target {target:g}, {keep:.0%} of a line to keep: {each}")
    console = new_console()
    show(console, Drawn(_table(verdicts)))
    show(console, "harm: flows that lose a frame, a second, at the link's load; left: with the protection")
    if counts[PROTECT] or counts[DRAIN]:
        show(console, _LEFT_OUT)


def _table(verdicts: Sequence[Verdict]) -> Grid:
    lines = [
        [
            one.name,
            one.action,
            _figure(one.loss.value, one.loss.high) if one.loss else "-",
            _figure(one.harm.value, one.harm.high) if one.harm else "-",
            "-" if one.harm_after is None else f"{one.harm_after:.2g}",
            one.protection or "-",
            one.reason,
        ]
        for one in verdicts
    ]
    left = frozenset(
        place for place, label in enumerate(_LABELS) if label in {"link", "action", "protection"}
    )
    styles = {str(action): style for action, style in _STYLES.items()}
    return Grid([_LABELS, _UNITS], lines, left=left, has_sentences=True, styles=styles)


def _figure(value: float, high: float) -> str:
    return f"{value:.2g}" if value else ("0" if high == 0 else f"< {high:.2g}")
