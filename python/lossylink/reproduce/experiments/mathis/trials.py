"""The study's own trials: those of which its text gives a figure, run as it ran them, 240 s each.

Its 60 trials of 240 s run by ``lossylink run mathis -s run.duration=240s``.
"""

from __future__ import annotations

from typing import Any, Final

from lossylink.reproduce.framework.model import Finished, Job, Published, Scale
from lossylink.statistics.estimates import Estimate, at_confidence, mean_interval

DURATION_S: Final = 240
GROWS: Final = "run.duration"
"""What is raised where the mean bandwidth of a trial is to be better known."""
REPETITIONS: Final = 10
"""Of trial 3, with offloads and again without."""
RTT_MS: Final = 6.0
"""The text says 3 ms, and sets it on both sides of the router."""
LOSS_5, LOSS_7, LOSS_8 = 0.1566283969, 0.005730706937, 0.000186147305
LEAST_PARTS: Final = 8
"""Pairs of spans of a run, at the least, whose spread its interval is from."""
LOSS_3: Final = 1e-3
"""Assumed: the text does not give the loss ratio of trial 3."""

TRIAL_5_NAIVE, TRIAL_5 = "trial 5, percent for ratio", "trial 5, corrected"
TRIAL_7_NAIVE, TRIAL_7 = "trial 7, percent for ratio", "trial 7, corrected"
TRIAL_8_NAIVE, TRIAL_8 = "trial 8, 1 Gb/s", "trial 8, 3 Gb/s"
TRIAL_9 = "trial 9, MTU 1500"


def trial_3(place: int, *, offloads: bool) -> str:
    """The job of one repetition of trial 3, counted from 0."""
    return f"trial 3, offloads {'on' if offloads else 'off'}, run {place + 1}"


def jobs(scale: Scale) -> tuple[Job, ...]:
    """Offloads are on up to the last trap, timestamps up to the fourth, as in the text."""
    percent = 0.01
    naive = {"link.rate": "1Gbps", "transport.timestamps": True}
    return (
        _job(TRIAL_5_NAIVE, 1460, LOSS_5 * percent, naive, grows=GROWS),
        _job(TRIAL_5, 1460, LOSS_5, naive, grows=GROWS),
        _job(TRIAL_7_NAIVE, 1460, LOSS_7 * percent, naive),
        _job(TRIAL_7, 1460, LOSS_7, {"link.rate": "1Gbps"}),
        _job(TRIAL_8_NAIVE, 1460, LOSS_8, {"link.rate": "1Gbps"}),
        _job(TRIAL_8, 1460, LOSS_8, {}),
        _job(TRIAL_9, 4312, LOSS_7, {"link.mtu": 1500}),
        *(
            _job(trial_3(place, offloads=offloads), 536, LOSS_3, {}, offloads=offloads, seed_offset=place)
            for offloads in (True, False)
            for place in range(scale.of(REPETITIONS, at_least=2))
        ),
    )


def _job(
    key: str,
    mss: int,
    loss: float,
    more: dict[str, Any],
    *,
    offloads: bool = True,
    seed_offset: int = 0,
    grows: str = "",
) -> Job:
    settings = {
        "transport.mss": mss,
        "path.rtt": f"{RTT_MS:g}ms",
        "loss.forward": f"{loss:.12g}",
        "run.duration": f"{DURATION_S}s",
        "transport.segmentation_offload": offloads,
    }
    return Job(key, "mathis", ("none",), settings | more, 0.5, seed_offset, grows)


def points_mbps(issue_1: Published) -> tuple[float, float]:
    """What trial 5 measured, with the mistake and without."""
    return (
        float(issue_1["measured_mbps_at_0_1566_percent"]),
        float(issue_1["measured_mbps_at_15_66_percent"]),
    )


def measured_mbps(finished: Finished, job: str) -> Estimate:
    """Bandwidth in Mb/s, with the interval of the run."""
    low, high = finished.row(job, "none")["measured_mbps_ci95"]
    row = Estimate(finished.number(job, "none", "measured_mbps"), float(low), float(high))
    return at_confidence(row, finished.confidence, parts=LEAST_PARTS)


def mean_ratio(finished: Finished, offloads: str) -> Estimate:
    """Mean over the repetitions of measured to modelled bandwidth, with offloads ``on`` or ``off``."""
    names = [trial_3(place, offloads=offloads == "on") for place in range(REPETITIONS)]
    found = [name for name in names if name in finished.runs] or names[:1]
    return mean_interval([finished.number(name, "none", "ratio") for name in found])
