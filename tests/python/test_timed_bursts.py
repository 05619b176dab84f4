"""Bursts that last a time: the load changes how many frames a burst takes, and not what the link loses."""

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


def sent(protection: str = "none", **settings: Any) -> dict[str, Any]:
    """One row of frames that follow each other over a link with the bursts."""
    keys = {"loss.forward": LOSS, "traffic.packets": PACKETS}
    keys |= {key.replace("__", "."): value for key, value in settings.items()}
    return dict(lossylink.run("stress", protection=protection, settings=keys).records[0])


def spread(frames: int, spacing_us: float) -> float:
    """Standard deviation of the share lost of frames that begin so far apart.

    A two-state chain that is lost with share b and keeps q = exp(-spacing (1/clear + 1/burst)) of a
    surplus from frame to frame: variance b (1 - b) (1 + q) / (1 - q) / n.
    """
    q = math.exp(-spacing_us * (1 / CLEAR_US + 1 / BURST_US))
    return math.sqrt(MEAN * (1 - MEAN) * (1 + q) / (1 - q) / frames)


def test_the_share_lost_is_the_share_of_time_at_any_load() -> None:
    """A line that is busy for 96, 48 and 10 % of the time loses 2 % of its frames each time."""
    lost = []
    for load_mbps in (9_600, 4_800, 960):
        keys = {"loss.forward": LOSS, "traffic.source": "udp-smooth", "traffic.rate": f"{load_mbps}Mbps"}
        row = lossylink.run("fec", protection="none", settings=keys | {"run.duration": "1s"}).records[0]
        spacing_us = 1514 * 8 / load_mbps
        assert abs(row["residual_loss_rate"] - MEAN) < SIGMAS * spread(row["frames_offered"], spacing_us)
        lost.append(row["frames_lost"])
    # All see the same fades, about a thousand, of each of which a frame more or less is met at an end.
    fades = 1e6 / (CLEAR_US + BURST_US)
    assert abs(lost[0] - 2 * lost[1]) < SIGMAS * 2 * math.sqrt(fades)
    assert abs(lost[0] - 10 * lost[2]) < SIGMAS * 10 * math.sqrt(fades)


def test_frames_of_any_size_are_lost_alike() -> None:
    row = sent(traffic__frame=60, link__rate="10Gbps")
    assert abs(row["effective_loss_rate"] - MEAN) < SIGMAS * spread(PACKETS, 0.0672)


def test_skipping_changes_no_digit() -> None:
    for protection in ("none", "lg", "llr", "fec:25/5"):
        rows = [sent(protection, run__skip=skip, traffic__packets=100_000) for skip in (True, False)]
        same = [
            {
                key: value
                for key, value in row.items()
                if key not in {"packets_per_wall_second", "frames_simulated", "frames_skipped"}
            }
            for row in rows
        ]
        assert same[0] == same[1], protection


def test_what_fades_when_is_a_property_of_the_link() -> None:
    """Twice as many frames meet the same bursts: every other one begins when one of the few does."""
    slow = sent(traffic__packets=200_000)
    fast = sent(traffic__packets=400_000, link__rate="200Gbps")
    lost = [row["effective_loss_rate"] for row in (slow, fast)]
    # Both see the same 24.6 ms. What is left are the ends of the bursts, of which a frame meets half.
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
    from lossylink.planning.families import fec as prediction

    said = prediction.residual_loss(prediction.Code(data_packets=25, parity_packets=5), here)
    row = sent("fec:25/5", loss__forward="gilbert-elliott:mean=1%,burst=300ns")
    # Losses come in blocks of 25 at the most, which fail by themselves.
    assert row["effective_loss_rate"] == pytest.approx(
        said, abs=SIGMAS * math.sqrt(said * 25 / PACKETS), rel=0.02
    )


def test_steering_is_refused() -> None:
    with pytest.raises(UserError, match="no bursts that last a time"):
        lossylink.run("stress", protection="lg", settings={"loss.forward": LOSS, "run.rare": True})


def test_the_chain_of_a_long_time_forgets() -> None:
    chain = Chain.of_fades(clear_s=1, fade_s=1, spacing_s=1e9)
    assert (chain.to_bad, chain.to_good) == (0.5, 0.5)
