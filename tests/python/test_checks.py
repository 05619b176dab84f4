"""Each methodology check: a flow that fails it, one that passes, and both sides of its threshold."""

from __future__ import annotations

import io
import json
from typing import Any, ClassVar

import pytest
from rich.console import Console

import lossylink
from lossylink.cli.runs.fitting import notes
from lossylink.results import checks
from lossylink.results.checks import Check, FlowEvidence, Status, Thresholds
from lossylink.results.headline import headline
from lossylink.statistics import intervals

HONEST: dict[str, Any] = {
    "requested_loss_ratio": 0.01,
    "frames_offered": 100_000,
    "frames_lost": 1003,
    "duration_s": 60.0,
    "rtt_mean_ms": 20.1,
    "rtt_min_ms": 20.0,
    "queue_drops": 0,
    "queue_bytes_max": 20_000,
    "link_rate_bps": 3_000_000_000,
    "requested_mss_bytes": 1460,
    "effective_mss_bytes": 1460,
    "timestamps": False,
    "mtu_bytes": 1500,
    "largest_frame_bytes": 1514,
}


def judge(name: str, thresholds: Thresholds | None = None, **changes: Any) -> Check:
    """Run one check on an honest flow with some facts changed."""
    outcome = checks.run_checks(FlowEvidence(**(HONEST | changes)), thresholds)
    return next(check for check in outcome if check.name == name)


def status(name: str, thresholds: Thresholds | None = None, **changes: Any) -> Status:
    return judge(name, thresholds, **changes).status


def test_an_honest_flow_passes_all_six() -> None:
    outcome = checks.run_checks(FlowEvidence(**HONEST))
    assert [check.name for check in outcome] == ["loss_ratio", "duration", "queue", "mss", "mtu", "offload"]
    assert {check.status for check in outcome} == {Status.PASSED}


def test_nothing_measured_is_nothing_judged() -> None:
    outcome = checks.run_checks(FlowEvidence())
    assert {check.status for check in outcome} == {Status.NOT_APPLICABLE}


class TestLossRatio:
    def test_percentage_taken_for_a_ratio(self) -> None:
        check = judge("loss_ratio", requested_loss_ratio=0.1566283969, frames_offered=1000, frames_lost=1)
        assert check.failed
        assert "percentage" in check.message
        assert "15.6628%" in check.message

    def test_ratio_taken_for_a_percentage(self) -> None:
        check = judge("loss_ratio", requested_loss_ratio=0.001, frames_offered=10_000, frames_lost=1010)
        assert check.failed
        assert "where a ratio is meant" in check.message

    def test_nothing_lost_at_all(self) -> None:
        check = judge("loss_ratio", frames_lost=0)
        assert check.failed
        assert "direction" in check.message

    def test_both_sides_of_the_interval(self) -> None:
        low, high = (
            float(bound)
            for bound in intervals.clopper_pearson(events=1003, trials=100_000, confidence=0.9999)
        )
        for bound, inward in ((low, 1 + 1e-6), (high, 1 - 1e-6)):
            assert status("loss_ratio", requested_loss_ratio=bound * inward) is Status.PASSED
            assert status("loss_ratio", requested_loss_ratio=bound / inward) is Status.FAILED

    def test_confidence_is_a_parameter(self) -> None:
        off: dict[str, Any] = {"requested_loss_ratio": 0.0109}
        assert status("loss_ratio", Thresholds(loss_ratio_confidence=0.9), **off) is Status.FAILED
        assert status("loss_ratio", Thresholds(loss_ratio_confidence=0.9999), **off) is Status.PASSED

    def test_bursts_have_no_binomial_interval(self) -> None:
        assert status("loss_ratio", loss_is_independent=False, frames_lost=5) is Status.NOT_APPLICABLE

    def test_counters_that_contradict_each_other(self) -> None:
        check = judge("loss_ratio", frames_offered=10, frames_lost=11)
        assert check.failed
        assert "same instant" in check.message

    def test_counts_missing(self) -> None:
        assert status("loss_ratio", frames_lost=None) is Status.NOT_APPLICABLE


