"""What is run: every protection on every link at every loss, at full load and at a load that all carry."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from lossylink.planning import Link
from lossylink.planning.families.fec import best_code
from lossylink.planning.families.linkguardian.prediction import choose
from lossylink.planning.families.llr import fewest_replays
from lossylink.reproduce.framework.model import Job, Scale
from lossylink.reproduce.framework.quantity import power_text
from lossylink.units import PICOSECONDS_PER_METRE

RATES_GBPS: Final = (100, 400, 800)
LENGTHS_M: Final = (10, 100)
LOSS_RATES: Final = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
QUICK_LOSS_RATES: Final = (1e-4, 1e-2)
WORDS: Final = ("none", "lg", "lg-nb", "llr", "fec")
"""The protections, by the words that their spellings begin with."""
TARGET: Final = 1e-8
"""Residual loss that parameters are chosen for: that of a healthy link."""

PACKETS: Final = 400_000
"""Frames of a point at full load: none lost is a residual loss of at most 9.2e-6, and no proof of 1e-8."""
DATAGRAMS: Final = 40_000
"""Datagrams of a trial; eight of the two trials are beyond the 99.99 % point."""
TRIALS: Final = 2
FRAME_BYTES: Final = 1_514
LOAD: Final = 0.3
"""Share of the slowest protection's speed that the datagrams take, as reckoned; 0.13 to 0.38 as measured."""
ORDERED_LOSS_S: Final = 12e-6
"""What a loss costs the slowest protection, ordered LinkGuardian, in time of a full line.

Measured at a loss of 1e-3 over 10 m: 14.2 us at 100G, 13.6 us at 400G, 12.0 us at 800G, by
``lossylink run stress -p lg -s link.rate=800Gbps -s link.length=10m -s loss=1e-3`` with
``-s traffic.source=saturated``. Over 100 m it is 19 to 25 us, for which `LOAD` leaves room. Where ordered
LinkGuardian breaks down, at 400 and 800G under much loss, no load is light enough.
"""


@dataclass(frozen=True, order=True)
class Place:
    """A link without its loss."""

    gbps: int
    metres: int

    @property
    def name(self) -> str:
        """As tables and charts call it."""
        return f"{self.gbps}G, {self.metres} m"

    def link(self, loss: float) -> Link:
        """The link as the planner takes it."""
        propagation_ps = self.metres * PICOSECONDS_PER_METRE
        return Link(rate_bps=self.gbps * 10**9, propagation_ps=propagation_ps, loss_ratio=loss)


PLACES: Final = tuple(Place(gbps, metres) for metres in LENGTHS_M for gbps in RATES_GBPS)


@cache
def chosen(place: Place, loss: float) -> dict[str, str]:
    """Return every protection with the planner's parameters for `TARGET`, or its best, by its word.

    Examples
    --------
    >>> chosen(Place(100, 10), 1e-3)["llr"], chosen(Place(800, 100), 1e-1)["lg"]
    ('llr:replays=3', 'lg:copies=7,holes=unlimited')
    """
    link = place.link(loss)
    code = best_code(link, target=TARGET, budget_us=None)
    return {
        "none": "none",
        "lg": choose(link, target=TARGET, ordered=True).spelling,
        "lg-nb": choose(link, target=TARGET, ordered=False).spelling,
        "llr": f"llr:replays={fewest_replays(link, target=TARGET, budget_us=None)}",
        "fec": f"fec:{code.data_packets}/{code.parity_packets}",
    }


def speed_job(place: Place, loss: float) -> str:
    """The job at full load."""
    return f"{place.name}, loss {power_text(loss)}"


def latency_job(place: Place, loss: float) -> str:
    """The job at the load that every protection carries that still works."""
    return f"{speed_job(place, loss)}, datagrams"


def clean_job(place: Place, loss: float) -> str:
    """That load on the link without loss and protection."""
    return f"{latency_job(place, loss)} without loss"


def load_gbps(place: Place, loss: float) -> float:
    """Rate of the datagrams.

    Examples
    --------
    >>> [round(load_gbps(Place(100, 10), loss), 1) for loss in (1e-6, 1e-3, 1e-1)]
    [30.0, 27.3, 2.8]
    """
    losses_a_second = loss / place.link(loss).serialisation_s()
    return LOAD * place.gbps / (1 + losses_a_second * ORDERED_LOSS_S)


def jobs(scale: Scale) -> tuple[Job, ...]:
    """Every point at full load, then under datagrams; a quick look has long links and fewer losses."""
    is_quick = scale.divisor > 1
    places = [place for place in PLACES if not is_quick or place.metres == LENGTHS_M[-1]]
    points = [(place, loss) for place in places for loss in (QUICK_LOSS_RATES if is_quick else LOSS_RATES)]
    return (
        *(_speed(place, loss, scale.of(PACKETS, at_least=50_000)) for place, loss in points),
        *(
            job
            for place, loss in points
            for job in _latency(place, loss, scale.of(DATAGRAMS, at_least=10_000))
        ),
    )


def _speed(place: Place, loss: float, packets: int) -> Job:
    settings = {
        "link.rate": f"{place.gbps}Gbps",
        "link.length": f"{place.metres}m",
        "loss.forward": power_text(loss),
        "traffic.packets": packets,
        "traffic.frame": FRAME_BYTES,
        "traffic.source": "saturated",
    }
    return Job(speed_job(place, loss), "stress", tuple(chosen(place, loss).values()), settings, packets / 1e6)


def _latency(place: Place, loss: float, datagrams: int) -> tuple[Job, Job]:
    gbps = load_gbps(place, loss)
    duration_us = datagrams * FRAME_BYTES * 8 / (gbps * 1e3)
    settings = {
        "link.rate": f"{place.gbps}Gbps",
        "link.length": f"{place.metres}m",
        "host.nic_rate": f"{place.gbps}Gbps",
        "traffic.source": "udp-smooth",
        "traffic.rate": f"{gbps * 1e3:.0f}Mbps",
        "traffic.frame": FRAME_BYTES,
        "run.duration": f"{duration_us / 1e3:.3f}ms",
        "flow.trials": TRIALS,
    }
    lossy = {**settings, "loss.forward": power_text(loss)}
    weight = datagrams * TRIALS / 2e6
    return (
        Job(clean_job(place, loss), "fec", ("none",), {**settings, "loss.forward": "0"}, weight / 5),
        Job(latency_job(place, loss), "fec", tuple(chosen(place, loss).values()), lossy, weight),
    )
