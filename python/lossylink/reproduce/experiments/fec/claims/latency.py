"""Latency: what the queue adds, what waiting for a block adds, and to whom."""

from __future__ import annotations

import numpy as np

from lossylink.reproduce.experiments.fec import jobs
from lossylink.reproduce.experiments.fec.claims.numbered import question, statement
from lossylink.reproduce.experiments.fec.measures import (
    code_of,
    grid_mean,
    mapped,
    over_losses,
    point,
    queueing_us,
    quotient,
    series,
)
from lossylink.reproduce.framework.judging import Measure, at_least, at_most, between, bounded
from lossylink.reproduce.framework.model import Basis, Claim, Finished, Published
from lossylink.theory import fec as theory

QUEUE_BYTES = 1e6
CODED_TCP = "fec-model:25/5"
"""The code of the published TCP trace."""
LARGEST_BLOCK = "fec-model:50/5"
PAUSE_US = 9_000.0
"""How long the published UDP source fell silent between bursts."""
ADDED_AT_MOST_US = 1000.0
INTACT_AT_MOST_US = 10.0
"""An empty switch and its link take 4.4 us; the published figure says no more than low."""


def claims(wharf: Published) -> tuple[Claim, ...]:
    """Statements 13 to 15, 24, 25 and 28 to 33."""
    return (*_queue(wharf), *_waiting(), *_datagrams(), *_trace())


def _queue(wharf: Published) -> tuple[Claim, ...]:
    depth = float(wharf["queue_bytes_max_k5_h5"])
    return (
        statement(
            13,
            "Latency rises with h / k",
            bounded(
                mapped(_rank_with_overhead),
                at_least(0.8),
                remark="rank correlation of mean latency and h / k, no protection and five codes, no loss",
            ),
            Basis.PREDICTION,
        ),
        statement(
            14,
            "TCP does not see the drops of parity, which keep the queue deep",
            bounded(
                mapped(_drops_unseen),
                at_least(0.5),
                remark="share of the drops at the queue that hit parity, (5, 5) at 1e-1",
            ),
            Basis.PREDICTION,
        ),
        statement(
            15,
            "The queue of (5, 5) fills its 1 MB",
            bounded(
                mapped(lambda finished: point(finished, 1e-2, jobs.STRONGEST, "queue_bytes_max")),
                between(0.9 * depth, 1.01 * depth),
                published=depth,
                unit="B",
            ),
            Basis.PREDICTION,
        ),
        statement(
            15,
            "On average the queue of (5, 5) holds up to 1 MB",
            bounded(
                mapped(lambda finished: max(over_losses(finished, jobs.STRONGEST, "queue_bytes_mean"))),
                between(0.5 * depth, depth),
                published=depth,
                unit="B",
                remark="largest mean over the loss rates",
            ),
            Basis.PREDICTION,
        ),
    )


def _waiting() -> tuple[Claim, ...]:
    return (
        statement(
            24,
            "Without loss a code adds less than 1 ms of mean latency",
            bounded(
                mapped(_most_added_us),
                at_most(ADDED_AT_MOST_US),
                published=ADDED_AT_MOST_US,
                unit="us",
                remark="the most of five codes; 1 MB drains in 800 us",
            ),
            Basis.PREDICTION,
        ),
        statement(
            25,
            "Latency is proportional to h / k",
            bounded(
                mapped(_latency_for_overhead),
                between(0.5, 2.0),
                unit="x",
                instead="it is a step: any code lets one flow fill the queue, and none does below what "
                "it leaves",
                remark="queueing of (5, 5) over (25, 1), without loss, over the quotient of their h / k",
            ),
            Basis.PREDICTION,
        ),
        statement(
            25,
            "TCP answers the latency with a larger window",
            bounded(
                quotient(
                    grid_mean(1e-3, jobs.STRONGEST, "cwnd_packets_mean"),
                    grid_mean(1e-3, "none", "cwnd_packets_mean"),
                ),
                at_least(1.0),
                unit="x",
                remark="(5, 5) over no protection at 1e-3",
            ),
            Basis.PREDICTION,
        ),
    )