class TestDuration:
    def test_both_sides_of_thirty_expected_losses(self) -> None:
        assert status("duration", frames_offered=3000) is Status.PASSED
        assert status("duration", frames_offered=2999) is Status.FAILED

    def test_says_how_long_it_should_have_been_at_its_own_rate(self) -> None:
        check = judge("duration", frames_offered=300, frames_lost=3, duration_s=6.0, rtt_min_ms=None)
        assert "run for at least 60 s" in check.message

    def test_start_up_does_not_shorten_the_advice(self) -> None:
        """A slow start sends much faster than the flow will; the loss law then gives the longer time."""
        check = judge(
            "duration",
            requested_loss_ratio=3e-5,
            frames_offered=200_000,
            duration_s=10.0,
            rtt_min_ms=77.25,
            frames_lost=5,
        )
        assert check.failed
        assert "run for at least 345 s" in check.message

    def test_minimum_is_a_parameter(self) -> None:
        assert status("duration", Thresholds(expected_losses_at_least=1001)) is Status.FAILED
        assert status("duration", Thresholds(expected_losses_at_least=1000)) is Status.PASSED

    def test_no_loss_needs_no_length(self) -> None:
        assert status("duration", requested_loss_ratio=0.0) is Status.NOT_APPLICABLE

    def test_no_frame_at_all(self) -> None:
        assert judge("duration", frames_offered=0, frames_lost=0).failed


class TestQueue:
    def test_both_sides_of_five_percent(self) -> None:
        standing: dict[str, Any] = {"queue_bytes_max": 10_000_000}
        assert status("queue", rtt_mean_ms=21.0, **standing) is Status.PASSED
        assert status("queue", rtt_mean_ms=21.01, **standing) is Status.FAILED

    def test_drops_fail_whatever_the_round_trips(self) -> None:
        check = judge("queue", queue_drops=3)
        assert check.failed
        assert "raise the bottleneck" in check.message

    def test_delayed_acks_are_no_queue(self) -> None:
        assert status("queue", rtt_mean_ms=30.0, queue_bytes_max=370_000) is Status.PASSED
        assert status("queue", rtt_mean_ms=30.0, queue_bytes_max=380_000) is Status.FAILED

    def test_unknown_queue_leaves_the_round_trips_to_judge(self) -> None:
        assert status("queue", rtt_mean_ms=30.0, queue_bytes_max=None) is Status.FAILED

    def test_limit_is_a_parameter(self) -> None:
        standing: dict[str, Any] = {"rtt_mean_ms": 25.0, "queue_bytes_max": 10_000_000}
        assert status("queue", Thresholds(rtt_inflation_at_most=1.25), **standing) is Status.PASSED
        assert status("queue", Thresholds(rtt_inflation_at_most=1.24), **standing) is Status.FAILED

    def test_experiment_that_studies_a_queue(self) -> None:
        assert status("queue", queueless=False, queue_drops=9) is Status.NOT_APPLICABLE


class TestMss:
    def test_one_byte_off_fails(self) -> None:
        assert status("mss", effective_mss_bytes=1460) is Status.PASSED
        assert status("mss", effective_mss_bytes=1459) is Status.FAILED
        assert status("mss", effective_mss_bytes=1461) is Status.FAILED

    def test_timestamps_are_named(self) -> None:
        check = judge("mss", effective_mss_bytes=1448, timestamps=True)
        assert "timestamps take 12 B" in check.message
        assert "MTU" not in check.message

    def test_timestamps_are_guessed_from_the_12_bytes(self) -> None:
        assert "timestamps" in judge("mss", effective_mss_bytes=1448, timestamps=None).message

    def test_mtu_is_named_with_the_one_it_needs(self) -> None:
        check = judge("mss", requested_mss_bytes=4312, effective_mss_bytes=1460)
        assert "set the MTU to 4352" in check.message

    def test_unknown_cause(self) -> None:
        assert "announced a smaller one" in judge("mss", effective_mss_bytes=1400).message


