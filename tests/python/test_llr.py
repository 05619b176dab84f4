"""Link-level retry: its spellings, its closed forms against the simulator, and what the live lab shows."""

from __future__ import annotations

import math
from typing import Any

import pytest

import lossylink
from lossylink.declared.protections import Protection, parse_protection
from lossylink.declared.protections.llr import FAMILY, options
from lossylink.errors import UserError
from lossylink.planning.families import llr as prediction
from lossylink.planning.stress import simulate
from lossylink.planning.verify import compare
from lossylink.running.backends.live.stress import load_rate
from lossylink.scenario.loss import parse_loss
from lossylink.scenario.resolving import resolve
from lossylink.theory import llr

from .planned_links import link

DEFAULTS = {
    "family": "llr",
    "replays": 3,
    "timer_ns": None,
    "frames": None,
    "bytes": None,
    "spacing_bytes": 2048,
    "init": "best-effort",
    "flush": "best-effort",
    "reinit": True,
    "errors": "dropped",
}


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("llr", {}),
        ("llr:replays=1", {"replays": 1}),
        ("llr:replays=unlimited", {"replays": 255}),
        ("llr:timer=5us", {"timer_ns": 5000}),
        ("llr:timer=auto", {}),
        ("llr:frames=264,bytes=135000", {"frames": 264, "bytes": 135_000}),
        ("llr:bytes=auto,frames=auto", {}),
        ("llr:spacing=400B", {"spacing_bytes": 400}),
        ("llr:on_init=block,on_flush=discard", {"init": "block", "flush": "discard"}),
        ("llr:reinit=off", {"reinit": False}),
        ("llr:errors=seen", {"errors": "seen"}),
    ],
)
def test_options(text: str, changed: dict[str, Any]) -> None:
    protection = parse_protection(text)
    assert protection.value == DEFAULTS | changed
    assert Protection.of(protection.value).label == "llr"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("llr:replays=0", "replays 0 is not a whole number from 1 to 255"),
        ("llr:replays=256", "from 1 to 255"),
        ("llr:timer=66us", r"timer \(ns\) 66000 is not a whole number from 1 to 65535"),
        ("llr:timer=1500ps", "not a whole number of nanoseconds"),
        ("llr:timer=0", "is zero"),
        ("llr:frames=524289", "from 1 to 524288"),
        ("llr:spacing=399", "from 400 to 16384"),
        ("llr:spacing=16385", "from 400 to 16384"),
        ("llr:on_init=wait", "none of best-effort, block, discard"),
        ("llr:errors=hidden", "none of dropped, seen"),
        ("llr:flush=1us", "llr takes no option 'flush'; fec and fec-model have it$"),
        ("llr:copies=2", "llr takes no option 'copies'; lg and lg-nb have it$"),
    ],
)
def test_refusals(text: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        parse_protection(text)


def test_the_section_sets_them_for_every_llr() -> None:
    settings = {"protection.replays": "unlimited", "timer": "7us"}
    both = resolve("stress", settings=settings, protection=["llr", "llr:replays=2"]).protections
    assert [one.value["replays"] for one in both] == [255, 2]
    assert {one.value["timer_ns"] for one in both} == {7000}


def test_live_nobody_sees_a_corrupted_frame() -> None:
    parse_protection("llr").check(live=True)
    with pytest.raises(UserError, match="errors=seen"):
        parse_protection("llr:errors=seen").check(live=True)


def test_a_window_that_does_not_fill_the_loop_is_refused_with_the_mend() -> None:
    with pytest.raises(UserError, match=r"do not fill the loop .* it needs frames=\d+ and bytes=\d+"):
        lossylink.run("stress", settings={"traffic.packets": 100}, protection=["llr:frames=2"])


def test_the_sample_links_of_the_design() -> None:
    """SONiC's figures: bytes within 6 %, the timer within 13 % (LLR-20)."""
    for gbps, propagation_ns, sample_bytes, timer_us in (
        (200, 25, 31_184, 5.0),
        (400, 200, 67_760, 5.5),
        (800, 200, 135_000, 5.0),
    ):
        link = {"rate_bps": gbps * 1e9, "propagation_s": propagation_ns * 1e-9, "pipeline_s": 460e-9}
        assert float(llr.bytes_needed(**link, frame_wire_bytes=511)) == pytest.approx(sample_bytes, rel=0.06)
        assert float(llr.replay_timer_s(**link, frame_wire_bytes=511)) * 1e6 == pytest.approx(
            timer_us, rel=0.13
        )


def test_the_lag_is_the_simulators() -> None:
    """The literal values of the tests in crates/sim/src/net/llr/lag.rs."""
    ideal: dict[str, Any] = {
        "rate_bps": 100e9,
        "propagation_s": 0.0,
        "pipeline_s": 100e-9,
        "frame_wire_bytes": 1538,
    }
    assert float(llr.lag_frames(**ideal, spacing_bytes=1538, errors_seen=True)) == 3.0
    assert float(llr.lag_frames(**ideal, spacing_bytes=1538)) == 4.0
    long_spacing_ns = float(llr.lag_frames(**ideal, spacing_bytes=16_384, errors_seen=True)) * 123.04
    assert long_spacing_ns == pytest.approx(323.68 + 1310.72 / 2 + 123.04 / 2, rel=0.01)


@pytest.mark.parametrize("loss", [1e-4, 1e-3])
@pytest.mark.parametrize(
    ("rate_gbps", "rest"),
    [
        (10, {}),
        (100, {}),
        (100, {"propagation_ps": 500_000}),
        (400, {}),
        (800, {"switch": "ideal"}),
        (100, {"frame_bytes": 300}),
    ],
)
def test_goodput_is_one_over_one_plus_p_w(rate_gbps: int, rest: dict[str, Any], loss: float) -> None:
    here = link(loss, rate_gbps=rate_gbps, **rest)
    speed = simulate(here, "llr", packets=400_000)["effective_link_speed_gbps"]
    share = float(llr.goodput_share(loss_ratio=loss, lag_frames=prediction.lag_frames(here)))
    assert speed / rate_gbps == pytest.approx(share, rel=0.02)


@pytest.mark.parametrize("replays", [1, 2, 5])
@pytest.mark.parametrize(("rate_gbps", "loss"), [(10, 1e-2), (100, 1e-1), (400, 1e-2), (800, 1e-1)])
def test_lost_replays_and_flushes_are_in_the_prediction(rate_gbps: int, loss: float, replays: int) -> None:
    here = link(loss, rate_gbps=rate_gbps)
    predicted = prediction.predict(here, replays=replays)
    row = simulate(here, predicted.protection, packets=300_000)
    assert [one for one in compare(predicted, row) if not one.agrees] == []


def test_a_flush_gives_up_a_window() -> None:
    here = link(0.1)
    row = simulate(here, "llr:replays=1", packets=100_000)
    assert row["llr_flushes"] > 500
    # The last one of the run may find less.
    given_up = row["timeouts"] / row["llr_flushes"]
    assert given_up == pytest.approx(prediction.window_frames(here), rel=0.01)


def test_unlimited_replays_lose_nothing() -> None:
    row = simulate(link(0.3), "llr:replays=unlimited", packets=20_000)
    assert (row["effective_lost_packets"], row["llr_flushes"], row["reordered_packets"]) == (0, 0, 0)
    assert float(llr.residual_loss_ratio(loss_ratio=0.3, replays=255, window_frames=15)) == 0.0


def test_an_error_that_is_seen_costs_less() -> None:
    here = link(1e-2)
    speeds = [
        simulate(here, text, packets=200_000)["effective_link_speed_gbps"]
        for text in ("llr", "llr:errors=seen")
    ]
    delays: dict[str, Any] = {
        "rate_bps": 100e9,
        "propagation_s": 0.0,
        "pipeline_s": 659e-9,
        "frame_wire_bytes": 1538,
    }
    lags = [float(llr.lag_frames(**delays, errors_seen=seen)) for seen in (False, True)]
    shares = [float(llr.goodput_share(loss_ratio=1e-2, lag_frames=lag)) for lag in lags]
    assert lags[1] < lags[0]
    assert speeds[1] / speeds[0] == pytest.approx(shares[1] / shares[0], rel=0.01)


def late_us(lost: str, gbps: int, text: str = "llr") -> tuple[float, float]:
    """How much longer than usual the longest wait across the link was, and the share of frames lost."""
    settings = {
        "link.rate": "100Gbps",
        "link.propagation": "0ns",
        "link.mtu": 1500,
        "loss.forward": lost,
        "host.nic_rate": "100Gbps",
        "path.rtt": "10us",
        "traffic.source": "udp-smooth",
        "traffic.rate": f"{gbps}Gbps",
        "run.duration": "1ms",
    }
    row = lossylink.run("fec", settings=settings, protection=[text]).rows.row(0, named=True)
    return row["latency_us_max"] - row["latency_us_p50"], row["residual_loss_rate"]


def test_a_lost_frame_is_as_late_as_estimated() -> None:
    late, residual = late_us("at:1000,3000,5000", 85)
    expected = prediction.predict(link(1e-3), replays=3).added_latency_us_typical.value
    assert residual == 0.0
    assert late == pytest.approx(expected, rel=0.3)


def test_no_wait_exceeds_the_bound() -> None:
    """Not even where replays are lost so often that some frames wait for the timer twice."""
    predicted = prediction.predict(link(1e-3), replays=4).added_latency_us_worst.value
    late, residual = late_us("bernoulli:0.05", 30, "llr:replays=4")
    assert predicted is not None
    assert residual == 0.0
    assert 0.2 * predicted < late <= predicted


def test_the_planner_takes_as_many_replays_as_the_target_needs() -> None:
    here = link(1e-3)
    for target, replays in ((1e-4, 1), (1e-8, 3), (1e-15, 5)):
        assert prediction.fewest_replays(here, target=target, budget_us=None) == replays
        below = prediction.effective_loss(here, replays - 1, 1e-3) if replays > 1 else math.inf
        assert prediction.effective_loss(here, replays, 1e-3) <= target < below
    assert prediction.fewest_replays(link(0.99), target=1e-15, budget_us=None) == 254


def test_a_budget_takes_replays_away() -> None:
    here = link(1e-2)
    within = prediction.fewest_replays(here, target=1e-15, budget_us=20.0)
    assert 1 <= within < prediction.fewest_replays(here, target=1e-15, budget_us=None)
    assert (prediction.predict(here, replays=within).added_latency_us_worst.value or 0) <= 20.0


def test_the_live_load_leaves_room_for_replays() -> None:
    def rate(text: str, loss: str) -> int:
        return load_rate(parse_protection(text), loss=parse_loss(loss), link_bps=10**8, frame_bytes=1514)

    bare = rate("none", "0")
    assert rate("llr", "0") == bare
    assert rate("llr", "1%") == pytest.approx(bare / 1.32, rel=1e-3)
    assert rate("llr:frames=8", "1%") == pytest.approx(bare / 1.08, rel=1e-3)
    assert 0 < rate("llr", "100%") < bare


def test_the_status_has_the_names_of_the_proposal() -> None:
    near = {"llr": {"tx_ok": 500, "tx_replay": 3, "tx_timer_replays": 1, "outstanding_max_bytes": 23_000}}
    far = {"llr": {"rx_expected_seq_good": 490, "tx_nack": 2, "rx_replay": 2, "rx_duplicate_seq": 7}}
    sender, receiver = "\n".join(FAMILY.sender_lines(near)), "\n".join(FAMILY.receiver_lines(far))
    assert "tx_ok: 500, tx_replay: 3 (1 by the timer)" in sender
    assert "replay buffer: max 23 KB" in sender
    assert "rx_expected_seq_good: 490" in receiver
    assert FAMILY.recovered(near, far) == 2
    row = FAMILY.stress_row(near, far)
    assert (row["tx_buffer_kb_max"], row["rx_buffer_kb_max"], row["duplicates_dropped"]) == (23.0, 0.0, 7)


def test_closed_forms_and_options_have_the_same_defaults() -> None:
    assert (options.UNLIMITED_REPLAYS, options.SPACING_BYTES) == (llr.UNLIMITED_REPLAYS, llr.SPACING_BYTES)
