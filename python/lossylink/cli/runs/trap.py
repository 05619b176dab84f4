"""``lossylink run mathis --trap NAME``: a mistake and its correction side by side, as a page or as rows."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path

from lossylink._package.progress import progress_bar
from lossylink.cli.exits import INTERRUPTED, leave
from lossylink.declared.job import Part
from lossylink.errors import UserError
from lossylink.running import mathis
from lossylink.running.runner import gather
from lossylink.scenario.scenario import Scenario


def check_trap(
    scenario: Scenario, *, output: Path | None, pcap: str | None, state_at: Sequence[str] | None
) -> None:
    """Refuse what a trap cannot do before anything runs."""
    if scenario.experiment.name != "mathis":
        raise UserError(
            f"--trap belongs to mathis, not to {scenario.experiment.name}; lossylink run mathis --trap"
        )
    if output is not None or pcap is not None:
        raise UserError("--trap keeps no files; leave out --output and --pcap, or redirect its page")
    if state_at:
        raise UserError("--trap is many simulations; leave out --state-at, or take throughput")


def show_trap(scenario: Scenario, name: str, *, as_json: bool) -> None:
    """Run the set-ups of a trap and print its page, or one JSON object with a row for each."""
    started = time.monotonic()
    with progress_bar(f"trap {name}") as progress:
        outcome = mathis.run_trap(scenario, name, progress=progress)
    if as_json:
        parts = [Part(row=row) for row in outcome.rows]
        wall_seconds = time.monotonic() - started
        run = gather(scenario, parts, wall_seconds=wall_seconds, interrupted=outcome.interrupted)
        print(json.dumps(run.summary(), allow_nan=False))
    else:
        from lossylink.results.drawn import new_console, show

        show(new_console(), mathis.traps.render(outcome))
    if outcome.interrupted:
        leave(INTERRUPTED)