class TestMtu:
    def test_both_sides_of_what_the_segment_needs(self) -> None:
        assert status("mtu", requested_mss_bytes=4312, mtu_bytes=4352) is Status.PASSED
        check = judge("mtu", requested_mss_bytes=4312, mtu_bytes=4351)
        assert check.failed
        assert "needs an MTU of 4352" in check.message

    def test_timestamps_do_not_concern_it(self) -> None:
        assert status("mtu", timestamps=True, effective_mss_bytes=1448) is Status.PASSED


class TestOffload:
    def test_both_sides_of_one_segment(self) -> None:
        assert status("offload", largest_frame_bytes=1514 + 16) is Status.PASSED
        assert status("offload", largest_frame_bytes=1514 + 17) is Status.FAILED

    def test_super_frame_of_small_segments(self) -> None:
        small: dict[str, Any] = {"requested_mss_bytes": 536, "effective_mss_bytes": 536}
        check = judge("offload", largest_frame_bytes=54 + 121 * 536, **small)
        assert check.failed
        assert "121.0 segments of 536 B" in check.message
        assert "gso" in check.message

    def test_timestamps_are_headers(self) -> None:
        stamped: dict[str, Any] = {"effective_mss_bytes": 1448, "timestamps": True}
        slackless = Thresholds(frame_slack_bytes=0)
        assert status("offload", slackless, largest_frame_bytes=1514, **stamped) is Status.PASSED
        assert status("offload", slackless, largest_frame_bytes=1515, **stamped) is Status.FAILED


class TestEvidence:
    CONFIG: ClassVar[dict[str, Any]] = {
        "experiment": "tcp-fct",
        "link": {"rate_bps": 100_000_000_000, "mtu_bytes": 1500},
        "loss": {"forward": {"model": "bernoulli", "p": 1e-3}},
        "transport": {"mss_bytes": 1460, "timestamps": False},
        "run": {"duration_ps": 70 * 10**12, "warmup_ps": 5 * 10**12, "cooldown_ps": 5 * 10**12},
    }

    def test_configuration_fills_what_the_row_lacks(self) -> None:
        evidence = checks.evidence_from({"mss_bytes": 1460}, self.CONFIG)
        assert evidence.requested_loss_ratio == 1e-3
        assert evidence.duration_s == 60.0
        assert evidence.requested_mss_bytes == evidence.effective_mss_bytes == 1460
        assert not evidence.queueless
        assert evidence.frames_offered is None

    def test_row_says_what_was_asked_for(self) -> None:
        row = {"loss_ratio": 0.1, "mss_requested_bytes": 4312, "duration_s": 3.0}
        evidence = checks.evidence_from(row, self.CONFIG | {"experiment": "mathis"})
        assert evidence.requested_loss_ratio == 0.1
        assert evidence.requested_mss_bytes == 4312
        assert evidence.duration_s == 3.0
        assert evidence.queueless

    def test_quantised_loss_is_requested_as_quantised(self) -> None:
        config = self.CONFIG | {"loss": {"forward": {"model": "quantised", "p": 1e-3}}}
        assert checks.evidence_from({}, config).requested_loss_ratio == pytest.approx(9.994507e-4, rel=1e-6)

    def test_a_transition_probability_is_no_loss_ratio(self) -> None:
        config = self.CONFIG | {"loss": {"forward": {"model": "gilbert-elliott", "p": 0.1, "r": 0.5}}}
        assert checks.evidence_from({"loss_rate": None}, config).requested_loss_ratio is None

    def test_no_loss_is_a_ratio_of_nothing(self) -> None:
        config = self.CONFIG | {"loss": {"forward": {"model": "none"}}}
        evidence = checks.evidence_from({}, config)
        assert evidence.requested_loss_ratio == 0.0

    def test_bursty_loss_is_noticed(self) -> None:
        config = self.CONFIG | {"loss": {"forward": {"model": "gilbert-elliott", "p": 0.1, "r": 0.5}}}
        assert not checks.evidence_from({"loss_ratio": 0.1}, config).loss_is_independent

    def test_empty_configuration(self) -> None:
        assert checks.evidence_from({}, {}) == FlowEvidence(queueless=False)

    def test_impossible_fact_is_refused(self) -> None:
        with pytest.raises(ValueError, match="frames_lost"):
            checks.evidence_from({"frames_lost": -1}, {})


