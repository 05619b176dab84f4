"""``lossylink doctor``: what this machine can and cannot do, and how to mend it."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from lossylink.linux.doctor import examine


def command(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
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
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("", "what", "found", "mend"):
        table.add_column(heading)
    for finding in findings:
        colour = {"ok": "green", "limited": "yellow", "missing": "red"}[finding.state]
        table.add_row(f"[{colour}]{finding.state}[/]", finding.what, finding.found, finding.mend)
    Console().print(table)
