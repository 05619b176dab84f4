"""The Mathis study: which trials, how long, what a row holds, and what happens when it is stopped."""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lossylink
from lossylink.cli.runs.fitting import beside_the_law
from lossylink.results.checks import any_failed
from lossylink.running import mathis
from lossylink.running.mathis import Design, Trial
from lossylink.running.mathis.design import named_seed
from lossylink.running.mathis.plan import BOTTLENECK_HEADROOM, DURATION_AT_MOST_S, plan_trial
from lossylink.running.mathis.planned import overridden, planned
from lossylink.running.mathis.rows import bandwidth_interval
from lossylink.theory import llr

from .fake_simulator import BASE, FakeSimulator
from .mathis_support import study

CONTRACT = (
    *("protection", "loss_rate", "link_gbps"),
    *("mss_bytes", "rtt_ms", "loss_ratio", "model_mbps", "measured_mbps", "ratio"),
    *("realised_loss_ratio", "rtt_mean_ms", "rtt_min_ms", "loss_events", "checks"),
)
ONE = Design(mss_bytes=(1460,), rtt_ps=(6 * 10**9,), loss_ratios=(0.01,))


def trial(**changes: Any) -> Trial:
    asked: dict[str, Any] = {"mss_bytes": 1460, "rtt_ps": 6 * 10**9, "loss_ratio": 0.01}
    return Trial(index=0, seed=1, **(asked | changes))


class TestDesign:
    def test_sixty_trials_of_the_published_grid(self) -> None:
        grid = mathis.trials(Design(), seed=1)
        assert len(grid) == 60
        assert [one.index for one in grid] == list(range(60))
        assert {one.mss_bytes for one in grid} == {536, 1460, 4312}
        assert sorted({one.rtt_s * 1e3 for one in grid}) == [3.0, 77.25, 151.5, 225.75, 300.0]
        assert all(3e-5 <= one.loss_ratio <= 0.3 for one in grid)
        assert len({one.loss_ratio for one in grid}) == 60
        assert len({one.seed for one in grid}) == 60

    def test_the_seed_decides(self) -> None:
        assert mathis.trials(Design(), seed=7) == mathis.trials(Design(), seed=7)
        assert mathis.trials(Design(), seed=7) != mathis.trials(Design(), seed=8)

    def test_draws_are_the_same_on_every_machine(self) -> None:
        assert named_seed(1, "mathis/trial/0") == 74564326999956
        assert mathis.trials(Design(), seed=1)[0].loss_ratio == pytest.approx(0.08680050373138384)

    def test_a_wider_grid_keeps_the_loss_ratios_of_the_other_pairs(self) -> None:
        narrow = mathis.trials(Design(mss_bytes=(1460,)), seed=3)
        wide = mathis.trials(Design(), seed=3)
        kept = [one.loss_ratio for one in wide if one.mss_bytes == 1460]
        assert [one.loss_ratio for one in narrow] == kept

    def test_loss_ratios_are_uniform_in_their_logarithm(self) -> None:
        many = mathis.trials(Design(mss_bytes=(1460,), rtt_ps=(10**9,), loss_count=4000), seed=1)
        places = [math.log(one.loss_ratio / 3e-5) / math.log(1e4) for one in many]
        below = [sum(place < bound for place in places) / 4000 for bound in (0.25, 0.5, 0.75)]
        # Kolmogorov's bound at 4000 draws and one in 10,000 is 0.035.
        assert below == pytest.approx([0.25, 0.5, 0.75], abs=0.035)

    def test_explicit_grid(self) -> None:
        design = Design(mss_bytes=(536, 1460), rtt_ps=(10**9,), loss_ratios=(1e-3, 1e-2, 1e-1))
        grid = mathis.trials(design, seed=1)
        assert [(one.mss_bytes, one.loss_ratio) for one in grid] == [
            *((536, ratio) for ratio in (1e-3, 1e-2, 1e-1)),
            *((1460, ratio) for ratio in (1e-3, 1e-2, 1e-1)),
        ]


class TestRefusals:
    @pytest.mark.parametrize("where", ["loss_ratios", "loss_max"])
    def test_bare_percentage_is_refused_with_both_readings(self, where: str) -> None:
        value: Any = (15.66,) if where == "loss_ratios" else 15.66
        with pytest.raises(ValueError, match=r"15\.66 % or a ratio\?.*'15\.66%'.*0\.1566"):
            Design(**{where: value})

    @pytest.mark.parametrize("ratio", [0.0, 1.0, -0.1, 101.0, math.nan])
    def test_no_loss_ratio_at_all(self, ratio: float) -> None:
        with pytest.raises(ValueError, match="loss"):
            Design(loss_ratios=(ratio,))

    def test_round_trip_of_nothing(self) -> None:
        with pytest.raises(ValueError, match="RTT of 0 ps allows infinite bandwidth"):
            Design(rtt_ps=(0,))

    def test_empty_segment(self) -> None:
        with pytest.raises(ValueError, match="carries nothing"):
            Design(mss_bytes=(0,))

    def test_range_upside_down(self) -> None:
        with pytest.raises(ValueError, match="swap them"):
            Design(loss_min=0.1, loss_max=0.01)

    def test_mss_above_mtu_is_measured_and_fails_its_check(self) -> None:
        narrow = overridden(BASE, {"link.mtu_bytes": 1500})
        design = Design(mss_bytes=(4312,), rtt_ps=(6 * 10**9,), loss_ratios=(0.01,))
        row = study(narrow, design).rows[0]
        assert row["mss_bytes"] == 1460
        assert row["checks"]["mtu"]["passed"] is False

    def test_duration_without_anything_to_measure(self) -> None:
        base = BASE | {"run": {"duration_ps": 10**12, "warmup_ps": 10**12}}
        with pytest.raises(ValueError, match="leave nothing"):
            study(base, ONE)


