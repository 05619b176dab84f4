"""What LinkGuardian would do on a link, in order and non-blocking."""

from __future__ import annotations

from collections.abc import Iterable

from lossylink.planning.families.linkguardian.prediction import (
    choose,
    loss_left,
    nonblocking_speed_gbps,
    predict,
)
from lossylink.planning.link import Link
from lossylink.planning.prediction import Outline, Prediction


def plan(link: Link, *, target: float, budget_us: float | None) -> Iterable[Prediction]:
    """Predict both modes with the copies that the target needs."""
    del budget_us  # its delays are the switch's: no parameter makes them shorter
    for ordered in (True, False):
        options = choose(link, target=target, ordered=ordered)
        yield predict(link, options, rare=target)


def outline(link: Link, *, target: float) -> Iterable[Outline]:
    """Outline the non-blocking mode: what the ordered mode leaves of the line is known from a run alone."""
    chosen = choose(link, target=target, ordered=False)
    yield Outline(chosen.spelling, loss_left(chosen, link), nonblocking_speed_gbps(link, chosen))
