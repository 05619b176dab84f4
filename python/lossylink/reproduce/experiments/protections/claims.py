"""What closed forms and predictions say of the protections; nothing here was published with a figure."""

from __future__ import annotations

from collections.abc import Callable

from lossylink.declared.protections import parse_protection
from lossylink.planning.families.llr import bytes_needed
from lossylink.reproduce.experiments.protections import window
from lossylink.reproduce.experiments.protections.burst_claims import burst_claims
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
from lossylink.reproduce.framework.judging import at_least, at_most, between, bounded, rare_events
from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import Basis, Claim, Finished, Published
from lossylink.reproduce.shared.measures import derived, lost_after_protection
from lossylink.theory.linkguardian import FRAME_WIRE_BYTES, HEADER_BYTES

RULE = "docs/protocols/llr.md, LLR-20"
PLAN = "lossylink plan"
MANY_LOSSES = 1e-2
"""Loss from which on a point has thousands of losses."""


def claims(_published: Published) -> tuple[Claim, ...]:
    """Speed, loss, latency and buffers, the map, then bursts of line codes."""
    return (*_speed(), *_loss(), *_costs(), _on_the_map(), *burst_claims())


def _speed() -> tuple[Claim, ...]:
    return (
        Claim(
            "LLR delivers 1 / (1 + p W) of the line within 2 % up to a loss of 1e-3",
            bounded(derived(_first_order_error), at_most(0.02), digits=2, remark="largest of all links"),
            Basis.THEORY,
            RULE,
        ),
        Claim(
            "With replays that are lost themselves, the same within 3 % up to a loss of 1e-1",
            bounded(derived(_full_error), at_most(0.03), digits=2, remark="largest of all links"),
            Basis.THEORY,
            RULE,
        ),
        Claim(
            "Selective repeat pays its copies for a loss: one frame each, on average",
            bounded(
                derived(lambda finished: _frames_a_loss(finished, "lg-nb")),
                between(0.9, 1.1),
                remark="LinkGuardian NB, frames of the line for each copy of a loss, mean from 1e-2 on",
            ),
            Basis.THEORY,
            "1 / (1 + N p)",
        ),
        Claim(
            "Go-back-N pays W for a loss, what the loop holds",
            bounded(
                derived(lambda finished: _frames_a_loss(finished, "llr")),
                between(0.9, 1.3),
                remark="frames of the line for a loss over W, mean at 1e-2; lost replays are the excess",
            ),
            Basis.THEORY,
            RULE,
        ),
        Claim(
            "At 800G over 100 m and 1e-2, a loss costs go-back-N 40 times what it costs selective repeat",
            bounded(
                derived(_price),
                at_least(40.0),
                unit="x",
                remark="both measured, copies of LinkGuardian NB included",
            ),
            Basis.PREDICTION,
            RULE,
        ),
    )


def _loss() -> tuple[Claim, ...]:
    kept = tuple(
        Claim(
            f"{name}: no more is lost than the closed form says, where it says 1e-8 or less",
            rare_events(_pooled(word), expected_rate=TARGET, published_exposure=0, noun="frames"),
            Basis.THEORY,
            PLAN,
        )
        for word, name in (("lg-nb", "LinkGuardian NB"), ("llr", "LLR"), ("fec", "FEC"))
    )
    ordered = Claim(
        "Ordered LinkGuardian gives frames up on every link at a loss of 1e-1",
        bounded(
            derived(_least_ordered_loss),
            at_least(1e-6),
            remark="least residual loss of all links",
        ),
        Basis.PREDICTION,
        "ours: recirculating buffers and the published timeout",
    )
    return (*kept, ordered)


