"""From what the simulator measured to a row of the study: models beside the measurement, interval, checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lossylink.declared.protections import Protection
from lossylink.results import checks
from lossylink.running.mathis.design import PICOSECONDS_PER_MILLISECOND, PICOSECONDS_PER_SECOND, Trial
from lossylink.running.mathis.planned import Planned
from lossylink.theory import cubic, mathis, pftk

NORMAL_QUANTILE_95: Final = 1.959964
"""Standard normal quantile at 97.5 %: half of a two-sided 95 % interval."""

MEASURED: Final = (
    *("frames_offered", "frames_lost", "retransmissions", "timeouts"),
    *("loss_probes", "largest_frame_bytes", "queue_drops", "queue_bytes_max"),
)
"""Native entries that a row carries on as they are, for the checks and for whoever wants to look closer."""

LIVE: Final = (
    *("valid", "invalid_because", "lateness_us_p50", "lateness_us_p99", "lateness_us_max"),
    *("ping_rtt_ms_min", "ping_rtt_ms_mean", "ping_loss_percent"),
    *("segments_lost", "dsacks", "flow_retransmissions", "law_mbps", "law_ratio"),
)
"""What only a live run can tell; a simulated row goes without."""


def row_of(planned: Planned, native: Mapping[str, Any]) -> dict[str, Any]:
    """Build the row of one finished trial.

    Parameters
    ----------
    planned
        What was asked for and what was configured.
    native
        The backend's row.

    Returns
    -------
    dict
        The keys of the data dictionary; models use what was asked for, not what a mistaken set-up made of it.
    """
    trial, config = planned.trial, planned.config
    measured = float(native["measured_mbps"])
    models = _models(trial, config)
    row: dict[str, Any] = {
        "protection": Protection.of(config.get("protection", {"family": "none"})).label,
        "loss_rate": config["loss"]["forward"].get("p"),
        "link_gbps": config["link"]["rate_bps"] / 1e9,
        "congestion_control": config["transport"].get("congestion_control", "reno"),
        "trial": trial.index,
        "mss_bytes": native["mss_bytes"],
        "mss_requested_bytes": trial.mss_bytes,
        "rtt_ms": trial.rtt_ps / PICOSECONDS_PER_MILLISECOND,
        "loss_ratio": trial.loss_ratio,
        **models,
        "measured_mbps": measured,
        "measured_mbps_ci95": _measured_interval(native),
        "ratio": measured / models["model_mbps"],
        "ratio_sqrt32": measured / models["sqrt32_mbps"],
        "realised_loss_ratio": native.get("realised_loss_ratio"),
        "rtt_mean_ms": native["rtt_mean_ms"],
        "rtt_min_ms": native["rtt_min_ms"],
        "loss_events": native["loss_events"],
        "duration_s": native.get("duration_s", _measured_s(config)),
        "warmup_s": (config["run"].get("warmup_ps") or 0) / PICOSECONDS_PER_SECOND,
        "capped": planned.plan.capped,
        "link_scaled": planned.plan.link_scaled,
        "seed": trial.seed,
        **{key: native.get(key) for key in MEASURED},
        **{key: native[key] for key in LIVE if key in native},
        **planned.labels,
    }
    outcome = checks.run_checks(checks.evidence_from(row, config))
    return row | {"checks": checks.as_json(outcome)}


def _measured_interval(native: Mapping[str, Any]) -> list[float] | None:
    """Return the interval from the spans of a simulated run; of another from its loss events."""
    if "average_throughput_gbps_ci95" not in native:
        return bandwidth_interval(float(native["measured_mbps"]), native["loss_events"])
    of_spans = native["average_throughput_gbps_ci95"]
    return of_spans and [1e3 * end for end in of_spans]


def bandwidth_interval(measured_mbps: float, loss_events: int) -> list[float] | None:
    """Return the 95 % interval of a bandwidth from its loss events, or nothing when there were none.

    Examples
    --------
    >>> low, high = bandwidth_interval(100.0, 100)
    >>> round(low, 1), round(high, 1)
    (90.0, 110.0)
    """
    if loss_events < 1:
        return None
    half = NORMAL_QUANTILE_95 * float(mathis.relative_standard_error(loss_events=loss_events))
    return [max(0.0, measured_mbps * (1 - half)), measured_mbps * (1 + half)]


def _models(trial: Trial, config: Mapping[str, Any]) -> dict[str, float]:
    """Every closed form that a row shows beside the measurement, in Mb/s."""
    asked = {"mss_bytes": trial.mss_bytes, "rtt_s": trial.rtt_s, "loss_ratio": trial.loss_ratio}
    rto_min = config["transport"].get("rto_min_ps")
    rto_min_s = rto_min / PICOSECONDS_PER_SECOND if rto_min else pftk.LINUX_RTO_MIN_S
    rto = pftk.rto_s(rtt_s=trial.rtt_s, rto_min_s=rto_min_s)
    models = {
        "model_mbps": float(mathis.bandwidth_bps(**asked)) / 1e6,
        "sqrt32_mbps": float(mathis.bandwidth_bps(**asked, constant=mathis.PERIODIC)) / 1e6,
        "pftk_mbps": float(pftk.bandwidth_bps(**asked, rto_s=rto)) / 1e6,
    }
    if config["transport"].get("congestion_control") == "cubic":
        models["cubic_mbps"] = float(cubic.bandwidth_bps(**asked)) / 1e6
    return models


def _measured_s(config: Mapping[str, Any]) -> float:
    run = config["run"]
    outside = (run.get("warmup_ps") or 0) + (run.get("cooldown_ps") or 0)
    return float(run["duration_ps"] - outside) / PICOSECONDS_PER_SECOND
