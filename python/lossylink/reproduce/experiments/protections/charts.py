"""What the comparison draws: speed against loss link by link, residual loss, and the map of go-back-N."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lossylink.charts.chart import Axis, Chart, Key, Series, Sheet, embedded
from lossylink.charts.palette import name_of, slots_of
from lossylink.reproduce.experiments.protections import window
from lossylink.reproduce.experiments.protections.burst_views import IDENTIFIER as BURSTS
from lossylink.reproduce.experiments.protections.burst_views import burst_charts
from lossylink.reproduce.experiments.protections.jobs import PLACES, RATES_GBPS, WORDS, Place, chosen
from lossylink.reproduce.experiments.protections.measures import (
    is_healthy,
    losses_run,
    residual,
    speed_gbps,
)
from lossylink.reproduce.framework.model import Finished, Published, alone
from lossylink.reproduce.shared.charts import residual_points

LOSS_PLACE = Place(400, 100)
"""The link whose residual losses are drawn; those of the others hardly differ."""
RATE_AXIS = Axis(
    "line rate", "Gb/s", "log", low=1.0, high=1600.0, ticks=(1.0, 10.0, 25.0, 100.0, 400.0, 800.0)
)
SPEED, MAP = "protections-speed", "protections-map"
LOSS_AXIS = Axis("loss ratio of the link, before any protection", "", "log", low=6e-7, high=1.7e-1)
_SLOTS = slots_of(WORDS)
_SIZE_SLOTS = dict(zip(window.FRAMES_BYTES, ("vermillion", "orange", "blue"), strict=True))


def charts(finished: Finished, _published: Published) -> tuple[Chart, ...]:
    """Speed on every link, residual loss on one, two maps, and residual loss under bursts of line codes."""
    drawn = (*(_speed(finished, place) for place in PLACES), _residual(finished))
    return (*(chart for chart in drawn if chart is not None), *_maps(finished), *burst_charts(finished))


def _speed(finished: Finished, place: Place) -> Chart | None:
    series = []
    for word in WORDS:
        if losses := losses_run(finished, place, word):
            shares = [speed_gbps(finished, place, loss, word) / place.gbps * 100 for loss in losses]
            sick = tuple(not is_healthy(finished, place, loss, word) for loss in losses)
            values = embedded(losses), embedded(shares)
            series.append(Series(name_of(word), _SLOTS[word], *values, kind="marked", hollow=sick))
    if not series:
        return None
    return Chart(
        f"{SPEED}-{place.gbps}g-{place.metres}m",
        f"Effective speed, {place.name}",
        "Full frames from a saturated source; each protection with the planner's parameters for 1e-8. "
        "At empty markers more than that stays lost.",
        LOSS_AXIS,
        Axis("effective speed / line rate", "%", low=-3.0, high=105.0),
        tuple(series),
        keys=(
            Key("at most 1e-8 stays lost", "circle"),
            Key("more stays lost", "circle", hollow=True),
        ),
    )


def _residual(finished: Finished) -> Chart | None:
    """Residual losses that were seen, with their intervals; where none was, the upper end of the interval."""
    series = []
    for word in WORDS:
        losses = losses_run(finished, LOSS_PLACE, word)
        seen = [residual(finished, LOSS_PLACE, loss, word) for loss in losses]
        if seen:
            drawn = residual_points(name_of(word), _SLOTS[word], losses, seen)
            series.append(replace(drawn, labels=tuple(chosen(LOSS_PLACE, loss)[word] for loss in losses)))
    if not series:
        return None
    return Chart(
        "protections-residual",
        f"Residual loss, {LOSS_PLACE.name}",
        "With exact 95 % intervals. A triangle is the upper end of the interval where no frame was lost.",
        Axis("loss ratio of the link, before any protection", "", "log"),
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
        series += [
            simulated
            for frame_bytes in window.FRAMES_BYTES
            if (simulated := _simulated(finished, spots, frame_bytes)) is not None
        ]
        found.append(
            Chart(
                f"{MAP}-{switch}",
                f"Go-back-N at a loss of 2 %, switch profile {switch}",
                "The fastest line that keeps 95 % by the closed form, by frame size; the receiver sees "
                "errors. Circles were simulated and keep 95 %, crosses do not.",
                Axis("cable", "m", "log", low=1.0, high=1000.0),
                RATE_AXIS,
                tuple(series),
                read="nearest",
                keys=(
                    Key(f"simulated, at least {window.BAR * 100:g} %", "circle"),
                    Key("simulated, less", "cross", hollow=True),
                ),
            )
        )
    return tuple(found)


def _edge(switch: str, frame_bytes: int) -> Series:
    fastest = window.fastest_gbps(switch, frame_bytes)
    there = np.isfinite(fastest)
    lengths, rates = window.LENGTHS_M[there], fastest[there]
    name = f"{frame_bytes:,} B frames: {window.BAR * 100:g} % kept below"
    return Series(name, _SIZE_SLOTS[frame_bytes], embedded(lengths), embedded(rates), is_filled=True)


def _simulated(finished: Finished, spots: Sequence[window.Spot], frame_bytes: int) -> Series | None:
    """The points of the map that were simulated with frames of one size, each with its share of the line."""
    own = [spot for spot in spots if spot.frame_bytes == frame_bytes]
    if not own:
        return None
    shares = [window.measured_share(finished, spot) for spot in own]
    return Series(
        f"{frame_bytes:,} B, simulated",
        _SIZE_SLOTS[frame_bytes],
        embedded([spot.metres for spot in own]),
        embedded([spot.gbps for spot in own]),
        kind="points",
        markers=tuple("circle" if share >= window.BAR else "cross" for share in shares),
        hollow=tuple(share < window.BAR for share in shares),
        labels=tuple(f"{share * 100:.1f} %" for share in shares),
        is_labelled=True,
        is_quiet=True,
    )


def sheets(_finished: Finished, charts: Sequence[Chart]) -> tuple[Sheet, ...]:
    """Speeds on one sheet, maps and bursts each on another, the rest alone."""
    speeds = tuple(chart for chart in charts if chart.identifier.startswith(SPEED))
    maps = tuple(chart for chart in charts if chart.identifier.startswith(MAP))
    bursts = tuple(chart for chart in charts if chart.identifier.startswith(BURSTS))
    others = alone([chart for chart in charts if chart not in (*speeds, *maps, *bursts)])
    grids = (
        Sheet(SPEED, speeds, columns=len(RATES_GBPS)),
        Sheet(MAP, maps, columns=len(maps)),
        Sheet(BURSTS, bursts, columns=len(bursts)),
    )
    return (*(sheet for sheet in grids if sheet.charts), *others)