def _datagrams() -> tuple[Claim, ...]:
    bursty = (jobs.UDP_BURSTY, LARGEST_BLOCK)
    return (
        statement(
            28,
            "Of 100 Mb/s of datagrams intact ones have a low latency",
            bounded(
                mapped(
                    lambda finished: max(
                        _datagram_us(finished, name, "intact") for name in jobs.DATAGRAM_CODES
                    )
                ),
                at_most(INTACT_AT_MOST_US),
                unit="us",
                remark="largest mean of the codes",
            ),
            Basis.PREDICTION,
        ),
        statement(
            29,
            "Recovered datagrams come later, the more so the larger the block",
            bounded(
                mapped(_least_step),
                at_least(1.0),
                unit="x",
                remark="recovered over intact, (25, 5) over (5, 5), (50, 5) over (25, 5): the smallest",
            ),
            Basis.PREDICTION,
        ),
        statement(
            29,
            "They wait for the rest of their block",
            bounded(
                quotient(
                    mapped(lambda finished: _datagram_us(finished, LARGEST_BLOCK, "recovered")),
                    _expected_wait(LARGEST_BLOCK),
                ),
                between(0.9, 1.1),
                unit="x",
                remark="(50, 5), smooth, over (k-1)/2 gaps and h packet times",
            ),
            Basis.THEORY,
        ),
        statement(
            30,
            "The longest wait is about 9 ms, because the source fell silent for so long",
            bounded(
                mapped(lambda finished: finished.number(*bursty, "latency_recovered_us_max")),
                between(0.9 * PAUSE_US, 1.3 * PAUSE_US),
                published=PAUSE_US,
                unit="us",
                remark="(50, 5), pauses of 9 ms between bursts; the block ends in the next burst",
            ),
            Basis.ASSUMED,
            ("traffic.burst",),
        ),
        question(
            "A flush timer at the encoder ends that wait",
            bounded(
                mapped(
                    lambda finished: finished.number(jobs.UDP_BURSTY, "fec:50/5", "latency_recovered_us_max")
                ),
                at_most(PAUSE_US / 10),
                unit="us",
                remark="fec:50/5, which closes a block after four times its length at line rate",
            ),
            Basis.PREDICTION,
        ),
    )


def _trace() -> tuple[Claim, ...]:
    return (
        statement(
            31,
            "TCP carries 9 Gb/s under (25, 5)",
            bounded(
                grid_mean(1e-2, CODED_TCP, "throughput_gbps"),
                at_least(9.0),
                published=9.0,
                unit="Gb/s",
                instead="(25, 5) leaves 8.3 Gb/s of frames, 7.9 of payload; 9 would take 10.8 of wire",
            ),
            Basis.PREDICTION,
        ),
        statement(
            31,
            "At the full rate of TCP under (25, 5) intact and recovered packets are almost equally late",
            bounded(mapped(_lateness), between(0.95, 1.15), unit="x"),
            Basis.PREDICTION,
        ),
        statement(
            32,
            "Time in the egress queue dominates the latency of all packets",
            bounded(
                mapped(_queue_share),
                at_least(0.8),
                remark="mean queue at line rate over mean latency, (25, 5) at 1e-2",
            ),
            Basis.PREDICTION,
        ),
        statement(
            32,
            "The queue follows TCP's sawtooth",
            bounded(
                mapped(_sawtooth),
                at_least(0.2),
                remark="spread of the queue's series, 95th over 5th percentile, of its largest value",
            ),
            Basis.PREDICTION,
        ),
        statement(
            33,
            "Recovery is faster under TCP than for 100 Mb/s of datagrams",
            bounded(
                mapped(_recovery_wait_ratio),
                at_most(0.5),
                unit="x",
                remark="wait of recovered beyond that of intact packets, (25, 5), TCP over datagrams",
            ),
            Basis.PREDICTION,
        ),
        statement(
            33,
            "Because packets come about one order of magnitude faster",
            bounded(
                mapped(
                    lambda finished: point(finished, 1e-2, CODED_TCP, "throughput_gbps") / jobs.DATAGRAM_GBPS
                ),
                between(3.0, 30.0),
                published=10.0,
                unit="x",
                instead="nearly two orders: gigabits against 100 Mb/s",
            ),
            Basis.PREDICTION,
        ),
    )


