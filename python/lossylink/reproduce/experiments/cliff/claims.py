"""What theory says of the cliffs, and how protections move them; nobody published figures of these."""

from __future__ import annotations

from functools import partial

from lossylink.reproduce.experiments.cliff.jobs import (
    KP4,
    LINES,
    LOSS_RATES,
    RDMA,
    STRESS,
    TCP,
    Line,
    bits,
    key,
)
from lossylink.reproduce.experiments.cliff.measures import EDGE, as_theory_says
from lossylink.reproduce.framework.judging import (
    ROUNDED_BOUND_SLACK,
    Measure,
    at_least,
    at_most,
    between,
    bounded,
)
from lossylink.reproduce.framework.model import Basis, Claim, Finished, Published
from lossylink.reproduce.shared.measures import completion_ratio, derived

FORM = "lossylink.theory.phy"
CLIFFS = {"rs544": ("KP4", 2.5), "rs528": ("KR4", 4.8), "rs272": ("the low-latency code", 4.8)}
"""Factors of bit errors between a loss of 1e-8 and one of 1e-3, of full frames."""
WITHIN = 0.05


def claims(_published: Published) -> tuple[Claim, ...]:
    """The losses, how steep they are, and where tails begin."""
    return (_losses(), *_steepness(), *_edges())


def _losses() -> Claim:
    count = float(len(LINES) * len(LOSS_RATES))
    return Claim(
        "Without protection frames are lost as often as bit errors and code say, at every point",
        bounded(
            derived(lambda finished: float(sum(as_theory_says(finished)))),
            between(count, count),
            unit="points",
            remark="whose 99.9 % interval holds the closed form",
        ),
        Basis.THEORY,
        FORM,
    )


def _steepness() -> tuple[Claim, ...]:
    return tuple(
        Claim(
            f"Behind {name} the loss goes from 1e-8 to 1e-3 while bit errors grow {factor} times",
            bounded(
                derived(partial(_range, line)),
                between((1 - WITHIN) * factor, (1 + WITHIN) * factor),
                unit="x",
                remark="by the closed form, which the runs agree with where they lose frames",
            ),
            Basis.THEORY,
            FORM,
        )
        for line in LINES
        if line.code in CLIFFS
        for name, factor in (CLIFFS[line.code],)
    )


def _range(line: Line, finished: Finished) -> float:
    """Return the bit error ratio of the run with a loss of 1e-3 over that of the run with one of 1e-8."""
    for loss in (1e-8, 1e-3):
        finished.run(key(STRESS, line, loss))
    return bits(line, 1e-3) / bits(line, 1e-8)


def _edges() -> tuple[Claim, ...]:
    return tuple(_edge(*one) for one in ((TCP, "TCP", 1e-3), (RDMA, "RDMA", 1e-2))) + tuple(
        _kept(experiment, name, line)
        for experiment, name in ((TCP, "TCP"), (RDMA, "RDMA"))
        for line in LINES
        if line.code in CLIFFS
    )


def _edge(experiment: str, name: str, loss: float) -> Claim:
    """Judge that the tail without protection is over the cliff."""
    return Claim(
        f"{name} without protection: behind KP4 the 99.9th percentile is ten times longer at a bit error "
        f"ratio of {bits(KP4, loss):.3g} than at {bits(KP4, LOSS_RATES[0]):.3g}",
        bounded(_ratio(experiment, KP4, loss, "none"), at_least(10.0), unit="x"),
        Basis.PREDICTION,
        "ours, 99.9th percentile",
    )


def _kept(experiment: str, name: str, line: Line) -> Claim:
    loss = LOSS_RATES[-1]
    return Claim(
        f"{name} with LLR: behind {CLIFFS[line.code][0]} the 99.9th percentile stays within {EDGE:g} times "
        f"to a bit error ratio of {bits(line, loss):.3g}",
        bounded(_ratio(experiment, line, loss, "llr"), at_most(EDGE, slack=ROUNDED_BOUND_SLACK), unit="x"),
        Basis.PREDICTION,
        "ours, 99.9th percentile",
    )


def _ratio(experiment: str, line: Line, loss: float, protection: str) -> Measure:
    """Return how many times longer a tail is than without protection at the least bit error ratio."""
    sample, clean = (key(experiment, line, loss), protection), (key(experiment, line, LOSS_RATES[0]), "none")
    return completion_ratio(sample, clean, 99.9)
