"""Remedies: less traffic into the encoder, by the host or by a meter; and data before parity."""

from __future__ import annotations

from lossylink.reproduce.experiments.fec import jobs
from lossylink.reproduce.experiments.fec.claims.numbered import question, statement
from lossylink.reproduce.experiments.fec.measures import (
    dropped_share,
    grid_mean,
    mapped,
    quotient,
    trial_mean,
)
from lossylink.reproduce.framework.judging import Measure, at_least, at_most, between, bounded
from lossylink.reproduce.framework.model import Basis, Claim, Finished, Published
from lossylink.theory import fec as theory

SHALLOW_BYTES = 20_000.0
"""A queue of a block and a burst: what is left when nothing is dropped."""
METERED_KEEPS = 0.85
"""What a policer must leave of the throughput: TCP drives it with a sawtooth."""
MARKING = jobs.MARKING[1]


def claims(wharf: Published) -> tuple[Claim, ...]:
    """Statements 16 to 19, and priority."""
    return (*_meter(), *_capped(wharf), *_priority())


def _meter() -> tuple[Claim, ...]:
    job = jobs.remedy_job(1e-2)
    return (
        statement(
            16,
            "A limit at the encoder's entry, set to what the code leaves, keeps the queue short",
            bounded(
                quotient(
                    trial_mean(job, jobs.POLICED, "latency_us_mean"),
                    trial_mean(job, jobs.STRONGEST, "latency_us_mean"),
                ),
                at_most(0.25),
                unit="x",
                remark="mean latency with a policer over that without, (5, 5) at 1e-2",
            ),
            Basis.PREDICTION,
        ),
        statement(
            16,
            "With it TCP sees every drop of its flow",
            bounded(
                mapped(lambda finished: dropped_share(finished, job, jobs.POLICED, "parity")),
                at_most(1e-4),
                remark="share of parity that the queue drops behind the policer",
            ),
            Basis.PREDICTION,
        ),
        statement(
            19,
            "A policer, as P4 meters are, keeps the throughput",
            bounded(_kept(job, jobs.POLICED, jobs.STRONGEST), at_least(METERED_KEEPS), unit="x"),
            Basis.PREDICTION,
        ),
        statement(
            19,
            "A meter that marks instead keeps the throughput of DCTCP",
            bounded(_kept(jobs.MARKED, MARKING, jobs.STRONGEST), at_least(METERED_KEEPS), unit="x"),
            Basis.PREDICTION,
        ),
    )


def _capped(wharf: Published) -> tuple[Claim, ...]:
    job, published_us = jobs.capped_job(1e-2), float(wharf["rate_limited_k5_h5"]["average_latency_us"])
    return (
        statement(
            17,
            "A host limited to 4.5 Gb/s stays just under what (5, 5) leaves",
            bounded(
                mapped(lambda finished: _wire_gbps(finished, job) / _share_gbps()),
                between(0.85, 1.0),
                unit="x",
                remark="octets of the flow's frames over those that the code has room for",
            ),
            Basis.SET_UP,
        ),
        statement(
            17,
            "Then the queue stays below 20 KB",
            bounded(
                mapped(lambda finished: finished.number(job, jobs.STRONGEST, "queue_bytes_max")),
                at_most(SHALLOW_BYTES),
                unit="B",
            ),
            Basis.PREDICTION,
        ),
        statement(
            18,
            "Then the average latency is 41 us",
            bounded(
                trial_mean(job, jobs.STRONGEST, "latency_us_mean"),
                between(0.5 * published_us, 1.5 * published_us),
                published=published_us,
                unit="us",
                remark="how the host was limited is not published; here its interface spaces packets evenly, "
                "and bursts of 64 packets take 41 us",
            ),
            Basis.PREDICTION,
        ),
        statement(
            18,
            "That is in the range of the latency without FEC",
            bounded(
                quotient(
                    trial_mean(job, jobs.STRONGEST, "latency_us_mean"),
                    grid_mean(1e-2, "none", "latency_us_mean"),
                ),
                between(0.2, 5.0),
                unit="x",
                remark="over an unlimited flow without protection at the same loss",
            ),
            Basis.ASSUMED,
            ("host.nic_rate",),
        ),
    )


def _priority() -> tuple[Claim, ...]:
    job = jobs.remedy_job(1e-2)
    return (
        question(
            "Data before parity in the queue keeps the latency of data short",
            bounded(
                quotient(
                    trial_mean(job, jobs.OUR_CODE_DATA_FIRST, "latency_us_mean"),
                    trial_mean(job, jobs.OUR_CODE, "latency_us_mean"),
                ),
                at_most(1.0),
                unit="x",
                remark="mean latency over that of one queue, fec:5/5 at 1e-2",
            ),
            Basis.PREDICTION,
        ),
        question(
            "but parity then comes too late or not at all, and more losses stay",
            bounded(
                mapped(
                    lambda finished: (
                        _residual(finished, jobs.OUR_CODE_DATA_FIRST) / _residual(finished, jobs.OUR_CODE)
                    )
                ),
                at_least(10.0),
                unit="x",
                remark="residual loss over that of one queue",
            ),
            Basis.PREDICTION,
        ),
    )


def _residual(finished: Finished, protection: str) -> float:
    """Residual loss, at least one packet of the run."""
    job = jobs.remedy_job(1e-2)
    least = 1 / finished.number(job, protection, "frames_offered")
    return max(least, finished.number(job, protection, "residual_loss_rate"))


def _kept(job: str, metered: str, bare: str) -> Measure:
    return quotient(trial_mean(job, metered, "throughput_gbps"), trial_mean(job, bare, "throughput_gbps"))


def _wire_gbps(finished: Finished, job: str) -> float:
    return finished.number(job, jobs.STRONGEST, "throughput_gbps") * jobs.WIRE_BYTES / jobs.MSS_BYTES


def _share_gbps() -> float:
    k, h = 5, 5
    return jobs.LINK_GBPS * float(
        theory.capacity_share(data_packets=k, parity_packets=h, parity_growth_bytes=6)
    )
