"""What Wharf's evaluation says, claim by claim; numbers in the source column follow the order of its text."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lossylink.reproduce.judging import ROUNDED_BOUND_SLACK, at_least, at_most, between, bounded
from lossylink.reproduce.measures import derived, exact
from lossylink.reproduce.model import Basis, Claim, Finished, NotRunError, Published
from lossylink.reproduce.quantity import power_text

LOSS_RATES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
PROTECTIONS = (
    "none",
    "fec-model:25/1",
    "fec-model:25/5",
    "fec-model:5/1",
    "fec-model:5/5",
    "fec-model:50/5",
    "lg-nb",
)
STRONGEST = "fec-model:5/5"
CODED = tuple(name for name in PROTECTIONS if name.startswith("fec"))

BREAK_EVEN_LOSS = 1e-4
"""Loss from which parity is said to cost less than the losses would."""

GOODPUT_FLOOR_GBPS = 4.4
"""What (5, 5) can carry: half of 10G is 4.7 Gb/s of TCP payload, less start-up."""


def job_at(loss: float) -> str:
    """The job of one loss rate."""
    return f"loss {power_text(loss)}"


def _over_losses(protection: str, key: str) -> Callable[[Finished], list[float]]:
    return lambda finished: [finished.number(job_at(loss), protection, key) for loss in LOSS_RATES]


def _quotient(key: str, over: tuple[str, float], under: tuple[str, float]) -> Callable[[Finished], float]:
    """Ratio of one key between two points, each a protection and a loss rate."""

    def measure(finished: Finished) -> float:
        base = finished.number(job_at(under[1]), under[0], key)
        if base == 0:
            raise NotRunError(f"{key} of {under[0]} at {power_text(under[1])} is zero")
        return finished.number(job_at(over[1]), over[0], key) / base

    return measure


def _rank_agreement(finished: Finished) -> float:
    """Spearman's rank correlation of window and throughput over the loss rates, without protection."""
    window = np.argsort(np.argsort(_over_losses("none", "cwnd_packets_mean")(finished)))
    rate = np.argsort(np.argsort(_over_losses("none", "throughput_gbps")(finished)))
    return float(np.corrcoef(window, rate)[0, 1])


def _worst_idle_latency(finished: Finished) -> float:
    """Mean latency that any code adds at the lowest loss rate."""
    plain = finished.number(job_at(LOSS_RATES[0]), "none", "latency_us_mean")
    return max(finished.number(job_at(LOSS_RATES[0]), name, "latency_us_mean") for name in CODED) - plain


def _codes_that_pay_off(finished: Finished) -> float:
    """Share of codes that carry more than no protection at every loss from the break-even on."""
    losses = [loss for loss in LOSS_RATES if loss >= BREAK_EVEN_LOSS]
    ahead = [
        all(
            finished.number(job_at(loss), name, "throughput_gbps")
            > finished.number(job_at(loss), "none", "throughput_gbps")
            for loss in losses
        )
        for name in CODED
    ]
    return sum(ahead) / len(ahead)


def _window_kept(protection: str) -> Callable[[Finished], float]:
    return _quotient("cwnd_packets_mean", (protection, 1e-1), (protection, 1e-6))


def _others_best_window_kept(finished: Finished) -> float:
    others = (name for name in PROTECTIONS if name not in {STRONGEST, "none", "lg-nb"})
    best = max(_window_kept(name)(finished) for name in others)
    return _window_kept(STRONGEST)(finished) / best


def _residual_over_theory(finished: Finished) -> float:
    loss = job_at(1e-1)
    theory = finished.number(loss, "fec-model:25/5", "residual_loss_theory")
    return finished.number(loss, "fec-model:25/5", "residual_loss_rate") / theory


def claims(_published: Published) -> tuple[Claim, ...]:
    """Throughput, window, latency, and three statements that need a correction."""
    return (*_throughput_claims(), *_window_claims(), *_latency_claims(), *_corrected_claims())


