"""Quantities over all points of the comparison, which its claims are about."""

from __future__ import annotations

from lossylink.declared.protections import parse_protection
from lossylink.planning.families.llr import bytes_needed
from lossylink.reproduce.experiments.protections.jobs import (
    PLACES,
    TARGET,
    WORDS,
    Place,
    chosen,
    latency_job,
    speed_job,
)
from lossylink.reproduce.experiments.protections.measures import (
    added_us,
    expected_residual,
    first_order_gbps,
    full_gbps,
    lag_frames,
    number,
    points,
    realised_loss,
    speed_gbps,
)
from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import Finished
from lossylink.reproduce.shared.measures import lost_after_protection
from lossylink.theory.linkguardian import FRAME_WIRE_BYTES, HEADER_BYTES

MANY_LOSSES = 1e-2
"""Loss from which on a point has thousands of losses."""


def first_order_error(finished: Finished) -> float:
    """Largest relative error of 1 / (1 + p W) up to a loss of 1e-3, of all links."""
    return max(
        abs(
            speed_gbps(finished, place, loss, "llr")
            / first_order_gbps(place, realised_loss(finished, place, loss, "llr"))
            - 1
        )
        for place, loss in points(finished, "llr", high=1e-3)
    )


def full_error(finished: Finished) -> float:
    """Largest relative error of the closed form with replays that are lost themselves, of all links."""
    return max(
        abs(
            speed_gbps(finished, place, loss, "llr")
            / full_gbps(place, loss, realised_loss(finished, place, loss, "llr"))
            - 1
        )
        for place, loss in points(finished, "llr")
    )


def frames_a_loss(finished: Finished, word: str) -> float:
    """Mean over links of the line's frames that a loss costs, over what it should."""
    high = 1.0 if word == "lg-nb" else MANY_LOSSES
    found = [
        _cost(finished, place, loss, word) / _should_cost(place, loss, word)
        for place, loss in points(finished, word, low=MANY_LOSSES, high=high)
    ]
    return sum(found) / len(found)


def _cost(finished: Finished, place: Place, loss: float, word: str) -> float:
    """Frames of the line that a loss costs, headers apart."""
    loss_here = realised_loss(finished, place, loss, word)
    if loss_here == 0:
        raise NotRunError("no frame was lost")
    share = FRAME_WIRE_BYTES / (FRAME_WIRE_BYTES + HEADER_BYTES) if word == "lg-nb" else 1.0
    return (place.gbps * share / speed_gbps(finished, place, loss, word) - 1) / loss_here


def _should_cost(place: Place, loss: float, word: str) -> float:
    if word == "llr":
        return lag_frames(place)
    return float(parse_protection(chosen(place, loss)[word]).value["copies"])


def price(finished: Finished) -> float:
    """What a loss costs go-back-N over what it costs selective repeat, on the fastest and longest link."""
    prices = [_cost(finished, PLACES[-1], MANY_LOSSES, word) for word in ("llr", "lg-nb")]
    return prices[0] / prices[1]


def pooled(finished: Finished, word: str) -> tuple[int, int]:
    """Frames lost and frames sent, of all points together where the closed form promises `TARGET`."""
    counted = [
        lost_after_protection(finished, speed_job(place, loss), chosen(place, loss)[word])
        for place, loss in points(finished, word)
        if expected_residual(place, loss, word) <= TARGET * (1 + 1e-9)
    ]
    return sum(lost for lost, _ in counted), sum(sent for _, sent in counted)


def least_ordered_loss(finished: Finished) -> float:
    """Least residual loss of ordered LinkGuardian at a loss of 1e-1, of all links."""
    read = number("effective_loss_rate")
    return min(read(finished, place, loss, "lg") for place, loss in points(finished, "lg", low=1e-1))


def drops(finished: Finished) -> float:
    """Datagrams and parity that queues dropped, in all runs."""
    return sum(
        finished.number(latency_job(place, loss), chosen(place, loss)[word], f"queue_drops_{kind}")
        for word in WORDS
        for place, loss in points(finished, word)
        for kind in ("data", "parity")
    )


def llr_median_us(finished: Finished) -> float:
    """Largest delay of the median datagram by LLR, up to a loss of 1e-4."""
    read = added_us("p50")
    return max(read(finished, place, loss, "llr") for place, loss in points(finished, "llr", high=1e-4))


def llr_disorder(finished: Finished) -> float:
    """Frames that LLR reordered or delivered twice, in all runs."""
    counts = [number("reordered_packets"), number("duplicates_delivered")]
    return sum(
        read(finished, place, loss, "llr") for read in counts for place, loss in points(finished, "llr")
    )


def llr_sender_share(finished: Finished) -> float:
    """Most bytes that a sender of LLR keeps over those of the sizing rule."""
    read = number("tx_buffer_kb_max")
    return max(
        read(finished, place, loss, "llr") * 1e3 / bytes_needed(place.link(loss))
        for place, loss in points(finished, "llr")
    )
