"""Claims about the bursts that codes of lines leave: what registers, parity and go-back-N make of them."""

from __future__ import annotations

from lossylink.reproduce.experiments.protections.bursts import (
    FRAMES_BYTES,
    PROTECTIONS,
    Line,
    burst_job,
    left,
    lines_run,
    share_beyond,
    share_left,
)
from lossylink.reproduce.framework.judging import Measure, at_least, at_most, between, bounded
from lossylink.reproduce.framework.model import Basis, Claim, Finished
from lossylink.reproduce.shared.measures import derived, lost_after_protection
from lossylink.statistics.estimates import Estimate

REGISTERS = 5
"""Losses that LinkGuardian reports at a time (LG-9)."""
WITHIN = 0.2
SMALLEST, LARGEST = FRAMES_BYTES
FIVE, UNLIMITED, RETRY, ONE, _, TWELVE = PROTECTIONS
ALONE = Line("rs544", 1, SMALLEST)
PAIR = Line("rs544", 2, SMALLEST)
SOURCE = "ours; lossylink.theory.phy for the bursts"


def burst_claims() -> tuple[Claim, ...]:
    """Registers, parity, go-back-N."""
    beyond = share_beyond(ALONE, REGISTERS)
    return (
        Claim(
            "Minimum frames behind KP4: LinkGuardian gives up the losses of a codeword beyond five registers",
            bounded(
                _share(ALONE, FIVE),
                between(round((1 - WITHIN) * beyond, 2), round((1 + WITHIN) * beyond, 2)),
                remark=f"share of the losses that stays; {beyond:.3f} by theory",
            ),
            Basis.THEORY,
            "docs/protocols/linkguardian.md, LG-9",
        ),
        Claim(
            "With as many registers as are asked for, no line leaves more than one in 100,000",
            bounded(_worst(UNLIMITED, (SMALLEST, LARGEST)), at_most(1e-5), remark="worst of all lines"),
            Basis.PREDICTION,
            SOURCE,
        ),
        Claim(
            "Full frames: five registers are enough behind either code, interleaved or not",
            bounded(_worst(FIVE, (LARGEST,)), at_most(1e-5), remark="worst of all lines"),
            Basis.PREDICTION,
            SOURCE,
        ),
        Claim(
            "Minimum frames behind KP4: one parity frame in 32 saves less than a fifth of the losses",
            bounded(_share(ALONE, ONE), at_least(0.8), remark="share of the losses that stays"),
            Basis.PREDICTION,
            SOURCE,
        ),
        Claim(
            "Minimum frames behind KP4: twelve parity frames outlive a codeword",
            bounded(lambda finished: left(finished, burst_job(ALONE), TWELVE), at_most(1e-5)),
            Basis.PREDICTION,
            SOURCE,
        ),
        Claim(
            "Minimum frames behind KP4: twelve parity frames do not outlive two interleaved codewords",
            bounded(_share(PAIR, TWELVE), at_least(0.5), remark="share of the losses that stays"),
            Basis.PREDICTION,
            SOURCE,
        ),
        Claim(
            "LLR leaves no frame lost under any of these bursts",
            bounded(
                derived(_lost_with_retry),
                between(0.0, 0.0),
                unit="frames",
                remark="of all lines; the tables have the upper ends of the intervals",
            ),
            Basis.PREDICTION,
            SOURCE,
        ),
    )


def _share(line: Line, protection: str) -> Measure:
    return lambda finished: share_left(finished, line, protection)


def _worst(protection: str, sizes: tuple[int, ...]) -> Measure:
    """Return what gives the residual loss of the line whose interval reaches highest."""

    def measure(finished: Finished) -> Estimate:
        found = [
            left(finished, burst_job(line), protection)
            for line in lines_run(finished)
            if line.frame_bytes in sizes
        ]
        return max(found, key=lambda one: one.high)

    return measure


def _lost_with_retry(finished: Finished) -> float:
    return float(
        sum(lost_after_protection(burst_job(line), RETRY)(finished)[0] for line in lines_run(finished))
    )
