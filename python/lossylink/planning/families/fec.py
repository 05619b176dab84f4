"""The best block code for a link: the largest share of the line among those that meet target and budget."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

from lossylink.declared.protections._bounds import most
from lossylink.declared.protections.fec.code import PARITY_GROWTH_BYTES
from lossylink.planning.link import Link
from lossylink.planning.prediction import BOUND, CHAIN, ESTIMATE, EXACT, Figure, Outline, Prediction
from lossylink.theory import bursts, fec
from lossylink.theory.bursts import Chain, Process

FLUSH_BLOCKS: Final = 4
"""A partial block is closed after so many times a full one at line rate (docs/protocols/fec.md)."""


@dataclass(frozen=True, kw_only=True)
class Code:
    """A block code."""

    data_packets: int
    parity_packets: int


def plan(link: Link, *, target: float, budget_us: float | None) -> Iterable[Prediction]:
    """Predict the best code."""
    yield predict(link, best_code(link, target=target, budget_us=budget_us))


def outline(link: Link, *, target: float) -> Iterable[Outline]:
    """Outline the best code, which may take its time."""
    code = best_code(link, target=target, budget_us=None)
    loss, speed = residual_loss(code, link), speed_gbps(link, code)
    spelling = f"fec:{code.data_packets}/{code.parity_packets}"
    yield Outline(spelling, loss, speed)
    # In order, frames wait for the rest of a block that lost one, and the speed is the same.
    yield Outline(f"{spelling},release=in-order", loss, speed)


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
    residual = _residuals(link, k, h)
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
    residual, method = residual_loss(code, link), EXACT if link.chain is None else CHAIN
    # A lost frame waits for the rest of its block and for as many parity frames as its block lost.
    lost = _losses_of_a_block(code, link)
    typical_s = (k - 1) / 2 * link.serialisation_s(fec.HEADER_BYTES) + min(lost, h) * _parity_s(link)
    coded = link.frame_bytes

    def at(loss_ratio: float) -> tuple[float, float]:
        other = link.at(loss_ratio)
        return residual_loss(code, other), speed_gbps(other, code)

    return Prediction(
        protection=f"fec:{k}/{h}",
        effective_loss_ratio=Figure(residual, method),
        effective_speed_gbps=Figure(speed_gbps(link, code), method),
        added_latency_us_typical=Figure(typical_s * 1e6, EXACT if method == EXACT else ESTIMATE),
        added_latency_us_worst=Figure(float(_worst_s(link, k, h)) * 1e6, BOUND),
        sender_buffer_kb=Figure(h * coded / 1e3, EXACT),
        receiver_buffer_kb=Figure((k * coded + h * (coded + PARITY_GROWTH_BYTES)) / 1e3, BOUND),
        lost_together=_lost_together(code, link),
        at=at,
    )


def residual_loss(code: Code, link: Link) -> float:
    """Loss that stays behind a code."""
    k, h = code.data_packets, code.parity_packets
    return float(_residuals(link, np.array([[k]]), np.array([[h]]))[0, 0])


def _residuals(link: Link, k: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Loss that stays behind each of a grid of codes.

    Independent losses have a closed form. Bit errors hit the longer parity more often: that is a sum over two
    binomials, which the chain makes when it has no memory.
    """
    if link.is_independent and link.native_loss["model"] != "bit-error-rate":
        return fec.residual_loss_ratio(data_packets=k, parity_packets=h, loss_ratio=link.loss_ratio)
    data, parity = _chains(link)
    most = {"data_packets": int(k.max()), "parity_packets": int(h.max())}
    table = bursts.block_residual_ratio(data, **most, parity_chain=parity)
    return np.asarray(table[k - 1, h - 1])


def _chains(link: Link) -> tuple[Process, Process]:
    """The losses of data and of parity frames."""
    process = link.process
    if process is not None:
        return process, process
    data, parity = (link.frame_loss_ratio(grown) for grown in (fec.HEADER_BYTES, PARITY_GROWTH_BYTES))
    # Two states that lose alike: no memory, and the same states for both sizes.
    return tuple(Chain(to_bad=0.5, to_good=0.5, loss_good=p, loss_bad=p) for p in (data, parity))  # type: ignore[return-value]


def _losses_of_a_block(code: Code, link: Link) -> float:
    """Frames that a block loses, seen from one that was lost."""
    process = link.process
    if process is None:
        return 1 + (code.data_packets + code.parity_packets - 1) * link.loss_ratio
    return bursts.block_losses_given_one(
        process, data_packets=code.data_packets, parity_packets=code.parity_packets
    )


def _lost_together(code: Code, link: Link) -> float:
    """Data frames that one event takes: those lost of a block that cannot be rebuilt."""
    k, h = code.data_packets, code.parity_packets
    if link.chain is not None:
        return max(h + 1.0, link.chain.mean_run)
    failures = float(fec.block_failure_ratio(data_packets=k, parity_packets=h, loss_ratio=link.loss_ratio))
    return max(1.0, k * residual_loss(code, link) / failures) if failures else 1.0


def speed_gbps(link: Link, code: Code) -> float:
    """Original octets that a busy link delivers through a code."""
    share = float(_share(link, code.data_packets, code.parity_packets))
    return link.rate_bps * share * (1 - residual_loss(code, link)) / 1e9


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
