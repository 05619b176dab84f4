"""Plans for any loss process: chains against independent references and against the packet simulator."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lossylink import run
from lossylink.declared.protections.linkguardian import closed_forms
from lossylink.planning import Link, plan
from lossylink.planning.families import fec as fec_plan
from lossylink.planning.families import llr as llr_plan
from lossylink.planning.families.linkguardian import delays
from lossylink.planning.families.linkguardian import prediction as lg_plan
from lossylink.planning.prediction import CHAIN, EXACT, SIMULATED, Prediction
from lossylink.planning.stress import loss_interval, simulate
from lossylink.scenario.loss import Loss
from lossylink.theory import bursts, fec, llr
from lossylink.theory.bursts import Chain

from .planned_links import link

LOSSES = (1e-2, 3e-2, 1e-1)
BURSTS = (1.5, 3, 10)
PROTECTIONS = ("lg:copies=2", "lg-nb:copies=2", "lg-nb:copies=1", "llr:replays=1", "fec:25/5", "fec:10/2")

CORRUPTED = 20_000
"""Corrupted frames of each point, on average, at the least."""

FAMILY_DOUBT = 0.01
"""Chance that one sound case of the whole grid is called wrong; fixed before the first run."""
CONFIDENCE = 1 - FAMILY_DOUBT / (len(LOSSES) * len(BURSTS) * len(PROTECTIONS))


def left(protection: str, here: Link) -> float:
    """What the chain says stays lost; LinkGuardian asks for every loss of a run."""
    word, _, rest = protection.partition(":")
    if word == "llr":
        return llr_plan.loss_left(here, int(rest.partition("=")[2]))
    if word == "fec":
        k, h = map(int, rest.split("/"))
        return fec_plan.residual_loss(fec_plan.Code(data_packets=k, parity_packets=h), here)
    copies = int(rest.partition("=")[2])
    return lg_plan.loss_left(
        closed_forms.Options(ordered=word == "lg", copies=copies, unlimited_holes=True), here
    )


@pytest.mark.parametrize("burst", BURSTS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("protection", PROTECTIONS)
def test_the_packet_simulator_meets_the_chain(protection: str, loss: float, burst: float) -> None:
    here = link(f"gilbert-elliott:mean={loss},burst={burst}")
    holes = ",holes=unlimited" if protection.startswith("lg") else ""
    row = simulate(here, protection + holes, packets=max(500_000, round(CORRUPTED / loss)), seed=11)
    low, high = loss_interval(row, confidence=CONFIDENCE)
    assert row["effective_lost_packets"] > 0
    # Of what stays lost in order, copies that outlast the wait are another cause than their loss (LG-35).
    late = row.get("late_retransmissions") or 0
    low *= 1 - late / row["effective_lost_packets"]
    assert low <= left(protection, here) <= high


@pytest.mark.parametrize("protection", ["lg-nb:copies=1", "lg-nb:copies=3", "llr:replays=1", "llr:replays=2"])
@pytest.mark.parametrize("rate_gbps", [10, 25, 400])
def test_the_loop_of_the_link_decides_how_much_a_burst_is_remembered(protection: str, rate_gbps: int) -> None:
    here = link("gilbert-elliott:mean=0.05,burst=10", rate_gbps=rate_gbps)
    holes = ",holes=unlimited" if protection.startswith("lg") else ""
    row = simulate(here, protection + holes, packets=500_000, seed=5)
    low, high = loss_interval(row, confidence=0.999)
    assert low <= left(protection, here) <= high


def test_a_power_is_wrong_under_bursts() -> None:
    """The canary: p^(N+1) lies far outside the interval that the chain lies in."""
    here = link("gilbert-elliott:mean=0.1,burst=3")
    row = simulate(here, "lg-nb:copies=2,holes=unlimited", packets=500_000, seed=11)
    low, _ = loss_interval(row, confidence=0.999)
    assert low > 0.1**3


def test_of_a_long_run_five_are_asked_for() -> None:
    here = link("gilbert-elliott:mean=0.01,burst=10")
    capped = lg_plan.loss_left(closed_forms.Options(ordered=False, copies=2, unlimited_holes=False), here)
    row = simulate(here, "lg-nb:copies=2", packets=500_000, seed=3)
    low, high = loss_interval(row, confidence=0.999)
    assert low <= capped <= high
    # Nine in ten times a run goes on: five times in a row with 0.59.
    assert capped == pytest.approx(0.01 * 0.9**5, rel=0.02)


@pytest.mark.parametrize("p", [1e-3, 0.02, 0.2])
def test_without_memory_a_chain_is_the_closed_form(p: float) -> None:
    chain, independent = Chain.without_memory(p), link(repr(p))
    here = Link.losing(Loss.of(chain.native), rate_bps=10**11, propagation_ps=0)
    for copies, unlimited in itertools.product((1, 2, 4), (True, False)):
        options = closed_forms.Options(ordered=False, copies=copies, unlimited_holes=unlimited)
        assert lg_plan.loss_left(options, here) == pytest.approx(
            closed_forms.effective_loss(options, p), rel=1e-9
        )
    k, h = np.meshgrid(np.arange(1, 129), np.arange(1, 33), indexing="ij")
    closed = fec.residual_loss_ratio(data_packets=k, parity_packets=h, loss_ratio=p)
    table = bursts.block_residual_ratio(chain, data_packets=128, parity_packets=32)
    assert table == pytest.approx(closed, rel=1e-9)
    sizes = {"lag_frames": 20, "window_frames": 25, "timer_frames": 90}
    for replays in (1, 2, 5):
        retry = bursts.link_level_retry(chain, replays=replays, init_frames=12, **sizes)
        init_frames = 12 + 90 * p / (1 - p)
        expected = llr.residual_loss_ratio(
            loss_ratio=p, replays=replays, window_frames=25, init_frames=init_frames
        )
        assert retry.residual_loss_ratio == pytest.approx(float(expected), rel=1e-9)
    assert independent.chain is None


def test_independent_losses_keep_their_figures() -> None:
    """Those of the guide before plans took chains."""
    rows = plan(link("1e-3", propagation_ps=500_000), target=1e-8).rows()
    figures = {row["protection"]: row["effective_loss_ratio"] for row in rows}
    assert figures == pytest.approx(
        {
            "none": 1e-3,
            "lg:copies=2": 1e-9,
            "lg-nb:copies=2": 1e-9,
            "llr:replays=3": 2.302e-11,
            "fec:126/4": 9.963e-9,
        },
        rel=1e-3,
    )
    # On 100 m a copy may come too late for the ordered mode, so that its closed form alone is no promise.
    methods_ = {row["protection"].partition(":")[0]: row["loss_method"] for row in rows}
    assert methods_.pop("lg") == "closed form and a run"
    assert set(methods_.values()) == {"closed form"}


def enumerated(chain: Chain, frames: int) -> list[tuple[tuple[int, ...], float]]:
    """Every outcome of so many frames with its chance, by all paths through the states."""
    outcomes = []
    for lost in itertools.product((0, 1), repeat=frames):
        at = dict(enumerate(chain.stationary))
        for is_lost in lost:
            met = {s: w * (chain.loss[s] if is_lost else 1 - chain.loss[s]) for s, w in at.items()}
            at = {s: sum(w * chain.step[t][s] for t, w in met.items()) for s in (0, 1)}
        outcomes.append((lost, float(sum(at.values()))))
    return outcomes


@pytest.mark.parametrize(
    "chain",
    [
        Chain.of_bursts(loss_ratio=0.1, burst_frames=3),
        Chain(to_bad=0.05, to_good=0.3, loss_good=0.02, loss_bad=0.7),
    ],
)
def test_a_block_is_the_sum_over_all_outcomes(chain: Chain) -> None:
    k, h = 5, 3
    expected = sum(chance * sum(lost[:k]) / k for lost, chance in enumerated(chain, k + h) if sum(lost) > h)
    table = bursts.block_residual_ratio(chain, data_packets=k, parity_packets=h)
    assert table[k - 1, h - 1] == pytest.approx(expected, rel=1e-12)
    counts = bursts.losses_among(chain, frames=6)
    for losses in range(7):
        expected = sum(chance for lost, chance in enumerated(chain, 6) if sum(lost) == losses)
        assert counts[losses] == pytest.approx(expected, rel=1e-12)


def test_longer_parity_is_lost_more_often_by_bit_errors() -> None:
    """The sum over two binomials, term by term."""
    here = link("bit-error-rate:1e-5")
    data, parity = 1 - (1 - 1e-5) ** (8 * 1524), 1 - (1 - 1e-5) ** (8 * 1544)
    k, h = 4, 2
    expected = 0.0
    for lost in itertools.product((0, 1), repeat=k + h):
        chances = [
            (p if is_lost else 1 - p) for is_lost, p in zip(lost, [data] * k + [parity] * h, strict=True)
        ]
        expected += float(np.prod(chances)) * sum(lost[:k]) / k * (sum(lost) > h)
    code = fec_plan.Code(data_packets=k, parity_packets=h)
    assert fec_plan.residual_loss(code, here) == pytest.approx(expected, rel=1e-9)
    row = simulate(here, "fec:4/2", packets=400_000)
    low, high = loss_interval(row, confidence=0.999)
    assert low <= expected <= high


def test_auto_copies_follow_the_bursts() -> None:
    """The simulated sender decides by the chain, and the planner asks the same rule."""
    for loss in ("1e-3", "gilbert-elliott:mean=1e-3,burst=1.2", "gilbert-elliott:mean=1e-3,burst=1.5"):
        result = run(
            "stress",
            protection=["lg-nb"],
            settings={"loss.forward": loss, "link.rate": "100G", "traffic.packets": 1000},
        )
        chosen = lg_plan.choose(link(loss), target=1e-8, ordered=False)
        assert result.rows.to_dicts()[0]["copies"] == chosen.copies
    assert chosen.copies > 2
    here = link("gilbert-elliott:mean=1e-3,burst=1.5")
    fewer = closed_forms.Options(ordered=False, copies=chosen.copies - 1, unlimited_holes=True)
    enough = closed_forms.Options(ordered=False, copies=chosen.copies, unlimited_holes=True)
    assert lg_plan.loss_left(enough, here) <= 1e-8 < lg_plan.loss_left(fewer, here)


def methods(planned: tuple[Prediction, ...]) -> set[str]:
    return {prediction.effective_loss_ratio.validation for prediction in planned}


def test_a_row_says_where_its_loss_is_from(tmp_path: Path) -> None:
    trace = tmp_path / "trace.txt"
    trace.write_text("0001100000" * 50 + "0" * 4500)
    for loss, expected in (
        ("bernoulli:1e-3", {EXACT}),
        ("quantised:1e-3", {EXACT}),
        ("bit-error-rate:1e-7", {EXACT}),
        ("gilbert-elliott:mean=1e-3,burst=1.5", {CHAIN}),
        ("at:100,101,5000", {SIMULATED}),
        (f"trace:{trace}", {SIMULATED}),
    ):
        planned = plan(link(loss), target=1e-3)
        assert methods(planned.predictions) == expected, loss
        for row in planned.rows():
            if expected == {SIMULATED} or row["loss_method"].endswith(" and a run"):
                assert row["loss_low"] <= row["effective_loss_ratio"] <= row["loss_high"]
            else:
                assert row["loss_low"] is row["loss_high"] is None


def test_listed_losses_are_run() -> None:
    rows = {row["protection"]: row for row in plan(link("at:100,101,5000"), target=1e-5).rows()}
    assert rows["none"]["effective_loss_ratio"] == pytest.approx(3 / 200_000)
    assert rows["lg-nb:copies=1"]["effective_loss_ratio"] == 0.0


def test_a_recording_counts_as_the_chain_of_its_bursts() -> None:
    lost = ([True] * 3 + [False] * 97) * 10
    here = Link.losing(Loss("trace:x", {"model": "trace", "lost": lost}), rate_bps=10**11, propagation_ps=0)
    assert here.chain is not None
    assert here.chain.loss_ratio == pytest.approx(0.03)
    assert here.chain.mean_run == pytest.approx(3)


def test_the_command_takes_any_loss_process(tmp_path: Path) -> None:
    (tmp_path / "marks.txt").write_text("0100000000" * 10_000)
    for loss in (
        "quantised:1e-2",
        "bit-error-rate:1e-6",
        "gilbert-elliott:0.001,0.3",
        "at:7,8,900",
        "trace:marks.txt",
    ):
        command = [sys.executable, "-m", "lossylink", "plan", "--loss", loss, "--target", "1e-2", "--json"]
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, check=False, env=dict(os.environ)
        )
        assert done.returncode == 0, done.stderr
        summary = json.loads(done.stdout)
        assert summary["link"]["loss"] == loss
        methods_ = {row["loss_method"].removesuffix(" and a run") for row in summary["rows"]}
        assert methods_ <= {"closed form", "chain", "simulated"}


def test_a_chain_scales_to_another_mean() -> None:
    classic = Chain.of_bursts(loss_ratio=1e-3, burst_frames=4)
    assert classic.scaled(0.1).loss_ratio == pytest.approx(0.1)
    assert classic.scaled(0.1).mean_run == pytest.approx(4)
    noisy = Chain(to_bad=0.01, to_good=0.1, loss_good=1e-3, loss_bad=0.5)
    for mean in (1e-4, 1e-2, 0.3):
        assert noisy.scaled(mean).loss_ratio == pytest.approx(mean)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"to_bad": 0.0, "to_good": 0.0}, "to_bad and to_good must not both be 0"),
        ({"to_bad": 2.0, "to_good": 0.1}, "to_bad must be a ratio from 0 to 1"),
    ],
)
def test_what_is_no_chain_is_refused(arguments: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Chain(**arguments)


def test_a_run_that_lost_nothing_has_the_speed_of_the_line() -> None:
    here = link("gilbert-elliott:mean=0.01,burst=3")
    assert llr_plan.speed_gbps(here, 2, 0.0) == 100.0
    assert llr_plan.speed_gbps(here, 2, 1e-9) == pytest.approx(100.0, rel=1e-6)


@pytest.mark.parametrize("burst", [1.5, 10])
@pytest.mark.parametrize("rate_gbps", [25, 100])
@pytest.mark.parametrize("mode", ["lg", "lg-nb"])
def test_no_buffer_exceeds_its_bound_under_bursts(mode: str, rate_gbps: int, burst: float) -> None:
    """A run of losses is neither acknowledged nor asked for before it ends, and no pause stops its copies."""
    here = link(f"gilbert-elliott:mean=0.01,burst={burst}", rate_gbps=rate_gbps)
    options = closed_forms.Options(ordered=mode == "lg", copies=2, unlimited_holes=True)
    row = simulate(here, options.spelling, packets=500_000, seed=7)
    held_kb = delays.sender_buffer_bytes(here) / 1e3
    assert row["tx_buffer_kb_max"] <= held_kb
    if options.ordered:
        worst_s = delays.retransmission_worst_s(here, copies=2)
        assert row["rx_buffer_kb_max"] <= delays.receiver_buffer_bytes(here, worst_s, copies=2) / 1e3
