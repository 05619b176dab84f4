"""Holds a plan against the simulator: prediction beside measurement, quantity by quantity."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from lossylink.plan.link import Link
from lossylink.plan.linkguardian import PROBE_FRAMES, stress_settings
from lossylink.plan.planner import Plan
from lossylink.plan.prediction import BOUND, ESTIMATE, EXACT, KEYS, SIMULATED, Figure, Prediction
from lossylink.theory import fec
from lossylink.theory.linkguardian import HEADER_BYTES

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
    for key, measured in _measured(link, row).items():
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
                agrees=_loss_agrees(figure, row) if is_loss else _agrees(key, figure, measured, row),
            )
        )
    return comparisons


def _measured(link: Link, row: dict[str, Any]) -> dict[str, float | None]:
    """What the simulator's row says about the predicted quantities."""
    typical, worst = _late_us(link, row)
    measured: dict[str, float | None] = {
        "effective_loss_ratio": row["effective_loss_rate"],
        "effective_speed_gbps": row["effective_link_speed_gbps"],
        "added_latency_us_typical": typical,
        "added_latency_us_worst": worst,
        "sender_buffer_kb": row["tx_buffer_kb_max"],
        "receiver_buffer_kb": row["rx_buffer_kb_max"],
    }
    return {key: measured[key] for key in KEYS}


def _late_us(link: Link, row: dict[str, Any]) -> tuple[float | None, float | None]:
    """How late recovered frames were: typically, and at worst."""
    intact = row.get("latency_us_intact_mean")
    if intact is not None:
        mean, longest = row["latency_us_recovered_mean"], row["latency_us_recovered_max"]
        return (mean - intact, longest - intact) if mean is not None else (None, None)
    # The row counts from the next frame, which shows the loss.
    shown_us = link.serialisation_s(HEADER_BYTES) * 1e6
    typical, longest = row["retx_delay_us_p50"], row["retx_delay_us_max"]
    return (typical + shown_us, longest + shown_us) if typical is not None else (None, None)


def _loss_agrees(figure: Figure, row: dict[str, Any]) -> bool:
    """Whether the interval of the measured loss covers the prediction.

    Losses that a code leaves come in blocks: the blocks are what is counted. A prediction from a short run
    is itself a count, with an interval of its own.
    """
    from lossylink.statistics import binomial_interval  # scipy takes longer to load than a plan to make

    assert figure.value is not None
    together = _lost_together(row)
    events = round(row["effective_lost_packets"] / together)
    trials = max(1, round(row["packets_sent"] / together))
    measured = binomial_interval(min(events, trials), trials, confidence=LOSS_CONFIDENCE)
    if figure.validation != SIMULATED:
        return measured.contains(figure.value)
    probe = binomial_interval(round(figure.value * PROBE_FRAMES), PROBE_FRAMES, confidence=LOSS_CONFIDENCE)
    near = abs(measured.value - figure.value) <= TOLERANCES[SIMULATED] * figure.value
    return near or (measured.low <= probe.high and probe.low <= measured.high)


def _lost_together(row: dict[str, Any]) -> float:
    """Data packets that one event takes: those lost of a block that could not be rebuilt, else one."""
    k, h, loss = row.get("fec_k"), row.get("fec_h"), row["loss_rate"]
    if not k or not h:
        return 1.0
    code = {"data_packets": k, "parity_packets": h, "loss_ratio": loss}
    failures = float(fec.block_failure_ratio(**code))
    return max(1.0, k * float(fec.residual_loss_ratio(**code)) / failures) if failures else 1.0


def _agrees(key: str, figure: Figure, measured: float, row: dict[str, Any]) -> bool:
    assert figure.value is not None
    if figure.validation == BOUND:
        return measured <= figure.value * EXCESS
    tolerance = TOLERANCES[figure.validation]
    if key == "added_latency_us_typical":
        # The mean of n waits, each anywhere in its block, is itself uncertain.
        recovered = row.get("recovered_packets") or row["retransmissions"]
        tolerance += SIGMAS * UNIFORM_DEVIATION / math.sqrt(recovered)
    return abs(measured - figure.value) <= tolerance * figure.value
