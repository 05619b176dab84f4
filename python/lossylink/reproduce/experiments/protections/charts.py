"""What the comparison draws: speed against loss link by link, residual loss, and the map of go-back-N."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lossylink.report.chart import Axis, Chart, Marker, Series, embedded, points
from lossylink.report.palette import name_of, slots_of
from lossylink.reproduce.experiments.protections import window
from lossylink.reproduce.experiments.protections.jobs import PLACES, WORDS, Place, chosen
from lossylink.reproduce.experiments.protections.measures import (
    is_healthy,
    losses_run,
    residual,
    speed_gbps,
)
from lossylink.reproduce.framework.model import Finished, Published
from lossylink.statistics import Estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOSS_PLACE = Place(400, 100)
"""The link whose residual losses are drawn; those of the others hardly differ."""
_SLOTS = slots_of(WORDS)
_SIZE_SLOTS = dict(zip(window.FRAMES_BYTES, ("vermillion", "orange", "blue"), strict=True))


def charts(finished: Finished, _published: Published) -> tuple[Chart, ...]:
    """Speed on every link, residual loss on one, and two maps."""
    drawn = (*(_speed(finished, place) for place in PLACES), _residual(finished))
    return (*(chart for chart in drawn if chart is not None), *_maps(finished))


def _speed(finished: Finished, place: Place) -> Chart | None:
    series = []
    for word in WORDS:
        if losses := losses_run(finished, place, word):
            speeds = [speed_gbps(finished, place, loss, word) for loss in losses]
            values = embedded(losses), embedded(speeds)
            series.append(Series(name_of(word), _SLOTS[word], *values, dashed=word == "none"))
    if not series:
        return None
    return Chart(
        f"protections-speed-{place.gbps}g-{place.metres}m",
        f"Effective speed, {place.name}",
        "Full frames from a saturated source; each protection with the planner's parameters for 1e-8.",
        Axis("loss rate of the link", "", "log"),
        Axis("effective speed", "Gb/s", low=0.0),
        tuple(series),
    )


def _residual(finished: Finished) -> Chart | None:
    """Residual losses that were seen, with their intervals; where none was, the upper end of the interval."""
    series = []
    for word in WORDS:
        losses = losses_run(finished, LOSS_PLACE, word)
        seen: list[Estimate] = [residual(finished, LOSS_PLACE, loss, word) for loss in losses]
        if not seen:
            continue
        series.append(
            Series(
                name_of(word),
                _SLOTS[word],
                embedded(losses),
                embedded([one.value or one.high for one in seen]),
                kind="points",
                markers=tuple("circle" if one.value else "triangle" for one in seen),
                y_low=embedded([one.low or one.high for one in seen]),
                y_high=embedded([one.high for one in seen]),
                labels=tuple(chosen(LOSS_PLACE, loss)[word] for loss in losses),
            )
        )
    if not series:
        return None
    return Chart(
        "protections-residual",
        f"Residual loss, {LOSS_PLACE.name}",
        "With exact 95 % intervals. A triangle is the upper end of the interval where no frame was lost.",
        Axis("loss rate of the link", "", "log"),
        Axis("residual loss", "", "log"),
        tuple(series),
        read="nearest",
    )


def _maps(finished: Finished) -> tuple[Chart, ...]:
    found = []
    for switch in window.SWITCHES:
        spots = [spot for spot in window.SPOTS if spot.switch == switch and spot.job in finished.runs]
        if not spots:
            continue
        series = [_edge(switch, frame_bytes) for frame_bytes in window.FRAMES_BYTES]
        series += [_spot(finished, spot) for spot in spots]
        found.append(
            Chart(
                f"protections-map-{switch}",
                f"Go-back-N at a loss of 2 %, switch profile {switch}",
                "The fastest line that keeps 95 % by the closed form, by frame size; the receiver sees "
                "errors. Circles were simulated and keep 95 %, diamonds do not.",
                Axis("cable", "m", "log"),
                Axis("line rate", "Gb/s", "log"),
                tuple(series),
                read="nearest",
            )
        )
    return tuple(found)


def _edge(switch: str, frame_bytes: int) -> Series:
    fastest = window.fastest_gbps(switch, frame_bytes)
    there = np.isfinite(fastest)
    lengths, rates = window.LENGTHS_M[there], fastest[there]
    return Series(f"{frame_bytes} B", _SIZE_SLOTS[frame_bytes], embedded(lengths), embedded(rates))


def _spot(finished: Finished, spot: window.Spot) -> Series:
    share = window.measured_share(finished, spot)
    name = f"{spot.gbps}G, {spot.metres} m, {spot.frame_bytes} B: {share * 100:.1f} %"
    marker: Marker = "circle" if share >= window.BAR else "diamond"
    return points(
        name, _SIZE_SLOTS[spot.frame_bytes], [float(spot.metres)], [float(spot.gbps)], marker=marker
    )


def figures(finished: Finished, _published: Published) -> dict[str, Figure]:
    """The same for papers and talks."""
    from lossylink.plot.protections import Curve, Edge, Tried, protections_speed, retry_map

    panels: dict[tuple[int, int], list[Curve]] = {}
    for place in PLACES:
        for word in WORDS:
            if losses := losses_run(finished, place, word):
                shares = [speed_gbps(finished, place, loss, word) / place.gbps for loss in losses]
                healthy = [is_healthy(finished, place, loss, word) for loss in losses]
                curve = Curve(word, tuple(losses), tuple(shares), tuple(healthy))
                panels.setdefault((place.gbps, place.metres), []).append(curve)
    drawn = {"speed": protections_speed(panels)} if panels else {}
    tried = [
        Tried(spot.switch, spot.gbps, spot.metres, spot.frame_bytes, window.measured_share(finished, spot))
        for spot in window.SPOTS
        if spot.job in finished.runs
    ]
    if tried:
        edges = [
            Edge(switch, frame_bytes, window.LENGTHS_M, window.fastest_gbps(switch, frame_bytes))
            for switch in window.SWITCHES
            for frame_bytes in window.FRAMES_BYTES
        ]
        drawn["map"] = retry_map(edges, tried, bar=window.BAR)
    return drawn
