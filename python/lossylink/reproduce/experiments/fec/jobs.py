"""What is run: the grid of losses and codes, and beside it the runs that single statements are about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lossylink.reproduce.framework.model import Job, Scale
from lossylink.reproduce.framework.quantity import power_text

LOSS_RATES = (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
CODES = ((25, 1), (25, 5), (5, 1), (5, 5), (50, 5))
CODED = tuple(f"fec-model:{k}/{h}" for k, h in CODES)
STRONGEST = "fec-model:5/5"
PROTECTIONS = ("none", *CODED, "lg-nb", "lg")

LINK_GBPS = 10.0
MSS_BYTES = 1460
FRAME_BYTES = 1514
"""A full frame without its check sequence."""
WIRE_BYTES = 1538
"""A full frame on the wire: check sequence, preamble and gap included."""
ROUND_TRIP_US = 82.0
"""Assumed: twice the 41 us that packets took one way through an empty queue; hosts add what is not known."""

TRIALS = 25
PRECISION = "0.5%"
"""Standard errors of rate and mean latency at which a point has trials enough: they decide no claim."""
DURATION_S = 10.0
QUICK_TRIALS = 4
QUICK_DURATION_S = 0.5
SECONDS_A_GIGABIT = 0.03
"""Wall time of a simulated gigabit on one core, for the ETA."""

PUBLISHED_CAP_GBPS = 4.5
"""To which the published runs limited the sending host."""
OVERLOAD_GBPS = 5.5
"""More data than (5, 5) leaves room for."""
DATAGRAM_GBPS = 0.1
DATAGRAM_LOSS = 1e-2
DATAGRAM_CODES = ("fec-model:5/5", "fec-model:25/5", "fec-model:50/5", "fec:50/5")
REMEDY_LOSSES = (1e-2, 1e-1)
POLICED = f"{STRONGEST},meter=police"
OUR_CODE, OUR_CODE_DATA_FIRST = "fec:5/5", "fec:5/5,priority=data"
"""The published decoder cannot wait for parity that comes after the next block; ours can."""
REMEDIES = (STRONGEST, POLICED, OUR_CODE, f"{OUR_CODE},meter=police", OUR_CODE_DATA_FIRST)
MARKING = (STRONGEST, f"{STRONGEST},meter=mark")
STRESS_LOSSES = (0.0, 1e-2, 1e-1)
STRESS_PACKETS = 4_000_000
RENO_LOSS = 1e-5
RENO_ROUND_TRIP_MS = 2.0
"""Long enough for the window to be seen growing between two samples."""

UDP_SMOOTH, UDP_BURSTY = "datagrams, smooth", "datagrams, bursty"
MARKED, OVERLOAD, CHANGED = "marking", "overload", "code changed under way"


def grid_job(loss: float, protection: str = STRONGEST) -> str:
    """The job that holds a point of the grid."""
    if loss == 0:
        return "no loss"
    # A flow in the regime of timeouts needs its whole time, and hardly any work.
    alone = ", no protection" if (protection, loss) == ("none", LOSS_RATES[-1]) else ""
    return f"loss {power_text(loss)}{alone}"


def capped_job(loss: float) -> str:
    """The job whose sending host is limited."""
    return f"host at {PUBLISHED_CAP_GBPS:g} Gb/s, loss {power_text(loss)}"


def remedy_job(loss: float) -> str:
    """The job that compares meters and priorities."""
    return f"remedies, loss {power_text(loss)}"


def stress_job(loss: float) -> str:
    """The job that counts frames at line rate."""
    return f"frames, {grid_job(loss)}"


def change_of_code(duration_s: float) -> str:
    """A weak code that becomes the strongest half-way through."""
    return f"fec-model:25/1,change=5/5@{duration_s * 500:g}ms"


def jobs(scale: Scale) -> tuple[Job, ...]:
    """The grid first, then the rest; a quick look takes fewer and shorter trials."""
    quick = scale.divisor > 1
    trials, duration_s = (QUICK_TRIALS, QUICK_DURATION_S) if quick else (TRIALS, DURATION_S)
    limit, capped = {"host.nic_rate": f"{PUBLISHED_CAP_GBPS:g}Gbps"}, ("none", STRONGEST)
    return (
        *_grid(trials, duration_s),
        *(_job(capped_job(loss), capped, trials, duration_s, loss, limit) for loss in REMEDY_LOSSES),
        *(_job(remedy_job(loss), REMEDIES, trials, duration_s, loss) for loss in REMEDY_LOSSES),
        _job(MARKED, MARKING, trials, duration_s, 1e-2, {"transport.congestion_control": "dctcp"}),
        _job(OVERLOAD, (STRONGEST,), trials, duration_s, 1e-1, _datagrams("udp-smooth", OVERLOAD_GBPS)),
        *_slow_datagrams(trials),
        _job(CHANGED, (change_of_code(duration_s),), trials, duration_s, 1e-2),
        *_windows(),
        *(_stress(loss, scale) for loss in STRESS_LOSSES),
    )


def _job(
    key: str,
    protections: tuple[str, ...],
    trials: int,
    duration_s: float,
    loss: float,
    more: Mapping[str, Any] | None = None,
    *,
    gbps: float = LINK_GBPS,
) -> Job:
    settings = {
        "flow.trials": trials,
        "flow.precision": PRECISION,
        "run.duration": f"{duration_s * 1e3:g}ms",
        "loss.forward": power_text(loss) if loss else "0",
        "path.rtt": f"{ROUND_TRIP_US:g}us",
        # Assumed: interfaces as fast as the link, so that data alone fill no queue.
        "host.nic_rate": f"{LINK_GBPS:g}Gbps",
    }
    weight = trials * duration_s * gbps * SECONDS_A_GIGABIT
    return Job(key, "fec", protections, settings | dict(more or {}), weight)


def _grid(trials: int, duration_s: float) -> tuple[Job, ...]:
    worst = LOSS_RATES[-1]
    protected = tuple(name for name in PROTECTIONS if name != "none")
    return (
        *(_job(grid_job(loss), PROTECTIONS, trials, duration_s, loss) for loss in LOSS_RATES[:-1]),
        _job(grid_job(worst), protected, trials, duration_s, worst),
        _job(grid_job(worst, "none"), ("none",), trials, DURATION_S, worst, gbps=0.02),
    )


def _datagrams(source: str, gbps: float) -> dict[str, str]:
    return {"traffic.source": source, "traffic.rate": f"{gbps * 1e3:g}Mbps"}


def _slow_datagrams(trials: int) -> tuple[Job, ...]:
    """Datagrams take their whole time: at 100 Mb/s there are few, and few of them are lost."""
    sources = {UDP_SMOOTH: "udp-smooth", UDP_BURSTY: "udp-bursty"}
    return tuple(
        _job(
            key,
            DATAGRAM_CODES,
            trials,
            DURATION_S,
            DATAGRAM_LOSS,
            _datagrams(source, DATAGRAM_GBPS),
            gbps=2 * DATAGRAM_GBPS,
        )
        for key, source in sources.items()
    )


def _windows() -> tuple[Job, ...]:
    """One flow each of Reno and CUBIC over a longer path; their windows are series."""
    path = {"path.rtt": f"{RENO_ROUND_TRIP_MS:g}ms"}
    return tuple(
        _job(
            window_job(algorithm),
            ("none",),
            1,
            DURATION_S,
            RENO_LOSS,
            path | {"transport.congestion_control": algorithm},
            gbps=2.0,
        )
        for algorithm in ("reno", "cubic")
    )


def window_job(algorithm: str) -> str:
    """The job that shows how an algorithm's window moves."""
    return f"window of {algorithm}"


def _stress(loss: float, scale: Scale) -> Job:
    settings = {
        "link.rate": f"{LINK_GBPS:g}Gbps",
        "loss.forward": power_text(loss) if loss else "0",
        "traffic.packets": scale.of(STRESS_PACKETS),
        "traffic.frame": FRAME_BYTES,
        "traffic.source": "saturated",
    }
    return Job(stress_job(loss), "stress", ("none", *CODED), settings, scale.of(STRESS_PACKETS) / 3e6)
