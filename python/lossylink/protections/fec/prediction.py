"""The best block code for a link: the largest share of the line among those that meet target and budget."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

from lossylink.plan.link import Link
from lossylink.plan.prediction import BOUND, EXACT, Figure, Prediction
from lossylink.protections._bounds import most
from lossylink.protections.fec.code import PARITY_GROWTH_BYTES
from lossylink.theory import fec

FLUSH_BLOCKS: Final = 4
"""A partial block is closed after so many times a full one at line rate (docs/protocols/fec.md)."""


@dataclass(frozen=True, kw_only=True)
class Code:
    """A block code."""

    data_packets: int
    parity_packets: int


def best_code(link: Link, *, target: float, budget_us: float | None) -> Code:
    """Return the code that leaves the most of the line, or, if none meets all, the least loss in the budget.

    Examples
    --------
    >>> link = Link(rate_bps=10**11, propagation_ps=0, loss_ratio=1e-3)
    >>> best_code(link, target=1e-8, budget_us=20)
    Code(data_packets=38, parity_packets=3)
    """
    most_data, most_parity = _largest_code()
    k, h = np.meshgrid(np.arange(1, most_data + 1), np.arange(1, most_parity + 1), indexing="ij")
    residual = fec.residual_loss_ratio(data_packets=k, parity_packets=h, loss_ratio=link.loss_ratio)
    worst_us = _worst_s(link, k, h) * 1e6
    in_budget = np.full(k.shape, True) if budget_us is None else worst_us <= budget_us
    if not in_budget.any():
        in_budget = worst_us == worst_us.min()
    meeting = in_budget & (residual <= target)
    if meeting.any():
        share = np.where(meeting, _share(link, k, h), 0)
        place = int(share.argmax())
    else:
        place = int(np.where(in_budget, residual, np.inf).argmin())
    return Code(data_packets=int(k.flat[place]), parity_packets=int(h.flat[place]))


@cache
def _largest_code() -> tuple[int, int]:
    """Return the most data and the most parity packets of a block."""
    return (
        most(lambda k: {"family": "fec", "k": k, "h": 1}),
        most(lambda h: {"family": "fec", "k": 1, "h": h}),
    )


def predict(link: Link, code: Code) -> Prediction:
    """Predict what a code does for a link."""
    k, h = code.data_packets, code.parity_packets
    residual = residual_loss(code, link.loss_ratio)
    # A lost frame waits for the rest of its block and for as many parity frames as its block lost.
    lost = 1 + (k + h - 1) * link.loss_ratio
    typical_s = (k - 1) / 2 * link.serialisation_s(fec.HEADER_BYTES) + min(lost, h) * _parity_s(link)
    coded = link.frame_bytes

    def at(loss_ratio: float) -> tuple[float, float]:
        return residual_loss(code, loss_ratio), speed_gbps(link, code, loss_ratio)

    return Prediction(
        protection=f"fec:{k}/{h}",
        effective_loss_ratio=Figure(residual, EXACT),
        effective_speed_gbps=Figure(speed_gbps(link, code, link.loss_ratio), EXACT),
        added_latency_us_typical=Figure(typical_s * 1e6, EXACT),
        added_latency_us_worst=Figure(float(_worst_s(link, k, h)) * 1e6, BOUND),
        sender_buffer_kb=Figure(h * coded / 1e3, EXACT),
        receiver_buffer_kb=Figure((k * coded + h * (coded + PARITY_GROWTH_BYTES)) / 1e3, BOUND),
        at=at,
    )


def residual_loss(code: Code, loss_ratio: float) -> float:
    """Loss that stays behind a code."""
    return float(
        fec.residual_loss_ratio(
            data_packets=code.data_packets, parity_packets=code.parity_packets, loss_ratio=loss_ratio
        )
    )


def speed_gbps(link: Link, code: Code, loss_ratio: float) -> float:
    """Original octets that a busy link delivers through a code."""
    share = float(_share(link, code.data_packets, code.parity_packets))
    return link.rate_bps * share * (1 - residual_loss(code, loss_ratio)) / 1e9


def _share(link: Link, k: np.ndarray | int, h: np.ndarray | int) -> np.ndarray:
    return fec.capacity_share(
        data_packets=k,
        parity_packets=h,
        frame_wire_bytes=link.wire_bytes,
        parity_growth_bytes=PARITY_GROWTH_BYTES,
    )


def _parity_s(link: Link) -> float:
    return link.serialisation_s(PARITY_GROWTH_BYTES)


def _worst_s(link: Link, k: np.ndarray | int, h: np.ndarray | int) -> np.ndarray:
    """A block that the flush timer closes, and all of its parity."""
    # The simulator's timer goes by full-size frames, whatever the traffic.
    full_s = (1_538 + fec.HEADER_BYTES) * 8 / link.rate_bps
    return np.asarray(FLUSH_BLOCKS * np.asarray(k) * full_s + np.asarray(h) * _parity_s(link))
