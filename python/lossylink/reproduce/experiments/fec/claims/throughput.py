"""Throughput against loss: what a code saves, what it costs, and when it pays."""

from __future__ import annotations

import numpy as np

from lossylink.reproduce.experiments.fec import jobs
from lossylink.reproduce.experiments.fec.claims.numbered import question, statement
from lossylink.reproduce.experiments.fec.measures import (
    code_of,
    dropped_share,
    grid_mean,
    mapped,
    over_losses,
    point,
    quotient,
    trial_mean,
)
from lossylink.reproduce.framework.judging import ROUNDED_BOUND_SLACK, at_least, at_most, bounded
from lossylink.reproduce.framework.model import Basis, Claim, Finished, Published
from lossylink.theory import fec as theory

HEADER_BYTES = 6


def claims(wharf: Published) -> tuple[Claim, ...]:
    """Statements 8, 9, 11, 26 and 27, and LinkGuardian beside them."""
    return (*_published(wharf), *_costs(wharf), _beside_linkguardian())


def _published(wharf: Published) -> tuple[Claim, ...]:
    floor_gbps = float(wharf["tcp_gbps_with_fec_at_loss_up_to_1e-1"]["at_least"])
    ceiling_mbps = float(wharf["tcp_mbps_without_fec_at_loss_1e-1"]["at_most"])
    return (
        statement(
            8,
            "With FEC more than 5 Gb/s of TCP up to a loss of 1e-1",
            bounded(
                grid_mean(1e-1, jobs.STRONGEST, "throughput_gbps"),
                at_least(floor_gbps),
                published=floor_gbps,
                unit="Gb/s",
                instead="at 1e-1 the losses need the parity, and TCP gets the share that (5, 5) leaves, "
                "4.73 Gb/s of payload; more comes from a queue that drops parity first",
            ),
            Basis.PREDICTION,
        ),
        statement(
            8,
            "At a loss of 1e-5 TCP gets more than 5 Gb/s through (5, 5)",
            bounded(
                grid_mean(1e-5, jobs.STRONGEST, "throughput_gbps"),
                at_least(floor_gbps),
                published=floor_gbps,
                unit="Gb/s",
                remark="more than its share: parity that the queue dropped was not needed",
            ),
            Basis.PREDICTION,
        ),
        statement(
            8,
            "A sender that heeds no drops gets more than 5 Gb/s through (5, 5) at 1e-1",
            bounded(
                trial_mean(jobs.OVERLOAD, jobs.STRONGEST, "throughput_gbps"),
                at_least(floor_gbps),
                published=floor_gbps,
                unit="Gb/s",
                remark=f"datagrams at {jobs.OVERLOAD_GBPS:g} Gb/s: the mechanism behind the published figure",
            ),
            Basis.PREDICTION,
        ),
        statement(
            8,
            "Because a full queue drops parity before data",
            bounded(
                mapped(_parity_before_data),
                at_least(3.0),
                unit="x",
                remark="share of parity dropped over share of data dropped, same datagrams",
            ),
            Basis.PREDICTION,
        ),
        statement(
            9,
            "Without protection a loss of 1e-1 leaves less than 25 Mb/s",
            bounded(
                grid_mean(1e-1, "none", "throughput_gbps", factor=1e3),
                at_most(ceiling_mbps, slack=ROUNDED_BOUND_SLACK),
                published=ceiling_mbps,
                unit="Mb/s",
            ),
            Basis.ASSUMED,
            ("path.rtt",),
        ),
        statement(
            11,
            "Throughput falls as the congestion window falls",
            bounded(
                mapped(_rank_agreement),
                at_least(0.8),
                remark="rank correlation over loss rates, no protection",
            ),
            Basis.PREDICTION,
        ),
    )


