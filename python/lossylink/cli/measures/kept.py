"""What ``measure`` and ``fit`` share: where a finding is written, and what is printed of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lossylink.cli.options.declaring import flag, option
from lossylink.cli.options.kinds import PATH
from lossylink.errors import UserError
from lossylink.results.directory import Staged, staged

if TYPE_CHECKING:
    from lossylink.measuring.outcome import Finding

output_option = option(
    "--output", "-o", kind=PATH, help="Directory to write; one under runs/ when not given."
)
replace_option = flag("--replace", help="Take the place of another result in --output; your own files stay.")


def read_option(option: str, parse: Callable[[Any], Any], text: str) -> int:
    """Read the whole number of an option; a `UserError` names the option."""
    try:
        return int(parse(text))
    except ValueError as error:
        raise UserError(f"{option}: {error}") from None


def begin_of(word: str, path: Path) -> str:
    """Return what the name of a directory begins with that has findings from a file, or from ``-``."""
    stem = path.name.partition(".")[0]
    return f"{word}-{stem if stem != '-' else 'standard-input'}"


def _new_directory(begin: str) -> Path:
    """Return a directory under ``runs`` that is not there yet."""
    name = f"{begin}-{datetime.now():%Y%m%d-%H%M%S}"
    names = (name, *(f"{name}-{number}" for number in range(2, 1000)))
    return next(path for path in (Path("runs") / one for one in names) if not path.exists())


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where findings are written, and the link that their scenario has."""

    output: Path | None
    """A directory under ``runs`` where none is named."""
    replace: bool
    rate_bps: int
    frame_bytes: int

    @contextmanager
    def staged(self, begin: str) -> Iterator[Staged]:
        """Give a result to write, and say at its end where it is and what simulates it."""
        with staged(self.output or _new_directory(begin), replace=self.replace) as stage:
            yield stage
        target = stage.target
        print(f"written to {os.fspath(target)}/; lossylink run {target / 'scenario.toml'} simulates the link")

    def keep(self, stage: Staged, findings: Sequence[Finding], told: dict[str, Any], *, title: str) -> None:
        """Print what was found with its plan, and write it."""
        from lossylink.measuring.outcome import scenario_text, write
        from lossylink.planning.advice import advise

        link = {"rate_bps": self.rate_bps, "frame_bytes": self.frame_bytes}
        plans = {}
        for finding in findings:
            for line in finding.lines():
                print(line)
            advice = advise(finding, **link, folder=stage.target)
            for line in filter(None, (advice.command, advice.sentence, advice.note)):
                print(f"  {line}")
            plans[finding.key] = {"command": advice.command, "sentence": advice.sentence}
        text = scenario_text(findings, **link, title=title)
        told = told | {"link_bps": self.rate_bps, "plans": plans}
        write(stage.folder, findings, scenario=text, told=told)
