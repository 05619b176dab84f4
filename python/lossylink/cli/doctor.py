"""``lossylink doctor``: what this machine can and cannot do, and how to mend it."""

from __future__ import annotations

import json

import click

from lossylink.cli.options.declaring import Command, flag
from lossylink.linux.doctor import examine
from lossylink.results.screen import Grid


@click.command("doctor", cls=Command)
@flag("--json", "as_json", help="Print one JSON object.")
def command(as_json: bool) -> None:
    """Show what this machine can and cannot do, and how to mend it.

    Examples
    --------
        lossylink doctor

        lossylink doctor --json
    """
    findings = examine()
    if as_json:
        print(json.dumps({"findings": [finding.as_dict() for finding in findings]}))
        return
    from lossylink.results.drawn import Drawn, new_console, show

    table = Grid(
        [["", "what", "found", "mend"]],
        [[finding.state, finding.what, finding.found, finding.mend] for finding in findings],
        left=frozenset({0, 1, 2}),
        keys=2,
        has_sentences=True,
        styles={"ok": "green", "limited": "yellow", "missing": "red"},
    )
    show(new_console(), Drawn(table))