class TestPlan:
    @settings(max_examples=200)
    @given(
        loss=st.floats(3e-5, 0.3),
        rtt_ms=st.floats(3, 300),
        mss=st.sampled_from([536, 1460, 4312]),
    )
    def test_published_range_needs_no_cap(self, loss: float, rtt_ms: float, mss: int) -> None:
        one = trial(loss_ratio=loss, rtt_ps=round(rtt_ms * 1e9), mss_bytes=mss)
        plan = plan_trial(one, loss_events=100, link_rate_bps=3 * 10**9)
        assert not plan.capped
        assert plan.segments * loss >= 100
        assert 0 < plan.warmup_ps < plan.duration_ps
        assert plan.measured_ps <= DURATION_AT_MOST_S * 1e12 * (1 + 1e-12)

    def test_rarer_losses_make_longer_trials(self) -> None:
        lengths = [
            plan_trial(trial(loss_ratio=loss), loss_events=100, link_rate_bps=3 * 10**9).measured_ps
            for loss in (1e-3, 1e-4, 3e-5)
        ]
        assert lengths == sorted(lengths)

    def test_a_cap_is_reported(self) -> None:
        plan = plan_trial(trial(loss_ratio=1e-7), loss_events=100, link_rate_bps=3 * 10**9)
        assert plan.capped
        assert planned(BASE, trial(loss_ratio=1e-7), loss_events=100).plan.capped

    def test_bottleneck_stays_clear_of_tcp(self) -> None:
        ample = plan_trial(trial(), loss_events=100, link_rate_bps=3 * 10**9)
        assert ample.link_rate_bps == 3 * 10**9
        assert not ample.link_scaled
        near = plan_trial(
            trial(mss_bytes=4312, rtt_ps=3 * 10**9, loss_ratio=3e-5), loss_events=100, link_rate_bps=3 * 10**9
        )
        reached = math.sqrt(1.5 / 3e-5) * (4312 + 78) * 8 / 3e-3
        assert near.link_rate_bps == pytest.approx(BOTTLENECK_HEADROOM * reached)
        assert near.link_scaled

    def test_cubic_is_expected_to_be_faster_on_long_paths(self) -> None:
        one = trial(rtt_ps=200 * 10**9, loss_ratio=1e-4)
        lengths = {
            name: plan_trial(
                one, loss_events=100, link_rate_bps=3 * 10**9, congestion_control=name
            ).measured_ps
            for name in ("reno", "cubic", "bbr")
        }
        assert lengths["bbr"] < lengths["cubic"] < lengths["reno"]

    def test_a_protected_trial_is_as_long_as_its_segments_take_at_line_rate(self) -> None:
        one = trial(mss_bytes=1460, rtt_ps=3 * 10**9, loss_ratio=1e-2)
        plan = plan_trial(one, loss_events=100, link_rate_bps=3 * 10**9, is_protected=True)
        assert plan.link_rate_bps == 3 * 10**9
        assert plan.measured_ps == pytest.approx(100_000 * 1538 * 8 / 3e9 * 1e12)
        far = trial(mss_bytes=1460, rtt_ps=300 * 10**9, loss_ratio=1e-2)
        plan = plan_trial(far, loss_events=100, link_rate_bps=3 * 10**9, is_protected=True)
        assert plan.measured_ps == pytest.approx(20 * 300e9)

    def test_bbr_keeps_the_configured_bottleneck(self) -> None:
        one = trial(mss_bytes=4312, rtt_ps=3 * 10**9, loss_ratio=3e-5)
        plan = plan_trial(one, loss_events=100, link_rate_bps=3 * 10**9, congestion_control="bbr")
        assert plan.link_rate_bps == 3 * 10**9