class TestRendering:
    OUTCOME = checks.run_checks(FlowEvidence(**(HONEST | {"mtu_bytes": 1400, "largest_frame_bytes": None})))

    def test_json_survives_a_round_trip(self) -> None:
        entry = json.loads(json.dumps(checks.as_json(self.OUTCOME)))
        assert entry["mtu"]["passed"] is False
        assert entry["offload"]["passed"] is None
        assert checks.from_json(entry) == self.OUTCOME

    def test_table_shows_every_check_and_the_mend(self) -> None:
        console = Console(width=200, file=io.StringIO(), record=True)
        console.print(checks.table(self.OUTCOME))
        text = console.export_text()
        assert all(name in text for name in checks.CHECKS)
        assert "FAILED" in text
        assert "needs an MTU of 1500" in text

    def test_any_failed_is_what_strict_asks(self) -> None:
        row = {"checks": checks.as_json(self.OUTCOME)}
        honest = {"checks": checks.as_json(checks.run_checks(FlowEvidence(**HONEST)))}
        assert checks.any_failed([honest, row])
        assert not checks.any_failed([honest, {"protection": "none"}])
        assert not checks.any_failed([])

    def test_summary_of_nothing_judged(self) -> None:
        assert checks.summary(checks.run_checks(FlowEvidence())) == "n/a"


class TestConnections:
    SETTINGS: ClassVar[dict[str, Any]] = {
        "transport.protocol": "rdma",
        "link.rate": "10Gbps",
        "flow.count": 2,
        "run.duration": "12ms",
        "run.warmup": "2ms",
        "run.cooldown": "0s",
    }

    def row(self, loss: float) -> dict[str, Any]:
        settings = self.SETTINGS | {"loss": loss}
        (row,) = lossylink.run("throughput", protection="none", settings=settings).records
        return dict(row)

    def test_a_run_whose_connections_died_fails_and_says_of_what(self) -> None:
        row = self.row(1.0)
        assert row["connection_failures"] > 0
        assert (row["average_throughput_gbps"], row["fairness"]) == (0.0, None)
        verdict = row["checks"]["connections"]
        assert verdict["passed"] is False
        assert f"{row['timeouts']:,} timeouts, {row['frames_lost']:,} frames lost" in verdict["message"]
        assert "\n" not in verdict["message"]
        assert checks.any_failed([row])

    @pytest.mark.parametrize("loss", [0.0, 0.9])
    @pytest.mark.parametrize("experiment", ["rdma-fct", "workload"])
    def test_flows_that_did_not_finish_fail_a_run(self, experiment: str, loss: float) -> None:
        settings: dict[str, Any] = {"flow.trials": 20, "loss": loss}
        if experiment == "workload":
            settings |= {"transport.protocol": "rdma", "flow.load": 0.01}
        (row,) = lossylink.run(experiment, protection="none", settings=settings).records
        assert (row["flows_unfinished"] > 0) == (loss > 0)
        verdict = row["checks"]["connections"]
        assert verdict["passed"] is (loss == 0)
        told = f"{row['flows_unfinished']} of {row['trials'] + row['flows_unfinished']} flows did not finish"
        assert verdict["message"].startswith(told if loss else "every flow finished")

    @pytest.mark.parametrize(
        ("protection", "loss", "load", "cause", "mend"),
        [
            ("lg", 0.01, 0.5, "full queues stopped them", "transport.dcqcn=on"),
            ("none", 0.3, 0.05, "losses stopped them", "transport.recovery=selective-repeat"),
        ],
    )
    def test_the_advice_is_of_the_cause_and_lets_more_flows_finish(
        self, protection: str, loss: float, load: float, cause: str, mend: str
    ) -> None:
        settings: dict[str, Any] = {"transport.protocol": "rdma", "flow.trials": 60, "loss": loss}
        settings |= {"flow.load": load}
        (row,) = lossylink.run("workload", protection=protection, settings=settings).records
        message = row["checks"]["connections"]["message"]
        assert cause in message
        assert mend in message
        assert ("dcqcn" in message) == (row["queue_drops"] > row["frames_lost"])
        key, _, value = mend.partition("=")
        (mended,) = lossylink.run("workload", protection=protection, settings=settings | {key: value}).records
        assert mended["flows_unfinished"] < row["flows_unfinished"] / 2
        assert mend not in mended["checks"]["connections"]["message"]

    def test_flows_that_did_not_finish_are_told_of_once(self) -> None:
        settings: dict[str, Any] = {"transport.protocol": "rdma", "flow.trials": 20, "flow.load": 0.01}
        rows = lossylink.run("workload", protection="none", settings=settings | {"loss": 0.9}).records
        told = [
            words for words, _ in notes(headline("workload", rows), 4, rows) if " flows did not " in words
        ]
        assert len(told) == 1
        assert told[0].startswith("check connections failed (none): ")

    def test_a_run_whose_connections_lived_passes(self) -> None:
        row = self.row(0.0)
        assert (row["connection_failures"], row["timeouts"]) == (0, 0)
        assert row["checks"]["connections"]["passed"] is True
        assert not checks.any_failed([row])


