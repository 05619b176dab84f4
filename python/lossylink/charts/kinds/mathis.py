"""Figures 3 and 4 of the Mathis study: measured against modelled bandwidth, and the window against loss.

Points are coloured by RTT and shaped by MSS and carry 95 % intervals. Beside them run the law with C = 1
(slope 1), the law with sqrt(3/2), and PFTK, which describes a TCP without SACK, RACK and tail-loss probes:
where losses are frequent a modern stack is faster than it, and that is the point.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars

from lossylink.charts.chart import Axis, Chart, Key, Marker, Series, Sheet, embedded
from lossylink.charts.chart import points as published_points
from lossylink.charts.kinds._kind import CannotDrawError, Kind
from lossylink.charts.mathis_curves import PublishedPoint, curves, points
from lossylink.charts.samples import Sample, with_keys

RTT_SLOTS = ("blue", "green", "orange", "vermillion", "purple", "sky", "black")
PUBLISHED = "published, trial 5"
WINDOW = ("window_segments", "window_low_segments", "window_high_segments")
MARKERS: tuple[Marker, ...] = ("circle", "square", "triangle", "diamond")
CAPTION = (
    "Colour is the round-trip time, shape the segment size ({words}); bars are 95 % intervals. "
    "Lines: the law with C = 1 and with the square root of 3/2; PFTK by RTT."
)
CAPTION_PUBLISHED = " Black squares are the study's trial 5, with the mistake and without."


def sheet(samples: Sequence[Sample]) -> Sheet:
    """Both figures."""
    rows = [dict(one.row) for one in with_keys(samples, "mss_requested_bytes", "model_mbps", "measured_mbps")]
    if not rows:
        raise CannotDrawError("no run has trials of the study; run mathis")
    return Sheet("mathis", mathis_charts(rows), columns=2)


def mathis_charts(
    rows: Iterable[Mapping[str, Any]], published: Sequence[PublishedPoint] = ()
) -> tuple[Chart, Chart]:
    """Make both charts of rows of the study; trials that somebody else measured are black squares.

    Raises
    ------
    ValueError
        There is no row.
    """
    frame = points(rows)
    if frame.is_empty():
        raise ValueError("no row to draw: run at least one trial")
    shapes = zip(MARKERS, frame["mss_bytes"].unique().sort(), strict=False)
    caption = CAPTION.format(words=", ".join(f"{marker} {size} B" for marker, size in shapes))
    caption += CAPTION_PUBLISHED if published else ""
    return _figure3(frame, caption, published), _figure4(frame, caption, published)


def _figure3(frame: polars.DataFrame, caption: str, published: Sequence[PublishedPoint]) -> Chart:
    in_mbps = frame.with_columns(polars.col("^.*_bps$") / 1e6)
    models = _models(frame).with_columns(polars.col("^.*_bps$") / 1e6)
    ends = np.array([in_mbps["model_bps"].min(), in_mbps["model_bps"].max()], dtype=np.float64)
    law = ends * np.sqrt(1.5)
    floor = float(in_mbps.select(polars.min_horizontal("measured_bps", "low_bps").min()).item()) / 2
    return Chart(
        "mathis-figure3",
        "Figure 3: measured against modelled bandwidth",
        caption,
        Axis("MSS / (RTT √p)", "Mb/s", "log"),
        Axis("measured", "Mb/s", "log"),
        (
            Series("C = 1: slope 1", "black", embedded(ends), embedded(ends)),
            Series("C = √(3/2)", "black", embedded(ends), embedded(law), dashed=True),
            *_pftk(models, "model_bps", "pftk_bps", floor),
            *_scatter(in_mbps, "model_bps", ("measured_bps", "low_bps", "high_bps")),
            *_squares([(point.model_bps / 1e6, point.measured_mbps) for point in published]),
        ),
        read="nearest",
        keys=_keys(frame),
        is_large=True,
    )


def _figure4(frame: polars.DataFrame, caption: str, published: Sequence[PublishedPoint]) -> Chart:
    models = _models(frame)
    first = models.filter(polars.col("rtt_ms") == models["rtt_ms"][0])
    losses = embedded(first["loss_ratio"])
    floor = float(frame["window_segments"].min()) / 2  # type: ignore[arg-type]
    return Chart(
        "mathis-figure4",
        "Figure 4: window against loss",
        caption,
        Axis("loss ratio p", "", "log"),
        Axis("BW · RTT / MSS", "segments", "log"),
        (
            Series("C = 1: slope 1", "black", losses, embedded(1 / np.sqrt(first["loss_ratio"].to_numpy()))),
            Series("C = √(3/2)", "black", losses, embedded(first["sqrt32_segments"]), dashed=True),
            *_pftk(models, "loss_ratio", "pftk_segments", floor),
            *_scatter(
                frame, "loss_ratio", ("window_segments", "window_low_segments", "window_high_segments")
            ),
            *_squares([(point.loss_ratio, point.window_segments) for point in published]),
        ),
        read="nearest",
        keys=_keys(frame),
        is_large=True,
    )


def _times(frame: polars.DataFrame) -> list[float]:
    return [float(rtt) for rtt in frame["rtt_ms"].unique().sort()]


def _sizes(frame: polars.DataFrame) -> list[int]:
    return [int(size) for size in frame["mss_bytes"].unique().sort()]


def _keys(frame: polars.DataFrame) -> tuple[Key, ...]:
    return tuple(
        Key(f"MSS {size} B", MARKERS[place % len(MARKERS)], hollow=True)
        for place, size in enumerate(_sizes(frame))
    )


def _models(frame: polars.DataFrame) -> polars.DataFrame:
    """Compute the curves over the points' own range of loss ratios, for the middle segment size."""
    low, high = float(frame["loss_ratio"].min()), float(frame["loss_ratio"].max())  # type: ignore[arg-type]
    sizes = _sizes(frame)
    return curves(
        rtt_ms=_times(frame),
        loss_min=low / 1.2,
        loss_max=min(0.99, high * 1.2),
        mss_bytes=sizes[len(sizes) // 2],
    )


def _pftk(models: polars.DataFrame, x: str, y: str, floor: float) -> list[Series]:
    """Return a dashed curve a round-trip time, down to ``floor``, of which legends show the first."""
    found = []
    for place, rtt in enumerate(_times(models)):
        one = models.filter((polars.col("rtt_ms") == rtt) & (polars.col(y) >= floor)).gather_every(2)
        slot = RTT_SLOTS[place % len(RTT_SLOTS)]
        found.append(
            Series("PFTK, by RTT", slot, embedded(one[x]), embedded(one[y]), dashed=True, is_quiet=place > 0)
        )
    return found


def _squares(places: Sequence[tuple[float, float]]) -> list[Series]:
    if not places:
        return []
    x, y = zip(*places, strict=True)
    squares = published_points(PUBLISHED, "black", x, y, marker="square")
    return [replace(squares, hollow=(False,) * len(x))]


def _scatter(frame: polars.DataFrame, x: str, ys: tuple[str, str, str]) -> list[Series]:
    """One series a round-trip time; a trial without a loss event has an interval of no height."""
    value, low, high = ys
    sizes = _sizes(frame)
    filled = frame.with_columns(polars.col(low, high).fill_null(polars.col(value)))
    found = []
    for place, rtt in enumerate(_times(frame)):
        group = filled.filter(polars.col("rtt_ms") == rtt)
        words = group.select("mss_bytes", "loss_ratio").rows()
        found.append(
            Series(
                f"RTT {rtt:g} ms",
                RTT_SLOTS[place % len(RTT_SLOTS)],
                embedded(group[x]),
                embedded(group[value]),
                kind="points",
                markers=tuple(MARKERS[sizes.index(size) % len(MARKERS)] for size in group["mss_bytes"]),
                y_low=embedded(group[low]),
                y_high=embedded(group[high]),
                labels=tuple(f"MSS {size} B, p = {loss:.3g}" for size, loss in words),
            )
        )
    return found


KIND = Kind(name="mathis", place=30, summary="figures 3 and 4 of the Mathis study", sheet=sheet)
