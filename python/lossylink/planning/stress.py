"""The stress experiment as the planner uses it: a link that is kept busy, with every frame followed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

from lossylink import _native
from lossylink.errors import UserError
from lossylink.planning.link import PROBE_FRAMES, Link
from lossylink.planning.prediction import NONE_SEEN, SIMULATED, Figure, Prediction
from lossylink.scenario.resolving import resolve
from lossylink.statistics import CONFIDENCE


def simulate(
    link: Link,
    protection: str,
    *,
    packets: int,
    seed: int = 1,
    progress: Callable[[float, float], None] | None = None,
) -> dict[str, Any]:
    """Run the stress experiment without the machinery of runs, and return its row.

    Beyond the experiment's keys it has latencies from offer to delivery.

    Raises
    ------
    UserError
        The simulator refuses the link; one line says why.
    """
    given = configured(link, protection, packets=packets, seed=seed)
    given["traffic"]["follow"] = True
    text = json.dumps(given)
    return dict(_row(text) if progress is None else _simulated(text, progress))


@lru_cache(maxsize=1024)
def _row(configuration: str) -> dict[str, Any]:
    """Return the row of a configuration: links of one grid are often tried by the same run."""
    return _simulated(configuration, None)


def _simulated(configuration: str, progress: Callable[[float, float], None] | None) -> dict[str, Any]:
    try:
        outcome = _native.Simulation(configuration).run(progress)
    except ValueError as error:
        raise UserError(f"the loss or the link cannot be simulated: {error}") from None
    row: dict[str, Any] = outcome["row"]
    return row


def configured(link: Link, protection: str, *, packets: int = PROBE_FRAMES, seed: int = 1) -> dict[str, Any]:
    """Return the simulator's configuration: the stress experiment on a link that is kept busy."""
    given: dict[str, Any] = json.loads(_configured(replace(link, loss_ratio=0.5, loss=None), protection))
    given["seed"], given["traffic"]["packets"] = seed, packets
    given["loss"]["forward"] = link.loss.native_at(link.rate_bps) if link.loss else dict(link.native_loss)
    return given


@lru_cache(maxsize=64)
def _configured(link: Link, protection: str) -> str:
    """Return the configuration in JSON, whatever the losses: a figure asks for hundreds of them."""
    scenario = resolve("stress", settings=_settings(link), protection=[protection])
    return json.dumps(scenario.setups[0].configuration)


def _settings(link: Link) -> dict[str, Any]:
    """The link as settings of the stress experiment, with a source that keeps it busy."""
    return {
        "link.rate": f"{link.rate_bps}bps",
        "link.propagation": f"{link.propagation_ps}ps",
        "link.mtu": max(link.frame_bytes - 14, 46),
        "loss.reverse": "0",
        "switch.profile": link.switch,
        "traffic.packets": PROBE_FRAMES,
        "traffic.frame": link.frame_bytes,
        "traffic.source": "saturated",
    }


def late_us(row: dict[str, Any]) -> float | None:
    """How late a corrupted frame was in the median of a run, in microseconds, if one came.

    Lateness is the latency from offer to delivery beyond the shortest of the run, that of a frame which
    nothing hindered.
    """
    median = row["latency_us_corrupted_p50"]
    return None if median is None else float(median - row["latency_us_min"])


def latest_us(row: dict[str, Any]) -> float | None:
    """How late the latest of all frames was, in microseconds, corrupted or not."""
    most = row["latency_us_max"]
    return None if most is None else float(most - row["latency_us_min"])


def loss_interval(row: dict[str, Any], *, confidence: float) -> tuple[float, float]:
    """Return the interval of the effective loss of a row; losses that come together are one event."""
    counts = row["effective_lost_packets"], row["packets_sent"]
    clusters = row["effective_loss_design_effect"], row["effective_loss_batches"]
    return _native.clustered_interval(*counts, *clusters, confidence)


def simulated_loss(row: dict[str, Any]) -> Figure:
    """Return the effective loss that a run saw, with its interval."""
    low, high = loss_interval(row, confidence=CONFIDENCE)
    return Figure(row["effective_loss_rate"], SIMULATED, low, high)


def _of_shown(loss: Figure, link: Link, lost_together: float) -> Figure:
    """Return a loss with the interval of a recording, which the run may have repeated.

    The interval grows with the square root of the repeats, and up to that of no loss in the recording at the
    least.
    """
    repeats = link.probe_frames / link.shown_frames
    if repeats <= 1:
        return loss
    assert loss.value is not None
    assert loss.low is not None
    assert loss.high is not None
    low = loss.value - repeats**0.5 * (loss.value - loss.low)
    high = loss.value + repeats**0.5 * (loss.high - loss.value)
    least = NONE_SEEN * max(1.0, lost_together) / link.shown_frames
    return replace(loss, low=max(0.0, low), high=min(1.0, max(high, least)))


def by_simulation(link: Link, prediction: Prediction, *, is_model: bool = False) -> Prediction:
    """Return a prediction with what a run of the listed losses gives, for nothing else knows of them.

    The loss that was predicted is kept beside it if it is that of a model of these losses.
    """
    row = simulate(link, prediction.protection, packets=link.probe_frames)
    late, latest, together = late_us(row), latest_us(row), prediction.lost_together
    worst = prediction.added_latency_us_worst
    if latest is not None and worst.value is not None and latest > worst.value:
        worst = Figure(latest, SIMULATED)
    return replace(
        prediction,
        frames_run=link.shown_frames,
        by_model=prediction.effective_loss_ratio if is_model else None,
        effective_loss_ratio=_of_shown(simulated_loss(row), link, together),
        effective_speed_gbps=Figure(row["effective_link_speed_gbps"], SIMULATED),
        added_latency_us_typical=prediction.added_latency_us_typical
        if late is None
        else Figure(late, SIMULATED),
        added_latency_us_worst=worst,
    )
