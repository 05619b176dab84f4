"""What ``measure`` and ``fit`` share: where a finding is written, and what is printed of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lossylink.cli.options.declaring import flag, option
from lossylink.cli.options.kinds import PATH
from lossylink.errors import UserError

if TYPE_CHECKING:
    from lossylink.measuring.outcome import Finding

output_option = option(
    "--output", "-o", kind=PATH, help="Directory to write; one under runs/ when not given."
)
replace_option = flag("--replace", help="Take the place of another result in --output; your own files stay.")


def tell_place(target: Path) -> None:
    """Say where the finding is and what simulates it."""
    print(f"written to {os.fspath(target)}/; lossylink run {target / 'scenario.toml'} simulates the link")


def read_option(option: str, parse: Callable[[Any], Any], text: str) -> int:
    """Read the whole number of an option; a `UserError` names the option."""
    try:
        return int(parse(text))
    except ValueError as error:
        raise UserError(f"{option}: {error}") from None


def new_directory(begin: str) -> Path:
    """Return a directory under ``runs`` that is not there yet."""
    name = f"{begin}-{datetime.now():%Y%m%d-%H%M%S}"
    names = (name, *(f"{name}-{number}" for number in range(2, 1000)))
    return next(path for path in (Path("runs") / one for one in names) if not path.exists())


def keep(
    folder: Path,
    target: Path,
    findings: Sequence[Finding],
    told: dict[str, Any],
    *,
    rate_bps: int,
    frame_bytes: int,
    title: str,
) -> None:
    """Print what was found with its plan, and write it to a folder that becomes ``target``."""
    from lossylink.measuring.outcome import scenario_text, write
    from lossylink.planning.advice import advise

    plans = {}
    for finding in findings:
        for line in finding.lines():
            print(line)
        advice = advise(finding, rate_bps=rate_bps, frame_bytes=frame_bytes, folder=target)
        for line in filter(None, (advice.command, advice.sentence, advice.note)):
            print(f"  {line}")
        plans[finding.key] = {"command": advice.command, "sentence": advice.sentence}
    text = scenario_text(findings, rate_bps=rate_bps, frame_bytes=frame_bytes, title=title)
    write(folder, findings, scenario=text, told=told | {"link_bps": rate_bps, "plans": plans})