@pytest.mark.parametrize(("losses", "overflows"), [("gilbert-elliott:0.001,0.05", True), ("0.001", False)])
def test_a_reorder_buffer_that_overflows_fails_its_check(losses: str, overflows: bool) -> None:
    # Arrange, act: after a burst of twenty frames the pause runs out before the buffer is empty.
    settings = {"loss": losses, "traffic.packets": 50_000}
    (row,) = lossylink.run("stress", protection="lg:copies=1", settings=settings).records
    # Assert
    assert (row["rx_buffer_drops"] > 0) is overflows
    if overflows:
        assert row["effective_loss_rate"] > 0.5
        assert row["checks"]["reorder_buffer"]["passed"] is False
        assert f"{row['rx_buffer_drops']:,} frames" in row["checks"]["reorder_buffer"]["message"]
    else:
        assert "checks" not in row


@pytest.mark.parametrize(("mtu", "are_late"), [(9000, True), (6000, False)])
def test_repairs_that_come_after_their_wait_fail_a_check(mtu: int, are_late: bool) -> None:
    # Arrange, act: at 10G the wait is 13.6 us, and a frame of 9000 B takes 7.2 us on the line.
    settings = {
        "link.rate": "10Gbps",
        "link.mtu": mtu,
        "traffic.frame": mtu + 14,
        "loss.forward": 1e-2,
        "traffic.packets": 5000,
    }
    (row,) = lossylink.run("stress", protection="lg:copies=1", settings=settings).records
    # Assert
    assert (row["late_retransmissions"] == row["retransmissions"]) is are_late
    if are_late:
        assert list(row["checks"]) == ["late_repairs"]
        assert "take lg-nb" in row["checks"]["late_repairs"]["message"]
    else:
        assert "checks" not in row


def test_short_flows_that_do_not_finish_fail_a_check_beside_the_six() -> None:
    dead, alive = (
        lossylink.run("tcp-fct", protection="none", settings={"loss": loss, "flow.trials": 20}).records[0]
        for loss in (1.0, 0.01)
    )
    assert (dead["flows_unfinished"], dead["checks"]["connections"]["passed"]) == (20, False)
    assert set(dead["checks"]) == {*checks.CHECKS, "connections"}
    assert set(alive["checks"]) == set(checks.CHECKS)
