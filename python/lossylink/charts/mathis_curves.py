"""The data behind figures 3 and 4: points with their bars, and the curves of the models, as frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import polars

from lossylink.theory import mathis, pftk

CURVE_POINTS = 97
"""Points of a curve: 24 a decade over the four decades of the study's loss ratios."""


@dataclass(frozen=True, kw_only=True)
class PublishedPoint:
    """A trial that somebody else measured."""

    mss_bytes: int
    rtt_ms: float
    loss_ratio: float
    measured_mbps: float

    @property
    def model_bps(self) -> float:
        """MSS / (RTT sqrt(p)), bits a second."""
        return self.mss_bytes * 8 / (self.rtt_ms / 1e3 * sqrt(self.loss_ratio))

    @property
    def measured_bps(self) -> float:
        """Bits a second."""
        return self.measured_mbps * 1e6

    @property
    def window_segments(self) -> float:
        """BW * RTT / MSS."""
        return self.measured_bps * self.rtt_ms / 1e3 / (self.mss_bytes * 8)


def points(rows: Iterable[Mapping[str, Any]]) -> polars.DataFrame:
    """Turn rows into the points of both figures.

    Parameters
    ----------
    rows
        Rows of the study, of one protection.

    Returns
    -------
    polars.DataFrame
        One row a trial: `mss_bytes` (as asked for), `rtt_ms`, `loss_ratio`, `model_bps`, `measured_bps` with
        `low_bps` and `high_bps` (95 %, null without a loss event), and `window_segments`, its low and high:
        BW * RTT / MSS, figure 4's axis.
    """
    return polars.DataFrame([_point(row) for row in rows], infer_schema_length=None)


def _point(row: Mapping[str, Any]) -> dict[str, float | int | None]:
    per_window = row["mss_requested_bytes"] * 8 / (row["rtt_ms"] / 1e3)
    measured = row["measured_mbps"] * 1e6
    interval = row["measured_mbps_ci95"]
    low, high = (bound * 1e6 for bound in interval) if interval is not None else (None, None)
    return {
        "mss_bytes": row["mss_requested_bytes"],
        "rtt_ms": row["rtt_ms"],
        "loss_ratio": row["loss_ratio"],
        "model_bps": row["model_mbps"] * 1e6,
        "measured_bps": measured,
        "low_bps": low,
        "high_bps": high,
        "window_segments": measured / per_window,
        "window_low_segments": None if low is None else low / per_window,
        "window_high_segments": None if high is None else high / per_window,
    }


def curves(
    *,
    rtt_ms: Sequence[float],
    loss_min: float,
    loss_max: float,
    mss_bytes: int = 1460,
    rto_min_s: float = pftk.LINUX_RTO_MIN_S,
) -> polars.DataFrame:
    """Compute the models along the loss axis, for each RTT.

    Parameters
    ----------
    rtt_ms
        Round-trip times in milliseconds.
    loss_min, loss_max
        Ends of the curves; both above 0 and below 1.
    mss_bytes
        Segment size for the columns in b/s. Windows, figure 4's axis, do not depend on it.
    rto_min_s
        Minimum retransmission timeout, for PFTK.

    Returns
    -------
    polars.DataFrame
        `rtt_ms`, `loss_ratio`, `model_bps` (C = 1), `sqrt32_bps`, `pftk_bps`, `sqrt32_segments` and
        `pftk_segments`.

    Examples
    --------
    >>> curves(rtt_ms=[6.0], loss_min=1e-3, loss_max=1e-1).columns
    ['rtt_ms', 'loss_ratio', 'model_bps', 'sqrt32_bps', 'pftk_bps', 'sqrt32_segments', 'pftk_segments']
    """
    loss = np.geomspace(loss_min, loss_max, CURVE_POINTS)
    return polars.concat(
        _curves_of_one_rtt(rtt / 1e3, loss, mss_bytes=mss_bytes, rto_min_s=rto_min_s) for rtt in rtt_ms
    )


def _curves_of_one_rtt(
    rtt_s: float, loss: np.ndarray[Any, np.dtype[np.float64]], *, mss_bytes: int, rto_min_s: float
) -> polars.DataFrame:
    bits_per_window = mss_bytes * 8 / rtt_s
    rate = pftk.segments_per_second(
        rtt_s=rtt_s, loss_ratio=loss, rto_s=pftk.rto_s(rtt_s=rtt_s, rto_min_s=rto_min_s)
    )
    law = mathis.window_segments(loss_ratio=loss, constant=mathis.PERIODIC)
    return polars.DataFrame(
        {
            "rtt_ms": np.full(loss.size, rtt_s * 1e3),
            "loss_ratio": loss,
            "model_bps": mathis.window_segments(loss_ratio=loss, constant=mathis.UNIT) * bits_per_window,
            "sqrt32_bps": law * bits_per_window,
            "pftk_bps": rate * rtt_s * bits_per_window,
            "sqrt32_segments": law,
            "pftk_segments": rate * rtt_s,
        }
    )
