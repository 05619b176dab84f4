"""Holds a plan against the simulator: prediction beside measurement, quantity by quantity."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from lossylink.plan.link import Link
from lossylink.plan.planner import Plan
from lossylink.plan.prediction import BOUND, ESTIMATE, EXACT, KEYS, SIMULATED, Figure, Prediction
from lossylink.plan.stress import PROBE_FRAMES, stress_settings
from lossylink.protections import Observation, family_of

FRAMES: Final = 1_000_000
TOLERANCES: Final = {EXACT: 0.05, SIMULATED: 0.1, ESTIMATE: 0.3}
"""Relative errors that count as agreement; a bound must not be exceeded by more than `EXCESS`."""
EXCESS: Final = 1.05
SIGMAS: Final = 3.0
LOSS_CONFIDENCE: Final = 0.999
"""Of the intervals of losses: at 95 % one sound prediction in twenty would be said to differ."""
UNIFORM_DEVIATION: Final = 0.577
"""Standard deviation over mean of a uniform wait from zero, 1 / sqrt(3)."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One predicted quantity and what the simulator measured."""

    protection: str
    quantity: str
    predicted: float
    measured: float
    validation: str
    agrees: bool

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
    from lossylink import runner

    result = runner.run(
        "stress",
        protection=[prediction.protection for prediction in plan.predictions],
        settings=stress_settings(plan.link, packets=packets),
        seed=seed,
        progress=progress,
    )
    measured = {row["protection"]: row for row in result.rows.to_dicts()}
    return [
        comparison
        for prediction in plan.predictions
        if prediction.protection in measured
        for comparison in compare(plan.link, prediction, measured[prediction.protection])
    ]


def compare(link: Link, prediction: Prediction, row: dict[str, Any]) -> list[Comparison]:
    """Compare one protection with its row of the stress experiment."""
    comparisons = []
    seen = family_of(prediction.protection).observe(link, row)
    for key, measured in _measured(row, seen).items():
        figure = prediction.figure(key)
        if figure.value is None or measured is None:
            continue
        is_loss = key == "effective_loss_ratio"
        comparisons.append(
            Comparison(
                protection=prediction.protection,
                quantity=key,
                predicted=figure.value,
                measured=measured,
                validation=figure.validation,
                agrees=_loss_agrees(figure, row, seen) if is_loss else _agrees(key, figure, measured, seen),
            )
        )
    return comparisons


def _measured(row: dict[str, Any], seen: Observation) -> dict[str, float | None]:
    """What the simulator's row says about the predicted quantities."""
    measured: dict[str, float | None] = {
        "effective_loss_ratio": row["effective_loss_rate"],
        "effective_speed_gbps": row["effective_link_speed_gbps"],
        "added_latency_us_typical": seen.late_us_typical,
        "added_latency_us_worst": seen.late_us_worst,
        "sender_buffer_kb": row["tx_buffer_kb_max"],
        "receiver_buffer_kb": row["rx_buffer_kb_max"],
    }
    return {key: measured[key] for key in KEYS}


def _loss_agrees(figure: Figure, row: dict[str, Any], seen: Observation) -> bool:
    """Whether the interval of the measured loss covers the prediction.

    Losses that come together are one event, and events are what is counted. A prediction from a short run
    is itself a count, with an interval of its own.
    """
    from lossylink.statistics import binomial_interval  # scipy takes longer to load than a plan to make

    assert figure.value is not None
    events = round(row["effective_lost_packets"] / seen.lost_together)
    trials = max(1, round(row["packets_sent"] / seen.lost_together))
    measured = binomial_interval(min(events, trials), trials, confidence=LOSS_CONFIDENCE)
    if figure.validation != SIMULATED:
        return measured.contains(figure.value)
    probe = binomial_interval(round(figure.value * PROBE_FRAMES), PROBE_FRAMES, confidence=LOSS_CONFIDENCE)
    near = abs(measured.value - figure.value) <= TOLERANCES[SIMULATED] * figure.value
    return near or (measured.low <= probe.high and probe.low <= measured.high)


def _agrees(key: str, figure: Figure, measured: float, seen: Observation) -> bool:
    assert figure.value is not None
    if figure.validation == BOUND:
        return measured <= figure.value * EXCESS
    tolerance = TOLERANCES[figure.validation]
    if key == "added_latency_us_typical":
        # The mean of n waits, each anywhere in its block, is itself uncertain.
        tolerance += SIGMAS * UNIFORM_DEVIATION / math.sqrt(seen.recovered)
    return abs(measured - figure.value) <= tolerance * figure.value
