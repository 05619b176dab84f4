"""Bursts that last a time: what a link loses does not depend on its load; how many frames a burst takes does."""

from __future__ import annotations

import math
from typing import Any

import pytest

import lossylink
from lossylink.errors import UserError
from lossylink.planning import Link
from lossylink.scenario.loss import parse_loss
from lossylink.theory.bursts import Chain

MEAN, BURST_US = 0.02, 20.0
LOSS = f"gilbert-elliott:mean={MEAN},burst={BURST_US:g}us"
CLEAR_US = BURST_US * (1 - MEAN) / MEAN
PACKETS = 2_000_000

SIGMAS = 4.5
"""Standard deviations that a sound case stays within: it fails once in 150,000, and the seed is fixed."""

GENERATOR_US = 0.12459
"""The switch's packet generator sends a frame so often, whatever the rate of the link."""


def sent(protection: str = "none", **settings: Any) -> dict[str, Any]:
    """One row of frames that the generator sends, over a link with the bursts."""
    keys = {"loss.forward": LOSS, "traffic.packets": PACKETS, "traffic.source": "generator"}
    keys |= {key.replace("__", "."): value for key, value in settings.items()}
    row: dict[str, Any] = lossylink.run("stress", protection=protection, settings=keys).records[0]
    return row


def spread(frames: int, spacing_us: float) -> float:
    """Standard deviation of the share lost of frames that begin so far apart.

    A two-state chain that stays lost with share b and keeps q = exp(-spacing (1/clear + 1/burst)) of a surplus
    from frame to frame: variance b (1 - b) (1 + q) / (1 - q) / n.
    """
    q = math.exp(-spacing_us * (1 / CLEAR_US + 1 / BURST_US))
    return math.sqrt(MEAN * (1 - MEAN) * (1 + q) / (1 - q) / frames)


@pytest.mark.parametrize("rate", ["100Gbps", "200Gbps", "800Gbps"])
def test_the_share_lost_is_the_share_of_time_at_any_load(rate: str) -> None:
    """The line is busy for 99, 49 and 12 % of the time, and 2 % of the frames are lost each time."""
    row = sent(link__rate=rate)
    lost = row["effective_loss_ratio"]
    assert abs(lost - MEAN) < SIGMAS * spread(PACKETS, GENERATOR_US)


def test_frames_of_any_size_are_lost_alike() -> None:
    row = sent(traffic__frame=60, traffic__source="saturated", link__rate="10Gbps")
    assert abs(row["effective_loss_ratio"] - MEAN) < SIGMAS * spread(PACKETS, 0.0672)


def test_skipping_changes_no_digit() -> None:
    for protection in ("none", "lg", "llr", "fec:25/5"):
        rows = [sent(protection, run__skip=skip, traffic__packets=100_000) for skip in (True, False)]
        same = [{key: value for key, value in row.items() if not key.startswith("run")} for row in rows]
        assert same[0] == same[1], protection


def test_what_fades_when_is_a_property_of_the_link() -> None:
    """Twice the rate of frames meets the same bursts: every other frame begins when one of the slow ones does."""
    slow = sent(traffic__packets=200_000, link__rate="100Gbps", traffic__source="saturated")
    fast = sent(traffic__packets=400_000, link__rate="200Gbps", traffic__source="saturated")
    lost = [row["effective_loss_ratio"] for row in (slow, fast)]
    # Both see the same 24.6 ms: what is left are the ends of the bursts, of which a frame meets half on average.
    bursts = 200_000 * 0.12304 / (CLEAR_US + BURST_US)
    assert abs(lost[0] - lost[1]) < SIGMAS * math.sqrt(bursts) / 200_000


def test_a_plan_takes_the_chain_that_frames_meet_at_line_rate() -> None:
    link = Link.losing(parse_loss(LOSS), rate_bps=10**11, propagation_ps=0)
    chain = link.chain
    assert chain is not None
    assert chain.loss_ratio == pytest.approx(MEAN)
    assert -math.log(chain.fading) == pytest.approx(0.12304 * (1 / CLEAR_US + 1 / BURST_US))


def test_a_code_leaves_what_the_chain_says() -> None:
    """Blocks of a saturated line are 30 frames back to back, of which more than 5 are lost."""
    here = Link.losing(parse_loss("gilbert-elliott:mean=1%,burst=300ns"), rate_bps=10**11, propagation_ps=0)
    from lossylink.protections.fec import prediction

    said = prediction.residual_loss(prediction.Code(data_packets=25, parity_packets=5), here)
    row = sent("fec:25/5", loss__forward="gilbert-elliott:mean=1%,burst=300ns", traffic__source="saturated")
    # Losses come in blocks of 25 at the most, which fail by themselves.
    assert row["effective_loss_ratio"] == pytest.approx(
        said, abs=SIGMAS * math.sqrt(said * 25 / PACKETS), rel=0.02
    )


def test_steering_is_refused() -> None:
    with pytest.raises(UserError, match="no bursts that last a time"):
        lossylink.run("stress", protection="lg", settings={"loss.forward": LOSS, "run.rare": True})


def test_the_chain_of_a_long_time_forgets() -> None:
    chain = Chain.of_fades(clear_s=1, fade_s=1, spacing_s=1e9)
    assert (chain.to_bad, chain.to_good) == (0.5, 0.5)
