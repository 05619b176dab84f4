"""Throughput against loss, as measured: what a code saves, what it costs, and when it pays."""

from __future__ import annotations

import numpy as np

from lossylink.reproduce.experiments.fec import jobs
from lossylink.reproduce.experiments.fec.measures import code_of, dropped_share, over_losses, point
from lossylink.reproduce.framework.model import Finished
from lossylink.theory import fec as theory

HEADER_BYTES = 6


def parity_before_data(finished: Finished) -> float:
    """Share of parity dropped over share of data dropped, of the datagrams that overload the link."""
    parity, data = (
        dropped_share(finished, jobs.OVERLOAD, jobs.STRONGEST, kind) for kind in ("parity", "data")
    )
    # At least one drop in the run, where there was none.
    least = 1 / finished.number(jobs.OVERLOAD, jobs.STRONGEST, "frames_offered")
    return parity / max(data, least)


def rank_agreement(finished: Finished) -> float:
    """Spearman's rank correlation of window and throughput over the loss rates."""
    window = np.argsort(np.argsort(over_losses(finished, "none", "cwnd_packets_mean")))
    rate = np.argsort(np.argsort(over_losses(finished, "none", "throughput_gbps")))
    return float(np.corrcoef(window, rate)[0, 1])


def codes_that_pay_off(finished: Finished, from_loss: float) -> float:
    """Share of codes and losses, from a loss on, at which the code carries more than no protection does."""

    def rate(protection: str, loss: float) -> float:
        return point(finished, loss, protection, "throughput_gbps")

    losses = [loss for loss in jobs.LOSS_RATES if loss >= from_loss]
    ahead = [rate(name, loss) > rate("none", loss) for name in jobs.CODED for loss in losses]
    return sum(ahead) / len(ahead)


def cost_error(finished: Finished) -> float:
    """Largest relative error of five codes against the closed form of what a code costs."""

    def speed(protection: str) -> float:
        return finished.number(jobs.stress_job(0.0), protection, "effective_link_speed_gbps")

    def error(protection: str) -> float:
        k, h = code_of(protection)
        share = theory.capacity_share(data_packets=k, parity_packets=h, parity_growth_bytes=HEADER_BYTES)
        return abs(speed(protection) / speed("none") / float(share) - 1)

    return max(error(protection) for protection in jobs.CODED)


def tuning_gain(finished: Finished) -> float:
    """Geometric mean over losses of the best code of each, over that of the best single one."""
    rates = np.array([over_losses(finished, protection, "throughput_gbps") for protection in jobs.CODED])
    if not np.all(rates > 0):
        return 0.0
    tuned = np.exp(np.log(rates.max(axis=0)).mean())
    single = np.exp(np.log(rates).mean(axis=1).max())
    return float(tuned / single)


def linkguardian_lead(finished: Finished) -> float:
    """Non-blocking LinkGuardian over the best code, at worst."""

    def lead(loss: float) -> float:
        best = max(point(finished, loss, name, "throughput_gbps") for name in jobs.CODED)
        return point(finished, loss, "lg-nb", "throughput_gbps") / best

    return min(lead(loss) for loss in jobs.LOSS_RATES if loss <= 1e-2)