def _costs() -> tuple[Claim, ...]:
    return (
        Claim(
            "Every protection carries the datagrams whose latency is compared",
            bounded(derived(_drops), between(0.0, 0.0), unit="frames", remark="dropped by queues, all runs"),
            Basis.SET_UP,
            "set-up",
        ),
        Claim(
            "LLR delays the median datagram by less than 0.05 us where one in 10,000 is lost or fewer",
            bounded(derived(_llr_median_us), at_most(0.05), unit="us", remark="largest of all links"),
            Basis.THEORY,
            "the number is in the preamble",
        ),
        Claim(
            "LLR hands frames on in order, each once, without a buffer at the receiver",
            bounded(
                derived(_llr_disorder),
                between(0.0, 0.0),
                unit="frames",
                remark="reordered or delivered twice, all runs",
            ),
            Basis.THEORY,
            "docs/protocols/llr.md, LLR-5",
        ),
        Claim(
            "LLR keeps no more than the sizing rule allows",
            bounded(
                derived(_llr_sender_share), at_most(1.0), remark="most of all links over the rule's bytes"
            ),
            Basis.THEORY,
            RULE,
        ),
    )


def _on_the_map() -> Claim:
    count = float(len(window.SPOTS))
    return Claim(
        "At a loss of 2 %, go-back-N keeps 95 % of the line where its closed form says so, and only there",
        bounded(
            derived(window.agreeing),
            between(count, count),
            unit="points",
            remark="lost replays counted, receivers that see errors; without lost replays one point is wrong",
        ),
        Basis.THEORY,
        "bar of a switch team's test plan, S4 of docs/protocols/llr.md",
    )


def _first_order_error(finished: Finished) -> float:
    return max(
        abs(
            speed_gbps(finished, place, loss, "llr")
            / first_order_gbps(place, realised_loss(finished, place, loss, "llr"))
            - 1
        )
        for place, loss in points(finished, "llr", high=1e-3)
    )


def _full_error(finished: Finished) -> float:
    return max(
        abs(
            speed_gbps(finished, place, loss, "llr")
            / full_gbps(place, loss, realised_loss(finished, place, loss, "llr"))
            - 1
        )
        for place, loss in points(finished, "llr")
    )


def _frames_a_loss(finished: Finished, word: str) -> float:
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


def _price(finished: Finished) -> float:
    prices = [_cost(finished, PLACES[-1], MANY_LOSSES, word) for word in ("llr", "lg-nb")]
    return prices[0] / prices[1]


def _promised(finished: Finished, word: str) -> list[tuple[Place, float]]:
    return [
        (place, loss)
        for place, loss in points(finished, word)
        if expected_residual(place, loss, word) <= TARGET * (1 + 1e-9)
    ]


def _pooled(word: str) -> Callable[[Finished], tuple[int, int]]:
    """Frames lost and frames sent, all points together."""

    def count(finished: Finished) -> tuple[int, int]:
        counted = [
            lost_after_protection(speed_job(place, loss), chosen(place, loss)[word])(finished)
            for place, loss in _promised(finished, word)
        ]
        return sum(lost for lost, _ in counted), sum(sent for _, sent in counted)

    return count


def _least_ordered_loss(finished: Finished) -> float:
    read = number("effective_loss_rate")
    return min(read(finished, place, loss, "lg") for place, loss in points(finished, "lg", low=1e-1))


def _drops(finished: Finished) -> float:
    return sum(
        finished.number(latency_job(place, loss), chosen(place, loss)[word], f"queue_drops_{kind}")
        for word in WORDS
        for place, loss in points(finished, word)
        for kind in ("data", "parity")
    )


def _llr_median_us(finished: Finished) -> float:
    read = added_us("p50")
    return max(read(finished, place, loss, "llr") for place, loss in points(finished, "llr", high=1e-4))


def _llr_disorder(finished: Finished) -> float:
    counts = [number("reordered_packets"), number("duplicates_delivered")]
    return sum(
        read(finished, place, loss, "llr") for read in counts for place, loss in points(finished, "llr")
    )


def _llr_sender_share(finished: Finished) -> float:
    read = number("tx_buffer_kb_max")
    return max(
        read(finished, place, loss, "llr") * 1e3 / bytes_needed(place.link(loss))
        for place, loss in points(finished, "llr")
    )
