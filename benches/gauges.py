"""How often the tests and intervals of a histogram of wrong symbols are right, kind of line by kind of line.

``python benches/gauges.py [--links 1000] [--only "TEXT|TEXT"]`` draws the histograms of so many lines of each
kind from the exact distribution, fits each as ``lossylink fit --fec-histogram`` does, and counts intervals
of the codeword error ratio that hold the truth. Beside it stand how often the test finds bursts, and by how
many times SONiC's straight line is off (the median). A histogram has the codewords of 120 s at 100 Gb/s, of a
short reading, or of very few.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from rich.console import Console

from lossylink.measuring.fit import Kind
from lossylink.measuring.line import straight_line
from lossylink.measuring.line.cells import Cells, shares_of
from lossylink.measuring.line.estimate import Estimated
from lossylink.scenario.coded_line import CodedLine, read_coded_line
from lossylink.statistics.estimates import binomial_interval
from lossylink.theory.codewords import codewords_in

LINKS = 1_000
RATE_BPS, SECONDS = 100e9, 120.0
SHORT, FEW, VERY_FEW = 1_000_000, 10_000, 300
"""Codewords of shorter readings: a twentieth of a second, half a millisecond, and 15 us."""


@dataclass(frozen=True)
class LineKind:
    """Lines of one kind, and for how many codewords they are read."""

    code: str
    bit_error_ratio: float
    repeat: float
    codewords: int
    interleaved: int = 1

    @property
    def name(self) -> str:
        """The kind in words, by which ``--only`` chooses."""
        bursts = f"burst {self.repeat:g}" if self.repeat else "independent"
        return f"{self.code} x{self.interleaved} {self.bit_error_ratio:g} {bursts} {self.codewords:,}"

    @property
    def line(self) -> CodedLine:
        """The line without its errors."""
        return read_coded_line(f"{self.code},interleave={self.interleaved}", rate_bps=RATE_BPS)


def kinds() -> Iterator[LineKind]:
    """Yield every kind: error ratios that matter, bursts of equalisers, long and short readings."""
    long = round(codewords_in(SECONDS, rate_bps=RATE_BPS))
    for ratio, codewords in ((1e-5, long), (1e-4, long), (1e-5, FEW), (1e-8, SHORT), (5e-4, long)):
        for repeat in (0.0, 0.3, 0.5, 0.75):
            yield LineKind("rs544", ratio, repeat, codewords)
    for ratio, codewords in ((1e-4, FEW), (1e-4, VERY_FEW), (1e-5, SHORT)):
        for repeat in (0.0, 0.5):
            yield LineKind("rs544", ratio, repeat, codewords)
    for repeat in (0.0, 0.5):
        yield LineKind("rs528", 2e-5, repeat, long)
        yield LineKind("rs544", 1e-4, repeat, long, interleaved=2)


@dataclass(frozen=True)
class Seen:
    """What was found of one line."""

    is_covered: bool
    is_wide: bool
    """Whether the interval spans a factor of ten or more."""
    kind: Kind
    straight: float
    """SONiC's prediction over the truth; nan where it makes none."""


def of_one(kind: LineKind, seed: int) -> Seen:
    """Draw a line's histogram and fit it."""
    line = kind.line
    shares = shares_of(line, kind.bit_error_ratio, kind.repeat)
    draws = np.random.default_rng([seed, *kind.name.encode()])
    counts = draws.multinomial(kind.codewords, shares / shares.sum())
    estimated = Estimated(Cells(line, counts, np.arange(counts.size), True))
    ratio, truth = estimated.codeword_error_ratio, float(shares[-1])
    drawn = straight_line.predicted(counts[:-1].tolist(), interleaved=kind.interleaved)
    return Seen(
        is_covered=ratio.low <= truth <= ratio.high,
        is_wide=ratio.high > 10 * ratio.low,
        kind=estimated.decision.kind,
        straight=np.nan if drawn is None else drawn.codeword_error_ratio / truth,
    )


def table(pool: ProcessPoolExecutor, links: int, only: list[str]) -> Iterator[str]:
    """Yield a row for each kind, with the exact interval of the coverage."""
    yield "kind | covered (95 % interval) | factor 10 | bursts found | not told | SONiC over truth"
    for kind in kinds():
        if only and not any(text in kind.name for text in only):
            continue
        seen = list(pool.map(partial(of_one, kind), range(links), chunksize=10))
        covered = binomial_interval(sum(one.is_covered for one in seen), links)
        straight = [one.straight for one in seen if np.isfinite(one.straight)]
        off = f"{np.median(straight):.3g}" if straight else "-"
        bursts, untold = (sum(one.kind is what for one in seen) for what in (Kind.BURSTY, Kind.UNTOLD))
        shares = (sum(one.is_wide for one in seen), bursts, untold)
        yield (
            f"{kind.name} | {covered.value:.3f} ({covered.low:.3f} to {covered.high:.3f}) | "
            + " | ".join(f"{share / links:.3f}" for share in shares)
            + f" | {off}"
        )


def main() -> None:
    """Read the command line and print the table row by row."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--links", type=int, default=LINKS)
    parser.add_argument("--only", default="")
    parser.add_argument("--processes", type=int, default=None)
    given = parser.parse_args()
    only = [text for text in given.only.split("|") if text]
    console = Console(soft_wrap=True, highlight=False)
    with ProcessPoolExecutor(given.processes) as pool:
        for row in table(pool, given.links, only):
            console.print(row)


if __name__ == "__main__":
    main()
