"""Holds a plan against the simulator: prediction beside measurement, quantity by quantity.

Latencies are those of frames, from offer to delivery. Lateness is what exceeds the shortest of the run. A
quantity that a run of this size could not have contradicted is called not testable.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from lossylink.planning.planner import Plan
from lossylink.planning.prediction import BOUND, CHAIN, ESTIMATE, EXACT, SIMULATED, Figure, Prediction
from lossylink.planning.stress import late_us, latest_us, loss_interval, simulate

FRAMES: Final = 1_000_000
TOLERANCES: Final = {EXACT: 0.05, CHAIN: 0.05, SIMULATED: 0.1, ESTIMATE: 0.3}
"""Relative errors that count as agreement; a bound must not be exceeded by more than `EXCESS`."""
EXCESS: Final = 1.05
MEDIANS: Final = 0.2
"""More of it for medians of waits for each other, which two short runs give."""
SIGMAS: Final = 3.0
LOSS_CONFIDENCE: Final = 0.999
"""Of the intervals of losses: at 95 % one sound prediction in twenty would be said to differ."""
UNIFORM_DEVIATION: Final = 0.577
"""Standard deviation over mean of a uniform wait from zero, 1 / sqrt(3)."""

AGREES: Final = "agrees"
DIFFERS: Final = "differs"
NOT_TESTABLE: Final = "not testable at this size"


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One predicted quantity and what the simulator measured."""

    protection: str
    quantity: str
    predicted: float
    measured: float | None
    """None where no frame showed it."""
    low: float | None = None
    """The interval of a measured loss; of none lost the upper bound."""
    high: float | None = None
    validation: str
    verdict: str
    """One of `AGREES`, `DIFFERS` and `NOT_TESTABLE`."""

    @property
    def agrees(self) -> bool:
        """Whether nothing speaks against the prediction."""
        return self.verdict != DIFFERS

    def row(self) -> dict[str, Any]:
        """Plain values."""
        return {**self.__dict__}


def verify(
    plan: Plan,
    *,
    packets: int = FRAMES,
    seed: int = 1,
    progress: Callable[[float, float], None] | None = None,
) -> list[Comparison]:
    """Run the simulator for every protection of a plan and compare.

    Parameters
    ----------
    plan
        What was predicted.
    packets
        Frames to send for each protection.
    seed
        Decides every random draw.
    progress
        Called with the work done and the whole work.
    """
    comparisons = []
    for number, prediction in enumerate(plan.predictions):
        done, whole = number * packets, len(plan.predictions) * packets

        def report(frames: float, _: float, done: int = done, whole: int = whole) -> None:
            if progress is not None:
                progress(done + frames, whole)

        row = simulate(plan.link, prediction.protection, packets=packets, seed=seed, progress=report)
        comparisons += compare(prediction, row)
    return comparisons


def compare(prediction: Prediction, row: dict[str, Any]) -> list[Comparison]:
    """Compare one protection with its row of `lossylink.planning.stress.simulate`."""
    judged = {
        "effective_loss_ratio": _loss(prediction, row),
        "effective_speed_gbps": _near(prediction.effective_speed_gbps, row["effective_link_speed_gbps"]),
        "added_latency_us_typical": _typical(prediction.added_latency_us_typical, row),
        "added_latency_us_worst": _worst(prediction.added_latency_us_worst, row),
        "sender_buffer_kb": _near(prediction.sender_buffer_kb, row["tx_buffer_kb_max"]),
        "receiver_buffer_kb": _near(prediction.receiver_buffer_kb, row["rx_buffer_kb_max"]),
    }
    return [
        Comparison(
            protection=prediction.protection,
            quantity=quantity,
            predicted=value,
            validation=prediction.figure(quantity).validation,
            **found,
        )
        for quantity, found in judged.items()
        if (value := prediction.figure(quantity).value) is not None
    ]


def _loss(prediction: Prediction, row: dict[str, Any]) -> dict[str, Any]:
    """Whether the interval of the measured loss covers the prediction.

    Losses that come together are one event, and events are what counts: the interval is wide where they are
    few. Without an event, or with none expected, the interval can only contradict. A prediction from a short
    run has an interval of its own.
    """
    figure = prediction.effective_loss_ratio
    assert figure.value is not None
    low, high = loss_interval(row, confidence=LOSS_CONFIDENCE)
    measured = row["effective_loss_rate"]
    found = {"measured": measured, "low": low, "high": high}
    least, most = figure.low, figure.high
    if least is None or most is None:
        least = most = figure.value
    overlaps = low <= most and least <= high
    near = (
        figure.validation == SIMULATED
        and abs(measured - figure.value) <= TOLERANCES[SIMULATED] * figure.value
    )
    if not (overlaps or near):
        return found | {"verdict": DIFFERS}
    expected_events = figure.value * row["packets_sent"] / prediction.lost_together
    seen_too_few = row["effective_lost_packets"] == 0 or expected_events < 1
    return found | {"verdict": NOT_TESTABLE if seen_too_few else AGREES}


def _near(figure: Figure, measured: float, tolerance: float = 0.0) -> dict[str, Any]:
    """Whether a measured figure is as near as the kind of prediction promises."""
    if figure.value is None:
        return {}
    if figure.validation == BOUND:
        is_near = measured <= figure.value * EXCESS
    else:
        tolerance += TOLERANCES[figure.validation]
        is_near = abs(measured - figure.value) <= tolerance * figure.value
    return {"measured": measured, "verdict": AGREES if is_near else DIFFERS}


def _typical(figure: Figure, row: dict[str, Any]) -> dict[str, Any]:
    """How late corrupted frames came: on average where there is a closed form, else in the median."""
    measured, count = late_us(row), row["corrupted_delivered"]
    if figure.validation == EXACT and measured is not None:
        measured = row["latency_us_corrupted_mean"] - row["latency_us_min"]
    if measured is None:
        return {"measured": None, "verdict": NOT_TESTABLE}
    # The mean of n waits, each anywhere in its block, is itself uncertain; waits for each other more so.
    uncertain = SIGMAS * UNIFORM_DEVIATION / math.sqrt(count)
    return _near(figure, measured, uncertain + (MEDIANS if figure.validation == SIMULATED else 0.0))


def _worst(figure: Figure, row: dict[str, Any]) -> dict[str, Any]:
    """How late the latest of all frames came; without a corrupted frame that came, nothing had to wait."""
    measured = latest_us(row)
    if measured is None or row["corrupted_delivered"] == 0:
        return {"measured": measured, "verdict": NOT_TESTABLE}
    return _near(figure, measured)