def _costs(wharf: Published) -> tuple[Claim, ...]:
    from_loss = float(wharf["fec_pays_off_from_loss_rate"])
    return (
        statement(
            26,
            "From a loss of 1e-4 parity costs less than the losses would, in most configurations",
            bounded(
                mapped(lambda finished: _codes_that_pay_off(finished, from_loss)),
                at_least(0.5),
                remark="share of the codes and losses tested at which the code carries more",
            ),
            Basis.PREDICTION,
        ),
        statement(
            26,
            "The number of parity packets of a block decides the bandwidth that a code costs",
            bounded(
                quotient(
                    grid_mean(0.0, "fec-model:25/5", "throughput_gbps"),
                    grid_mean(0.0, "fec-model:5/1", "throughput_gbps"),
                ),
                at_most(0.9),
                unit="x",
                instead="h / k decides: (25, 5) and (5, 1), whose h differs five times, cost the same",
            ),
            Basis.PREDICTION,
        ),
        statement(
            26,
            "Without loss a code costs h / (k + h) of a saturated link, and its header",
            bounded(
                mapped(_cost_error),
                at_most(0.01),
                remark="saturated source; largest relative error of five codes against the closed form",
            ),
            Basis.THEORY,
        ),
        statement(
            27,
            "A code tuned to the loss of its link carries more than one code for all links",
            bounded(
                mapped(_tuning_gain),
                at_least(1.01),
                unit="x",
                remark="geometric mean over losses, best code of each over the best single one; that a "
                "link's loss is stable is CorrOpt's finding, and set here",
            ),
            Basis.PREDICTION,
        ),
    )


def _beside_linkguardian() -> Claim:
    return question(
        "LinkGuardian carries more than any code up to a loss of 1e-2",
        bounded(
            mapped(_linkguardian_lead),
            at_least(1.0),
            unit="x",
            remark="non-blocking over the best code, at worst",
        ),
        Basis.PREDICTION,
    )


def _parity_before_data(finished: Finished) -> float:
    parity, data = (
        dropped_share(finished, jobs.OVERLOAD, jobs.STRONGEST, kind) for kind in ("parity", "data")
    )
    # At least one drop in the run, where there was none.
    least = 1 / finished.number(jobs.OVERLOAD, jobs.STRONGEST, "frames_offered")
    return parity / max(data, least)


def _rank_agreement(finished: Finished) -> float:
    """Spearman's rank correlation of window and throughput over the loss rates."""
    window = np.argsort(np.argsort(over_losses(finished, "none", "cwnd_packets_mean")))
    rate = np.argsort(np.argsort(over_losses(finished, "none", "throughput_gbps")))
    return float(np.corrcoef(window, rate)[0, 1])


def _codes_that_pay_off(finished: Finished, from_loss: float) -> float:
    def rate(protection: str, loss: float) -> float:
        return point(finished, loss, protection, "throughput_gbps")

    losses = [loss for loss in jobs.LOSS_RATES if loss >= from_loss]
    ahead = [rate(name, loss) > rate("none", loss) for name in jobs.CODED for loss in losses]
    return sum(ahead) / len(ahead)


def _cost_error(finished: Finished) -> float:
    def speed(protection: str) -> float:
        return finished.number(jobs.stress_job(0.0), protection, "effective_link_speed_gbps")

    def error(protection: str) -> float:
        k, h = code_of(protection)
        share = theory.capacity_share(data_packets=k, parity_packets=h, parity_growth_bytes=HEADER_BYTES)
        return abs(speed(protection) / speed("none") / float(share) - 1)

    return max(error(protection) for protection in jobs.CODED)


def _tuning_gain(finished: Finished) -> float:
    rates = np.array([over_losses(finished, protection, "throughput_gbps") for protection in jobs.CODED])
    if not np.all(rates > 0):
        return 0.0
    tuned = np.exp(np.log(rates.max(axis=0)).mean())
    single = np.exp(np.log(rates).mean(axis=1).max())
    return float(tuned / single)


def _linkguardian_lead(finished: Finished) -> float:
    def lead(loss: float) -> float:
        best = max(point(finished, loss, name, "throughput_gbps") for name in jobs.CODED)
        return point(finished, loss, "lg-nb", "throughput_gbps") / best

    return min(lead(loss) for loss in jobs.LOSS_RATES if loss <= 1e-2)