class TestConfiguration:
    def test_what_the_simulator_is_told(self) -> None:
        simulator = FakeSimulator()
        study(BASE, ONE, seed=5, simulator=simulator)
        (config,) = simulator.configurations
        assert config["experiment"] == "mathis"
        assert config["threads"] == 1
        assert config["path"] == {"rtt_ps": 6 * 10**9}
        assert config["transport"]["mss_bytes"] == 1460
        assert config["loss"] == {"forward": {"model": "bernoulli", "p": 0.01}, "reverse": {"model": "none"}}
        assert config["run"]["warmup_ps"] < config["run"]["duration_ps"]
        assert config["seed"] == named_seed(5, "mathis/trial/0")

    def test_the_base_is_left_alone(self) -> None:
        before = copy.deepcopy(BASE)
        study(BASE, ONE)
        assert before == BASE

    def test_a_duration_that_was_asked_for_wins(self) -> None:
        simulator = FakeSimulator()
        base = BASE | {"run": {"duration_ps": 9 * 10**12, "warmup_ps": 2 * 10**12, "cooldown_ps": 10**12}}
        outcome = study(base, ONE, simulator=simulator)
        assert simulator.configurations[0]["run"]["duration_ps"] == 8 * 10**12
        assert outcome.rows[0]["duration_s"] == 6.0

    def test_another_loss_process(self) -> None:
        bursts = {"model": "gilbert-elliott", "p": 0.01, "r": 0.5, "loss_good": 0.0, "loss_bad": 1.0}
        simulator = FakeSimulator()
        outcome = study(BASE, ONE, loss=bursts, simulator=simulator)
        assert simulator.configurations[0]["loss"]["forward"] == bursts
        assert outcome.rows[0]["checks"]["loss_ratio"]["passed"] is None


class TestRows:
    def test_contract_and_models(self) -> None:
        row = study(
            BASE,
            Design(mss_bytes=(1460,), rtt_ps=(6 * 10**9,), loss_ratios=(0.1566283969,)),
        ).rows[0]
        assert set(CONTRACT) <= row.keys()
        assert row["model_mbps"] == pytest.approx(4.92, abs=0.005)
        assert row["ratio"] == pytest.approx(math.sqrt(1.5))
        assert row["ratio_sqrt32"] == pytest.approx(1.0)
        assert row["pftk_mbps"] < row["sqrt32_mbps"]
        assert "cubic_mbps" not in row
        assert all(entry["passed"] for entry in row["checks"].values())

    def test_whole_study_passes_its_checks(self) -> None:
        outcome = study(BASE, seed=2, threads=2)
        assert len(outcome.rows) == 60
        assert not outcome.interrupted
        assert not any(row["capped"] for row in outcome.rows)
        assert not any_failed(outcome.rows)

    def test_cubic_rows_carry_cubic_theory(self) -> None:
        base = overridden(BASE, {"transport.congestion_control": "cubic"})
        row = study(base, ONE).rows[0]
        assert row["cubic_mbps"] == pytest.approx(row["sqrt32_mbps"])

    def test_interval_narrows_with_the_root_of_the_events(self) -> None:
        wide, narrow = bandwidth_interval(100.0, 100), bandwidth_interval(100.0, 400)
        assert wide is not None
        assert narrow is not None
        assert (wide[1] - wide[0]) == pytest.approx(2 * (narrow[1] - narrow[0]))
        assert bandwidth_interval(100.0, 0) is None

    def test_threads_change_nothing(self) -> None:
        one = study(BASE, seed=4, threads=1).rows
        two = study(BASE, seed=4, threads=3).rows
        assert one == two


class TestStopping:
    def test_finished_trials_are_kept(self) -> None:
        outcome = study(BASE, threads=1, simulator=FakeSimulator(interrupt_after=5))
        assert outcome.interrupted
        assert len(outcome.rows) == 5

    def test_refusal_of_the_simulator_reaches_the_user(self) -> None:
        simulator = FakeSimulator(refuse=True)
        with pytest.raises(ValueError, match="refuses everything"):
            study(BASE, threads=1, simulator=simulator)
        assert len(simulator.configurations) < 60

    def test_progress_ends_at_the_whole(self) -> None:
        told: list[tuple[float, float]] = []

        def note(done: float, total: float) -> None:
            told.append((done, total))

        study(BASE, seed=1, threads=1, progress=note)
        assert told[-1][0] == pytest.approx(told[-1][1])
        assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_under_llr_a_flow_gets_what_the_closed_form_of_go_back_n_leaves_of_the_link() -> None:
    point = {"transport.mss": 1460, "path.rtt": "3ms", "loss.forward": "1e-2"}
    (row,) = lossylink.run("mathis", protection=["llr"], settings=point).records
    # Profile ideal: 100 ns a decision. The replay timer is four loops with two frames each (LLR-20).
    link: dict[str, Any] = {
        "rate_bps": 3e9,
        "propagation_s": 0.0,
        "pipeline_s": 1e-7,
        "frame_wire_bytes": 1538,
    }
    left = llr.delivered_share(
        loss_ratio=row["realised_loss_ratio"],
        replays=3,
        lag_frames=llr.lag_frames(**link),
        timer_frames=llr.replay_timer_s(**link) * 3e9 / 8 / 1538,
    )
    assert row["retransmissions"] == 0
    assert row["frames_lost"] > 900
    assert row["measured_mbps"] == pytest.approx(float(left) * 3000 * 1460 / 1538, rel=0.01)
    assert row["measured_mbps"] > 50 * row["model_mbps"]  # the law is of a loss that the flow did not see
    (words,) = beside_the_law([row])
    assert words.startswith(f"llr hid losses from the flow (resent 0 of {row['frames_lost']:,})")
