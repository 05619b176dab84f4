"""Figures 3 and 4 of the Mathis study as charts: points coloured by RTT and shaped by MSS."""

from __future__ import annotations

from collections.abc import Sequence

import polars

from lossylink.experiments.mathis.curves import PublishedPoint, curves, points
from lossylink.report.chart import Axis, Chart, Marker, Series, embedded
from lossylink.report.chart import points as published_points
from lossylink.report.palette import ORDERED_SLOTS
from lossylink.results import Run

PUBLISHED = "published, trial 5"
MARKERS: tuple[Marker, ...] = ("circle", "square", "triangle", "diamond")


def mathis_charts(run: Run, published: Sequence[PublishedPoint]) -> tuple[Chart, ...]:
    """Measured against modelled bandwidth, and the window against loss; open squares are published."""
    frame = points(run.rows.to_dicts())
    times = frame["rtt_ms"].unique().sort().to_list()
    shapes = zip(MARKERS, frame["mss_bytes"].unique().sort(), strict=False)
    words = ", ".join(f"{marker} {size} B" for marker, size in shapes)
    caption = f"Colour is the round-trip time, shape the segment size ({words}); bars are 95 % intervals."
    caption += " Black squares are the study's trial 5, with the mistake and without."
    return _figure3(frame, times, caption, published), _figure4(frame, times, caption, published)


def _figure3(
    frame: polars.DataFrame, times: list[float], caption: str, published: Sequence[PublishedPoint]
) -> Chart:
    in_mbps = frame.with_columns(polars.col("^.*_bps$") / 1e6)
    ends = embedded(in_mbps["model_bps"].sort().to_numpy()[[0, -1]])
    return Chart(
        "mathis-figure3",
        "Figure 3: measured against modelled bandwidth",
        caption,
        Axis("MSS / (RTT √p)", "Mb/s", "log"),
        Axis("measured", "Mb/s", "log"),
        (
            Series("slope 1", "black", ends, ends, dashed=True),
            *_scatter(in_mbps, times, "model_bps", ("measured_bps", "low_bps", "high_bps")),
            published_points(
                PUBLISHED,
                "black",
                [point.model_bps / 1e6 for point in published],
                [point.measured_mbps for point in published],
                marker="square",
            ),
        ),
        read="nearest",
    )


def _figure4(
    frame: polars.DataFrame, times: list[float], caption: str, published: Sequence[PublishedPoint]
) -> Chart:
    losses = frame["loss_ratio"].to_numpy()
    models = curves(rtt_ms=times[:1], loss_min=float(losses.min()), loss_max=float(losses.max()))
    window = ("window_segments", "window_low_segments", "window_high_segments")
    return Chart(
        "mathis-figure4",
        "Figure 4: window against loss",
        caption,
        Axis("loss ratio p", "", "log"),
        Axis("BW · RTT / MSS", "segments", "log"),
        (
            _curve("√(3/2) / √p", models, "sqrt32_segments", "black", dashed=True),
            _curve(f"PFTK, RTT {times[0]:g} ms", models, "pftk_segments", "grey"),
            *_scatter(frame, times, "loss_ratio", window),
            published_points(
                PUBLISHED,
                "black",
                [point.loss_ratio for point in published],
                [point.window_segments for point in published],
                marker="square",
            ),
        ),
        read="nearest",
    )


def _curve(name: str, models: polars.DataFrame, key: str, slot: str, *, dashed: bool = False) -> Series:
    return Series(name, slot, embedded(models["loss_ratio"]), embedded(models[key]), dashed=dashed)


def _scatter(frame: polars.DataFrame, times: list[float], x: str, ys: tuple[str, str, str]) -> list[Series]:
    """One series a round-trip time; a trial without a loss event has a bar of no height."""
    value, low, high = ys
    sizes = frame["mss_bytes"].unique().sort().to_list()
    filled = frame.with_columns(polars.col(low, high).fill_null(polars.col(value)))
    found = []
    for place, rtt in enumerate(times):
        group = filled.filter(polars.col("rtt_ms") == rtt)
        words = group.select("mss_bytes", "loss_ratio").rows()
        found.append(
            Series(
                f"RTT {rtt:g} ms",
                ORDERED_SLOTS[place % len(ORDERED_SLOTS)],
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
