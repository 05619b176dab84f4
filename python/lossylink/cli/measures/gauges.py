"""The gauges of a line at the command line, for ``measure --from`` and ``fit --fec-histogram``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lossylink.cli.measures.kept import Place, begin_of
from lossylink.cli.options.declaring import option
from lossylink.cli.options.kinds import PATH
from lossylink.errors import UserError
from lossylink.measuring.line.recognised import read_gauges

if TYPE_CHECKING:
    from lossylink.measuring.counters import Counted
    from lossylink.measuring.line.finding import LineFinding
    from lossylink.scenario.coded_line import CodedLine

#: The code of lanes from 50 Gb/s on.
CODE = "rs544"
code_option = option(
    "--code",
    default=CODE,
    help="The line's code and what is known of its bits, as in phy: rs528, rs544, rs272 or rsN/K/m, and "
    "behind it interleave=2, lanes=4, precoding=on, modulation=nrz.",
)
before_option = option(
    "--before", kind=PATH, metavar="FILE", help="An earlier reading of the gauges: what came between counts."
)
port_option = option("--port", metavar="NAME", help="The line, where the text of gauges has many.")


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Which gauges are read, of what line."""

    path: Path
    before: Path | None
    port: str | None
    code: str
    seconds: float | None

    def found(self, place: Place, *, needs_histogram: bool) -> LineFinding:
        """Read the gauges and fit them.

        Raises
        ------
        UserError
            The text, the code or the counters are wrong; one line says how to mend it.
        """
        from lossylink.measuring.line.finding import LineFinding

        rate_bps, frame_bytes = place.rate_bps, place.frame_bytes
        line = line_of(self.code, rate_bps=rate_bps)
        gauges = read_gauges(self.path, port=self.port)
        if self.before is not None:
            gauges = gauges.since(read_gauges(self.before, port=self.port))
        if needs_histogram and not gauges.histogram:
            raise UserError(
                f"{self.path} has no histogram of wrong symbols a codeword; lossylink measure --counters "
                f"--from {self.path} reads what it has"
            )
        return LineFinding.of(gauges, line, seconds=self.seconds, rate_bps=rate_bps, frame_bytes=frame_bytes)


def keep_gauges(reading: Reading, place: Place, *, needs_histogram: bool, begin: str) -> None:
    """Read gauges, print what they tell, and write a scenario of it."""
    found, name = reading.found(place, needs_histogram=needs_histogram), reading.path.name
    with place.staged(begin_of(begin, reading.path)) as stage:
        for line in found.lines():
            print(line)
        told = {"recording": os.fspath(reading.path), "seconds": reading.seconds, "line": found.figures()}
        place.keep(stage, [found.finding(f"the line of {name}")], told, title=name)


def live_lines(counted: Counted, *, code: str, rate_bps: int, frame_bytes: int) -> list[str]:
    """Return what an interface's own gauges tell; why not, where they do not tell enough."""
    from lossylink.measuring.line.finding import LineFinding
    from lossylink.scenario.coded_line import read_coded_line

    if counted.gauges.is_empty:
        return []
    try:
        line = read_coded_line(code, rate_bps=rate_bps)
        found = LineFinding.of(
            counted.gauges, line, seconds=counted.seconds, rate_bps=rate_bps, frame_bytes=frame_bytes
        )
    except UserError as error:
        return [f"  FEC: {error}"]
    return [f"  {line}" for line in (*found.lines(), found.verdict)]


def line_of(code: str, *, rate_bps: int) -> CodedLine:
    """Read ``--code``; a `UserError` names the option."""
    from lossylink.scenario.coded_line import read_coded_line

    try:
        return read_coded_line(code, rate_bps=rate_bps)
    except UserError as error:
        raise UserError(f"--code: {error}") from None