def _throughput_claims() -> tuple[Claim, ...]:
    return (
        Claim(
            "Without protection a loss of 1e-1 leaves less than 25 Mb/s",
            bounded(
                derived(lambda finished: finished.number(job_at(1e-1), "none", "throughput_gbps") * 1e3),
                at_most(25.0),
                published=25.0,
                unit="Mb/s",
            ),
            source="claim 9",
        ),
        Claim(
            "From a loss of 1e-4 parity costs less than the losses would, for most codes",
            bounded(derived(_codes_that_pay_off), at_least(0.5), remark="share of codes that carry more"),
            source="claim 26",
        ),
        Claim(
            "Throughput falls as the congestion window falls",
            bounded(derived(_rank_agreement), at_least(0.8), remark="rank correlation over loss rates"),
            source="claim 11",
        ),
        Claim(
            "A block is recovered when k of its k + h packets arrive, and only then",
            bounded(
                derived(_residual_over_theory),
                between(0.9, 1.1),
                unit="x",
                remark="residual loss of (25, 5) at 1e-1 over p P[Bin(k+h-1, p) >= h]",
            ),
            Basis.THEORY,
            "claim 4",
        ),
    )


def _window_claims() -> tuple[Claim, ...]:
    return (
        Claim(
            "Random loss above 1e-5 cuts the congestion window",
            bounded(
                derived(_quotient("cwnd_packets_mean", ("none", 1e-4), ("none", 1e-6))),
                at_most(0.8),
                unit="x",
                remark="window at 1e-4 over that at 1e-6",
            ),
            source="claim 10",
        ),
        Claim(
            "With (5, 5) the window stays within half of its size up to a loss of 1e-1",
            bounded(derived(_window_kept(STRONGEST)), at_least(0.5), unit="x"),
            source="claim 12",
        ),
        Claim(
            "No other code keeps more of its window than (5, 5)",
            bounded(derived(_others_best_window_kept), at_least(1.0, slack=ROUNDED_BOUND_SLACK), unit="x"),
            source="claim 12",
        ),
    )


def _latency_claims() -> tuple[Claim, ...]:
    return (
        Claim(
            "Without loss a code adds less than 1 ms of mean latency",
            bounded(derived(_worst_idle_latency), at_most(1000.0), unit="us", remark="at a loss of 1e-6"),
            source="claim 24",
        ),
        Claim(
            "Latency rises with h / k: (5, 5) waits longer than (25, 1)",
            bounded(
                derived(_quotient("latency_us_mean", (STRONGEST, 1e-6), ("fec-model:25/1", 1e-6))),
                at_least(1.0),
                unit="x",
            ),
            source="claim 13",
        ),
        Claim(
            "The queue of (5, 5) fills its 1 MB",
            bounded(
                exact(job_at(1e-2), STRONGEST, "queue_bytes_max"),
                between(0.9e6, 1.01e6),
                published=1e6,
                unit="B",
            ),
            source="claim 15",
        ),
    )


def _corrected_claims() -> tuple[Claim, ...]:
    return (
        Claim(
            "With FEC more than 5 Gb/s up to a loss of 1e-1",
            bounded(
                exact(job_at(1e-1), STRONGEST, "throughput_gbps"),
                at_least(GOODPUT_FLOOR_GBPS),
                published=5.0,
                unit="Gb/s",
                correction="half of 10G is 4.67 Gb/s of TCP payload: more needs a queue that drops parity",
            ),
            source="claim 8",
        ),
        Claim(
            "Throughput is the congestion window times the round-trip time",
            bounded(
                derived(_window_law),
                between(0.5, 2.0),
                unit="x",
                correction="a window is divided by the round-trip time; the ratio compares 1e-2 with 1e-4",
            ),
            source="claim 22",
        ),
        Claim(
            "Packets of the TCP test come about one order of magnitude faster than those of the UDP test",
            bounded(
                derived(
                    lambda finished: finished.number(job_at(1e-2), "fec-model:25/5", "throughput_gbps") / 0.1
                ),
                between(50.0, 100.0),
                published=10.0,
                unit="x",
                correction="9 Gb/s against 100 Mb/s is nearly two orders",
            ),
            source="claim 33",
        ),
    )


def _window_law(finished: Finished) -> float:
    """Throughput over window / latency, at 1e-2 relative to 1e-4: 1 when rate is window over round trip."""

    def constant(loss: float) -> float:
        row = finished.row(job_at(loss), "none")
        window, latency = row.get("cwnd_packets_mean"), row.get("latency_us_mean")
        if not window or not latency:
            raise NotRunError(f"{job_at(loss)} gave no window or latency")
        return float(row["throughput_gbps"]) * float(latency) / float(window)

    return constant(1e-2) / constant(1e-4)
