"""Where go-back-N keeps 95 % of the line while 2 % of the frames are lost: rate x length x frame size.

The bar is that of a switch team's public test plan (S4 of docs/protocols/llr.md). The receiver sees errors
here (``llr:errors=seen``): where only the next frame tells of a loss, W is at least 3 frames, and
1 / (1 + 0.02 x 3) is 94.3 %. The edge is that of the closed form with lost replays: without them it is half a
percent too high, which decides where the bar is near.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lossylink.declared.protections.llr.options import SAMPLE_REPLAYS
from lossylink.planning.link import FRAMING_BYTES, NANOSECOND_S
from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import Finished, Job, Scale
from lossylink.scenario.profiles import load_profile
from lossylink.theory import llr
from lossylink.units import PICOSECONDS_PER_METRE

BAR: Final = 0.95
LOSS: Final = 0.02
PROTECTION: Final = "llr:errors=seen"
PACKETS: Final = 400_000
FRAMES_BYTES: Final = (1_514, 4_014, 9_014)
"""Frames without check sequence: the usual ones, and two sizes of jumbo frames."""
SWITCHES: Final = ("ideal", "tofino1")
"""Two pipelines: 100 ns and 659 ns one way."""
LENGTHS_M: Final = np.geomspace(1, 1000, 61)
_SLOWEST_GBPS, _FASTEST_GBPS, _HALVINGS = 0.1, 3200.0, 16

Lengths = float | NDArray[np.float64]


@dataclass(frozen=True)
class Spot:
    """A point of the map that is simulated."""

    switch: str
    gbps: int
    metres: int
    frame_bytes: int

    @property
    def job(self) -> str:
        """The job that simulates it."""
        return f"map: {self.switch}, {self.gbps}G, {self.metres} m, {self.frame_bytes} B"


SPOTS: Final = (
    Spot("ideal", 10, 10, 1_514),
    Spot("ideal", 40, 10, 1_514),
    Spot("ideal", 100, 10, 9_014),
    Spot("ideal", 400, 10, 9_014),
    Spot("ideal", 10, 100, 4_014),
    Spot("ideal", 25, 100, 9_014),
    Spot("ideal", 100, 100, 9_014),
    Spot("tofino1", 25, 10, 9_014),
    Spot("tofino1", 100, 10, 9_014),
)
SPOT_COUNT: Final = float(len(SPOTS))


def jobs(scale: Scale) -> tuple[Job, ...]:
    """One run a point of the map."""
    packets = scale.of(PACKETS)
    return tuple(
        Job(
            spot.job,
            "stress",
            (PROTECTION,),
            {
                "link.rate": f"{spot.gbps}Gbps",
                "link.length": f"{spot.metres}m",
                "link.mtu": spot.frame_bytes - 14,
                "loss.forward": f"{LOSS:g}",
                "switch.profile": spot.switch,
                "traffic.packets": packets,
                "traffic.frame": spot.frame_bytes,
                "traffic.source": "saturated",
            },
            packets / 4e6,
        )
        for spot in SPOTS
    )


def expected_share(spot: Spot) -> float:
    """Share of the line by 1 / (1 + p W) with the replays that are lost themselves.

    Examples
    --------
    >>> [f"{expected_share(spot):.3f}" for spot in SPOTS[:2]]
    ['0.948', '0.933']
    """
    return float(_shares(spot.switch, spot.frame_bytes, spot.metres, np.array(float(spot.gbps))))


def first_order_share(spot: Spot) -> float:
    """The share of the line without lost replays.

    Examples
    --------
    >>> [f"{first_order_share(spot):.3f}" for spot in SPOTS[:2]]
    ['0.954', '0.940']
    """
    delays = _delays(spot.switch, spot.frame_bytes, spot.metres, np.array(float(spot.gbps)))
    return float(llr.goodput_share(loss_ratio=LOSS, lag_frames=llr.lag_frames(**delays, errors_seen=True)))


def measured_share(finished: Finished, spot: Spot) -> float:
    """Share of the line that the simulated link delivered."""
    speed = finished.number(spot.job, PROTECTION, "effective_link_speed_gbps")
    return speed / finished.number(spot.job, PROTECTION, "link_gbps")


def agreeing_spots(finished: Finished) -> float:
    """Points that lie on the same side of the bar in the simulator and by the closed form."""
    sides = [(measured_share(finished, spot) >= BAR) == (expected_share(spot) >= BAR) for spot in SPOTS]
    if not sides:
        raise NotRunError("no point of the map was run")
    return float(sum(sides))


@cache
def fastest_gbps(switch: str, frame_bytes: int) -> NDArray[np.float64]:
    """Return the fastest rate that keeps the bar at each of `LENGTHS_M`, in Gb/s; nan where none does.

    Examples
    --------
    >>> bool(fastest_gbps("ideal", 9_014)[0] > fastest_gbps("ideal", 1_514)[0])
    True
    """
    low: NDArray[np.float64] = np.full(LENGTHS_M.size, _SLOWEST_GBPS)
    high = np.full(LENGTHS_M.size, _FASTEST_GBPS)
    for _ in range(_HALVINGS):  # W grows with the rate, so halving the logarithm finds the edge
        middle = np.sqrt(low * high)
        kept = _shares(switch, frame_bytes, LENGTHS_M, middle) >= BAR
        low, high = np.where(kept, middle, low), np.where(kept, high, middle)
    return np.where(low > _SLOWEST_GBPS, low, np.nan)


def _shares(switch: str, frame_bytes: int, metres: Lengths, gbps: NDArray[np.float64]) -> NDArray[np.float64]:
    delays = _delays(switch, frame_bytes, metres, gbps)
    frames_a_second = gbps * 1e9 / (8 * (frame_bytes + FRAMING_BYTES))
    return llr.delivered_share(
        loss_ratio=LOSS,
        replays=SAMPLE_REPLAYS,  # the default of PROTECTION: 1.6e-7 flushes a frame
        lag_frames=llr.lag_frames(**delays, errors_seen=True),
        timer_frames=llr.replay_timer_s(**delays) * frames_a_second,
    )


def _delays(switch: str, frame_bytes: int, metres: Lengths, gbps: NDArray[np.float64]) -> dict[str, Any]:
    return {
        "rate_bps": gbps * 1e9,
        "propagation_s": metres * PICOSECONDS_PER_METRE * 1e-12,
        "pipeline_s": load_profile("switch", switch)["data_pipeline_ns"] * NANOSECOND_S,
        "frame_wire_bytes": frame_bytes + FRAMING_BYTES,
    }
