"""What a plan may promise: a target is met, missed, or not testable, and advice rests on what was shown."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossylink.cli.exits import FAILED, MISTAKE
from lossylink.errors import UserError
from lossylink.planning import Link, Plan, plan
from lossylink.planning.fabric import plan_fabric, policies, years_below
from lossylink.planning.families.linkguardian import delays
from lossylink.planning.families.linkguardian import prediction as lg_plan
from lossylink.planning.link import MOST_PROBE_FRAMES, PROBE_FRAMES
from lossylink.planning.planner import count_words
from lossylink.planning.prediction import (
    EXACT,
    NONE_SEEN,
    SIMULATED,
    Figure,
    Prediction,
    frames_showing,
)
from lossylink.planning.stress import loss_interval, simulate, simulated_loss
from lossylink.scenario.loss import Loss
from lossylink.statistics.estimates import binomial_interval

from .conftest import Ended

Command = Callable[..., Ended]
FRAMES = 400_000


def recorded(lost: np.ndarray) -> Link:
    loss = Loss("trace:it", {"model": "trace", "lost": lost.tolist()})
    return Link.losing(loss, rate_bps=10**11, propagation_ps=0)


def independent(frames: int = FRAMES, ratio: float = 2e-4) -> np.ndarray:
    return np.random.default_rng(1).random(frames) < ratio


def verdicts(planned: Plan) -> dict[str, bool | None]:
    return {row["protection"].partition(":")[0]: row["meets_target"] for row in planned.rows()}


def predicted(loss: Figure, *, lost_together: float = 1.0) -> Prediction:
    nothing = Figure(None)
    return Prediction(
        protection="made up",
        effective_loss_ratio=loss,
        effective_speed_gbps=nothing,
        added_latency_us_typical=nothing,
        added_latency_us_worst=nothing,
        sender_buffer_kb=nothing,
        receiver_buffer_kb=nothing,
        lost_together=lost_together,
        at=lambda _: (0.0, 0.0),
    )


@given(st.floats(1e-9, 0.5), st.floats(0.0, 1.0), st.floats(1.0, 100.0), st.floats(1e-10, 0.9))
def test_an_interval_meets_a_target_with_its_upper_end_and_misses_it_with_its_lower(
    value: float, below: float, above: float, target: float
) -> None:
    low, high = value * below, min(1.0, value * above)
    is_met = predicted(Figure(value, SIMULATED, low, high)).meets(target=target)
    if is_met:
        assert high <= target * (1 + 1e-9)
    elif is_met is None:
        assert low <= target * (1 + 1e-9) < high * (1 + 2e-9)
    else:
        assert low > target
    assert predicted(Figure(value, EXACT)).meets(target=target) is (value <= target * (1 + 1e-9))


def test_the_frames_that_test_a_target_are_those_whose_interval_just_reaches_it() -> None:
    """Two-sided at 95 %: (1 - target)^n = 0.025 for events that come alone."""
    one = predicted(Figure(0.0, SIMULATED, 0.0, 1e-6))
    assert one.frames_to_test(target=1e-8) == pytest.approx(math.log(0.025) / math.log1p(-1e-8), rel=1e-6)
    assert f"{one.frames_to_test(target=1e-8):.3g}" == "3.69e+08"
    together = predicted(Figure(0.0, SIMULATED, 0.0, 1e-6), lost_together=15.0)
    assert together.frames_to_test(target=1e-8) == pytest.approx(15 * one.frames_to_test(target=1e-8))
    assert one.row(target=1e-8, budget_us=None)["frames_to_test"] == one.frames_to_test(target=1e-8)
    assert one.row(target=1e-5, budget_us=None)["frames_to_test"] is None


def test_the_interval_of_none_lost_is_the_closed_form() -> None:
    """(1 - high)^n = 0.025, for as many independent frames as tell as much."""
    link = Link(rate_bps=10**11, propagation_ps=0, loss_ratio=1e-5)
    row = simulate(link, "lg-nb:copies=2", packets=50_000)
    assert row["effective_lost_packets"] == 0
    found = simulated_loss(row)
    independent = row["packets_sent"] / row["effective_loss_design_effect"]
    assert (found.value, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(-math.expm1(math.log(0.025) / independent), rel=1e-6)


def test_a_recording_shows_no_loss_rarer_than_it_is_long() -> None:
    planned = plan(recorded(independent()), target=1e-8)
    assert verdicts(planned) == {"none": False, "lg": None, "lg-nb": None, "llr": None, "fec": None}
    for row in planned.rows()[1:]:
        assert row["loss_high"] >= 0.99 * NONE_SEEN / FRAMES
        assert row["frames_to_test"] >= 3.68e8


def test_below_what_was_seen_advice_rests_on_the_model_that_fits_and_says_so() -> None:
    planned = plan(recorded(independent()), target=1e-8)
    assert planned.model is not None
    assert planned.model.link is not None
    assert planned.recommended is not None
    words = planned.sentence
    assert words.startswith(f"take {planned.recommended}: ")
    assert f"a model of losses that are independent, {planned.model.spelling}, which fits" in words
    assert "extrapolation" in words
    chosen = next(row for row in planned.rows() if row["recommended"])
    assert chosen["meets_target"] is None
    assert chosen["loss_by_model"] <= 1e-8
    # By a model at the upper end: parameters that would do for the mean alone are not taken.
    assert planned.model.link.loss_ratio > independent().mean()
    plain = plan(
        Link(rate_bps=10**11, propagation_ps=0, loss_ratio=planned.model.link.loss_ratio), target=1e-8
    )
    assert chosen["loss_by_model"] == pytest.approx(
        next(row for row in plain.rows() if row["protection"] == chosen["protection"])[
            "effective_loss_ratio"
        ],
        rel=1e-6,
    )


def test_what_a_recording_does_show_needs_no_model() -> None:
    planned = plan(recorded(independent()), target=1e-3)
    assert planned.model is None
    assert verdicts(planned)["none"] is True
    assert "model" not in planned.sentence
    between = plan(recorded(independent()), target=2e-5)
    assert verdicts(between)["lg-nb"] is True
    assert verdicts(between)["fec"] is None
    assert between.recommended is not None
    assert verdicts(between)[between.recommended.partition(":")[0]] is True


def _periodic() -> np.ndarray:
    return np.isin(np.arange(FRAMES) % 1_000, [7])


def _few() -> np.ndarray:
    return np.isin(np.arange(FRAMES), [1_000, 200_000])


@pytest.mark.parametrize(
    ("lost", "why"),
    [
        (_periodic(), "no model fits: the losses are periodic"),
        (_few(), "fewer than 10 runs of losses are too few"),
    ],
)
def test_without_a_model_nothing_is_recommended(lost: np.ndarray, why: str) -> None:
    planned = plan(recorded(lost), target=1e-8)
    assert planned.recommended is None
    assert not any(row["recommended"] for row in planned.rows())
    assert planned.sentence.startswith("nothing to take: 1e-08 is not testable with 400,000 frames")
    assert "frames without a loss would show it" in planned.sentence
    assert why in planned.sentence


def test_a_list_of_frames_is_no_sample() -> None:
    loss = Loss("at:100,101,5000", {"model": "at", "positions": [100, 101, 5000]})
    link = Link.losing(loss, rate_bps=10**11, propagation_ps=0)
    planned = plan(link, target=1e-8)
    assert planned.recommended is None
    assert "a list of frames is no sample" in planned.sentence
    assert verdicts(plan(link, target=1e-3))["none"] is True


def test_a_recording_that_is_repeated_shows_nothing_more() -> None:
    """Of 20,000 frames the run makes 200,000; what they show is what 20,000 do."""
    planned = plan(recorded(independent(20_000, 5e-3)), target=1e-3)
    high = {row["protection"].partition(":")[0]: row["loss_high"] for row in planned.rows()}
    assert high["lg-nb"] >= 0.99 * NONE_SEEN / 20_000
    assert f"with {20_000:,} frames" in plan(recorded(_few()[:20_000]), target=1e-8).sentence


def test_a_recording_without_a_loss_is_a_bound() -> None:
    with pytest.raises(UserError, match=r"none of 1,000 recorded frames was lost: .* at most 0\.003 at 95 %"):
        recorded(np.zeros(1_000, dtype=np.bool_))


def test_the_ordered_mode_is_not_promised_where_copies_may_come_too_late() -> None:
    """On 100 m the closed form leaves 1e-9, and a longer run loses a hundred times as much: late copies."""
    link = Link(rate_bps=10**11, propagation_ps=500_000, loss_ratio=1e-3)
    rows = {row["protection"]: row for row in plan(link, target=1e-8).rows()}
    assert rows["lg:copies=2"]["effective_loss_ratio"] == pytest.approx(1e-9)
    assert rows["lg:copies=2"]["meets_target"] is None
    assert rows["lg:copies=2"]["loss_method"] == "closed form and a run"
    assert rows["lg-nb:copies=2"]["meets_target"] is True
    row = simulate(link, "lg:copies=2", packets=10_000_000)
    low, high = loss_interval(row, confidence=0.999)
    assert row["late_retransmissions"] == row["effective_lost_packets"] > 0
    assert low > 1e-8
    assert low <= rows["lg:copies=2"]["loss_high"]
    assert high >= rows["lg:copies=2"]["loss_low"]


@given(st.floats(1e-6, 1e-3), st.floats(0.0, 1.0), st.sampled_from([1.0, 1.5, 15.0]))
def test_a_longer_run_shows_its_target_by_the_interval_of_a_row(
    target: float, share: float, together: float
) -> None:
    frames = frames_showing(target, expected=share * target, most=MOST_PROBE_FRAMES, together=together)
    if frames == 0:
        assert NONE_SEEN * together / target > 0.99 * MOST_PROBE_FRAMES
        return
    assert 0.99 * NONE_SEEN * together / target <= frames <= MOST_PROBE_FRAMES
    none_lost = {"effective_lost_packets": 0, "packets_sent": frames}
    row = none_lost | {"effective_loss_design_effect": together, "effective_loss_batches": 0}
    assert loss_interval(row, confidence=0.95)[1] <= target * (1 + 1e-6)


@pytest.mark.parametrize(
    ("target", "is_met", "frames"),
    [(3e-6, True, 1_907_737), (1.2e-6, None, PROBE_FRAMES)],
)
def test_a_run_is_as_long_as_settles_a_target_and_no_longer_than_the_planner_runs(
    target: float, is_met: bool | None, frames: int
) -> None:
    """200,000 frames without a loss show 1.8e-5; 3e-6 needs two million with at most one, 1.2e-6 more."""
    link = Link(rate_bps=10**11, propagation_ps=0, loss_ratio=1e-3)
    options = lg_plan.choose(link, target=target, ordered=True)
    assert delays.is_ever_late(link, copies=options.copies, rare=target)
    predicted = lg_plan.predict(link, options, rare=target)
    assert (predicted.meets(target=target), predicted.frames_run) == (is_met, frames)
    assert target < NONE_SEEN / PROBE_FRAMES


@pytest.mark.parametrize(
    ("rate_gbps", "loss", "switch"), [(25, 1e-4, "tofino1"), (400, 1e-3, "tofino1"), (100, 1e-3, "ideal")]
)
def test_where_no_copy_can_be_late_the_closed_form_is_the_loss(
    rate_gbps: int, loss: float, switch: str
) -> None:
    link = Link(rate_bps=rate_gbps * 10**9, propagation_ps=0, loss_ratio=loss, switch=switch)
    options = lg_plan.choose(link, target=1e-8, ordered=True)
    assert not delays.is_ever_late(link, copies=options.copies, rare=1e-8)
    assert lg_plan.predict(link, options, rare=1e-8).meets(target=1e-8) is True
    # A thousand times as many losses would be late as are corrupted in a run of the planner.
    assert simulate(link, options.spelling, packets=2_000_000, seed=3)["late_retransmissions"] == 0


def test_the_command_tells_three_verdicts_in_table_json_and_exit_code(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "a.trace").write_text("".join("01"[int(one)] for one in independent(100_000, 1e-3)))
    (tmp_path / "few.trace").write_text("".join("01"[int(one)] for one in _few()))
    told = command("plan", "--loss", "trace:a.trace", "--target", "1e-8")
    assert told.code == 0, told.err
    out = " ".join(told.out.split())
    verdicts: dict[str, str] = {}
    for line in told.out.splitlines():
        if line.startswith(("none ", "lg:", "lg-nb:", "llr:", "fec:")):
            name, _, rest = line.partition(" ")
            verdicts[name] = verdicts.get(name, "") + f" {rest} "
    assert len(verdicts) == 5
    assert " no " in verdicts.pop("none")
    assert all(" not testable " in words for words in verdicts.values())
    assert "a run of 100,000 frames cannot show 1e-08 at 95 % (two-sided); 369 million frames or more" in out
    found = json.loads(command("plan", "--loss", "trace:a.trace", "--target", "1e-8", "--json").out)
    assert [row["meets_target"] for row in found["rows"]] == [False, None, None, None, None]
    assert found["model"]["loss"].startswith("0.00")
    assert found["recommended"] == next(row["protection"] for row in found["rows"] if row["recommended"])
    nothing = command("plan", "--loss", "trace:few.trace", "--target", "1e-8", "--json")
    assert nothing.code == FAILED
    assert nothing.err == "error: nothing shows that a protection meets the target\n"
    assert json.loads(nothing.out)["recommended"] is None
    (tmp_path / "none.trace").write_text("0" * 1000)
    assert command("plan", "--loss", "trace:none.trace").code == MISTAKE


@pytest.mark.parametrize("years", [1, 5, 100])
def test_random_years_that_all_meet_a_target_bound_the_years_that_do_not(years: int) -> None:
    """With a share s of years below, N of N are not below with the chance (1 - s)^N."""
    share = years_below(years)
    assert (1 - share) ** years == pytest.approx(0.025)
    assert share == pytest.approx(binomial_interval(0, years).high)


def test_a_fabric_is_promised_for_the_years_that_were_lived_through() -> None:
    compared = policies(0.75, protections=[], deployments=[])
    planned = plan_fabric("fat-tree:k=8", compared=compared, constraint=0.5, target=0.5, years=2)
    assert "that was so in 2 years, and up to 84% of all years may still fall below" in planned.reason
    for row in planned.rows():
        assert row["years_below_share_high"] == (years_below(2) if row["meets_target"] else None)


@pytest.mark.parametrize(
    ("frames", "words"),
    [
        (1, "1"),
        (999_999.2, "1,000,000"),
        (1e6, "1 million"),
        (3.689e8, "369 million"),
        (2e12, "2,000 billion"),
    ],
)
def test_large_numbers_are_spelled(frames: float, words: str) -> None:
    assert count_words(frames) == words