def _rank_with_overhead(finished: Finished) -> float:
    """Spearman's rank correlation; codes of equal overhead share a rank."""
    overheads = [0.0, *(h / k for k, h in jobs.CODES)]
    waits = [point(finished, 0.0, name, "latency_us_mean") for name in ("none", *jobs.CODED)]
    return float(np.corrcoef(_ranks(overheads), _ranks(waits))[0, 1])


def _ranks(values: list[float]) -> list[float]:
    return [
        sum(other < value for other in values) + sum(other == value for other in values) / 2
        for value in values
    ]


def _lateness(finished: Finished) -> float:
    """How much longer recovered packets of the TCP trace took than intact ones."""
    late, early = (
        point(finished, 1e-2, CODED_TCP, f"latency_{kind}_us_mean") for kind in ("recovered", "intact")
    )
    return late / early


def _drops_unseen(finished: Finished) -> float:
    parity, data = (
        point(finished, 1e-1, jobs.STRONGEST, f"queue_drops_{kind}") for kind in ("parity", "data")
    )
    return parity / (parity + data) if parity + data else 0.0


def _most_added_us(finished: Finished) -> float:
    plain = point(finished, 0.0, "none", "latency_us_mean")
    return max(point(finished, 0.0, name, "latency_us_mean") for name in jobs.CODED) - plain


def _latency_for_overhead(finished: Finished) -> float:
    light = "fec-model:25/1"
    (k, h), (light_k, light_h) = code_of(jobs.STRONGEST), code_of(light)
    deep, shallow = (queueing_us(finished, jobs.grid_job(0.0), name) for name in (jobs.STRONGEST, light))
    return deep / shallow / (h / k / (light_h / light_k))


def _datagram_us(finished: Finished, protection: str, kind: str) -> float:
    return finished.number(jobs.UDP_SMOOTH, protection, f"latency_{kind}_us_mean")


def _least_step(finished: Finished) -> float:
    small, middle, large = (_datagram_us(finished, f"fec-model:{k}/5", "recovered") for k in (5, 25, 50))
    return min(small / _datagram_us(finished, "fec-model:5/5", "intact"), middle / small, large / middle)


def _expected_wait(protection: str) -> Measure:
    k, h = code_of(protection)
    gap_s = jobs.FRAME_BYTES * 8e-9 / jobs.DATAGRAM_GBPS
    wait_s = theory.recovery_delay_mean_s(
        data_packets=k, parity_packets=h, rate_bps=jobs.LINK_GBPS * 1e9, gap_s=gap_s
    )
    return mapped(lambda _finished: float(wait_s) * 1e6)


def _queue_share(finished: Finished) -> float:
    job = jobs.grid_job(1e-2)
    return queueing_us(finished, job, CODED_TCP) / finished.number(job, CODED_TCP, "latency_us_mean")


def _sawtooth(finished: Finished) -> float:
    _, queue = series(finished, jobs.grid_job(1e-2), CODED_TCP, "queue_bytes")
    low, high = np.percentile(queue, [5, 95])
    return float((high - low) / queue.max())


def _recovery_wait_ratio(finished: Finished) -> float:
    def wait_us(job: str) -> float:
        late, early = (
            finished.number(job, CODED_TCP, f"latency_{kind}_us_mean") for kind in ("recovered", "intact")
        )
        return late - early

    return max(0.0, wait_us(jobs.grid_job(1e-2))) / wait_us(jobs.UDP_SMOOTH)
