"""Quantities of a point: speed, residual loss with its interval, added latency, and what closed forms say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from lossylink.declared.protections import parse_protection
from lossylink.declared.protections.linkguardian import closed_forms
from lossylink.planning.families import llr as retry
from lossylink.planning.families.linkguardian import prediction as copying
from lossylink.reproduce.experiments.protections.jobs import (
    LOSS_RATES,
    PLACES,
    TARGET,
    Place,
    chosen,
    clean_job,
    latency_job,
    speed_job,
)
from lossylink.reproduce.framework.missing import NotRunError, known
from lossylink.reproduce.framework.model import Finished
from lossylink.reproduce.shared.measures import residual_loss
from lossylink.statistics.estimates import Estimate
from lossylink.theory import llr

SPEED = "effective_link_speed_gbps"
Read = Callable[[Finished, Place, float, str], float]
"""Reads one number of a point: of a link, a loss and a protection's word."""


def number(key: str) -> Read:
    """Return a reader of a key at full load."""
    return lambda finished, place, loss, word: finished.number(
        speed_job(place, loss), chosen(place, loss)[word], key
    )


speed_gbps: Read = number(SPEED)


def residual(finished: Finished, place: Place, loss: float, word: str) -> Estimate:
    """Share of frames that stays lost, with the 95 % interval of its row."""
    return residual_loss(finished, speed_job(place, loss), chosen(place, loss)[word])


def residual_value(finished: Finished, place: Place, loss: float, word: str) -> float:
    """The share itself."""
    return residual(finished, place, loss, word).value


def residual_high(finished: Finished, place: Place, loss: float, word: str) -> float:
    """The upper end of its interval."""
    return residual(finished, place, loss, word).high


def added_us(percentile: str) -> Read:
    """Return a reader of the latency beyond that of the same link without loss and protection."""
    key = f"latency_us_{percentile}"

    def read(finished: Finished, place: Place, loss: float, word: str) -> float:
        alone = finished.number(clean_job(place, loss), "none", key)
        return finished.number(latency_job(place, loss), chosen(place, loss)[word], key) - alone

    return read


def losses_run(finished: Finished, place: Place, word: str) -> list[float]:
    """Return the losses that were run of a protection on a link."""
    return list(known(LOSS_RATES, lambda loss: speed_gbps(finished, place, loss, word)))


def points(
    finished: Finished, word: str, *, low: float = 0.0, high: float = 1.0
) -> Iterator[tuple[Place, float]]:
    """Yield the links and losses that were run for a protection, from a loss to another; at least one."""
    found = [
        (place, loss) for place in PLACES for loss in losses_run(finished, place, word) if low <= loss <= high
    ]
    yield from found
    if not found:
        raise NotRunError(f"no loss from {low:g} to {high:g} was run for {word}")


def realised_loss(finished: Finished, place: Place, loss: float, word: str) -> float:
    """Share of frames that the link lost in this run, frames sent again among them."""
    return number("actual_loss_rate")(finished, place, loss, word)


def first_order_gbps(place: Place, loss: float) -> float:
    """Speed by 1 / (1 + p W)."""
    share = llr.goodput_share(loss_ratio=loss, lag_frames=lag_frames(place))
    return place.gbps * float(share)


def full_gbps(place: Place, requested: float, loss: float) -> float:
    """Speed under link-level retry, with flushes, for the parameters of one loss at another."""
    value = parse_protection(chosen(place, requested)["llr"]).value
    return retry.speed_gbps(place.link(requested), value["replays"], loss)


@cache
def lag_frames(place: Place) -> float:
    """W of a link; the loss does not enter."""
    return retry.lag_frames(place.link(TARGET))


@cache
def expected_residual(place: Place, loss: float, word: str) -> float:
    """Residual loss by the closed form of the protection; late copies and full buffers are left out."""
    protection, link = parse_protection(chosen(place, loss)[word]), place.link(loss)
    if word == "none":
        return loss
    if word == "llr":
        return retry.effective_loss(link, protection.value["replays"], loss)
    if word in {"lg", "lg-nb"}:
        return closed_forms.effective_loss(copying.choose(link, target=TARGET, ordered=word == "lg"), loss)
    residual = protection.family.residual_loss(protection.value, loss_ratio=loss)
    assert residual is not None, f"{word} has a closed form"
    return residual


def is_healthy(finished: Finished, place: Place, loss: float, word: str) -> bool:
    """Whether the closed form promises `TARGET` and the run lost nothing that speaks against it."""
    promised = expected_residual(place, loss, word) <= TARGET * (1 + 1e-9)
    return promised and residual(finished, place, loss, word).value == 0
