"""The planner: its choices, what it refuses, and its predictions against the simulator."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lossylink._native import design_effect
from lossylink.charts.drawing import draw_sheet
from lossylink.declared.protections import keeps_order
from lossylink.errors import UserError
from lossylink.planning import Plan, plan, verify
from lossylink.planning.families import fec as fec
from lossylink.planning.families.linkguardian import prediction as linkguardian
from lossylink.planning.figure import plan_sheet
from lossylink.planning.prediction import KEYS, SIMULATED, Prediction
from lossylink.planning.stress import simulate
from lossylink.planning.transport import FLOWS
from lossylink.planning.verify import DIFFERS, NOT_TESTABLE, compare
from lossylink.running.runner import run

from .planned_links import link


def by_family(planned: Plan) -> dict[str, dict[str, object]]:
    return {row["protection"].partition(":")[0]: row for row in planned.rows()}


def test_every_family_has_a_row_with_every_figure() -> None:
    rows = by_family(plan(link(), target=1e-8))
    assert list(rows) == ["none", "lg", "lg-nb", "llr", "fec"]
    assert all(set(KEYS) < row.keys() for row in rows.values())
    assert [row["meets_target"] for row in rows.values()] == [False, None, True, True, True]
    assert sum(bool(row["recommended"]) for row in rows.values()) == 1


def test_the_published_losses_need_the_published_copies() -> None:
    for loss, copies in ((1e-5, 1), (1e-4, 1), (1e-3, 2)):
        chosen = linkguardian.choose(link(loss=loss), target=1e-8, ordered=True)
        assert (chosen.copies, chosen.unlimited_holes) == (copies, False)


def test_the_cap_on_requests_is_lifted_only_where_it_stands_in_the_way() -> None:
    capped = linkguardian.choose(link(loss=0.03), target=1e-7, ordered=False)
    lifted = linkguardian.choose(link(loss=0.1), target=1e-8, ordered=False)
    assert not capped.unlimited_holes
    assert lifted.spelling == "lg-nb:copies=7,holes=unlimited"


def test_the_code_is_the_fastest_that_meets_target_and_budget() -> None:
    here = link(rate_gbps=10, loss=1e-2)
    code = fec.best_code(here, target=1e-6, budget_us=60.0)
    chosen = fec.predict(here, code)
    assert chosen.meets(target=1e-6)
    assert chosen.keeps(budget_us=60.0)
    for k in range(1, 129):
        for h in range(1, 33):
            other = fec.predict(here, fec.Code(data_packets=k, parity_packets=h))
            if other.meets(target=1e-6) and other.keeps(budget_us=60.0):
                assert speed_of(other) <= speed_of(chosen) * (1 + 1e-6)


def speed_of(prediction: Prediction) -> float:
    speed = prediction.effective_speed_gbps.value
    assert speed is not None
    return speed


def test_a_budget_makes_blocks_smaller() -> None:
    free = fec.best_code(link(), target=1e-8, budget_us=None)
    tight = fec.best_code(link(), target=1e-8, budget_us=5.0)
    assert tight.data_packets < free.data_packets
    assert (fec.predict(link(), tight).added_latency_us_worst.value or 0) <= 5.0


def test_a_cable_longer_than_the_timeout_defeats_the_ordered_mode() -> None:
    far = link(propagation_ps=5_000_000, loss=1e-3)
    rows = by_family(plan(far, target=1e-8))
    assert (rows["lg"]["meets_target"], rows["lg-nb"]["meets_target"]) == (False, True)
    assert rows["lg"]["validation"]["effective_loss_ratio"] == SIMULATED  # type: ignore[index]


@pytest.mark.parametrize(
    ("rate_gbps", "loss", "rest"),
    [
        (100, 1e-3, {"propagation_ps": 500_000}),
        (10, 1e-2, {}),
        (400, 1e-3, {}),
        (25, 1e-2, {"switch": "ideal", "propagation_ps": 5_000_000}),
        (200, 1e-3, {"frame_bytes": 300}),
        (100, 1e-1, {}),
        (400, 1e-2, {}),
        (10, 1e-5, {}),
    ],
)
def test_the_simulator_agrees(rate_gbps: int, loss: float, rest: dict[str, object]) -> None:
    comparisons = verify(plan(link(rate_gbps=rate_gbps, loss=loss, **rest), target=1e-6), packets=200_000)
    assert {comparison.protection.partition(":")[0] for comparison in comparisons} == {
        "none",
        "lg",
        "lg-nb",
        "llr",
        "fec",
    }
    assert [comparison for comparison in comparisons if not comparison.agrees] == []


def test_losses_that_come_together_are_one_event() -> None:
    """A block that cannot be rebuilt takes tens of packets: alone it is no evidence against 1e-5."""
    planned = plan(link(loss=0.1), target=1e-5)
    prediction = next(p for p in planned.predictions if p.protection == "fec:128/32")

    def verdict(lost: int, *batches: int) -> str:
        row = simulate(planned.link, prediction.protection, packets=4_000) | {
            "packets_sent": 300_000,
            "effective_lost_packets": lost,
            "effective_loss_rate": lost / 300_000,
        }
        # Of 64 batches those with losses; the block of 160 that fails loses 33 and more.
        by_batch = [(count, 300_000 // 64) for count in [*batches, *[0] * (64 - len(batches))]]
        factor, count = design_effect(by_batch, (28.0, 28.0))
        row |= {"effective_loss_design_effect": factor, "effective_loss_batches": count}
        loss = compare(prediction, row)[0]
        assert loss.quantity == "effective_loss_ratio"
        return loss.verdict

    assert verdict(28, 28) == NOT_TESTABLE
    assert verdict(600, *[30] * 20) == DIFFERS


def test_a_wrong_prediction_is_noticed() -> None:
    planned = plan(link(), target=1e-8)
    elsewhere = Plan(**(planned.__dict__ | {"link": link(rate_gbps=40)}))
    assert not all(comparison.agrees for comparison in verify(elsewhere, packets=50_000))


def test_what_nothing_reaches_is_refused_with_the_best() -> None:
    with pytest.raises(
        UserError, match=r"^no protection reaches 1e-15 at 95 % loss on this link; the best is "
    ):
        plan(link(loss=0.95), target=1e-15)
    with pytest.raises(UserError, match=r"within 0\.1 us; the best is none with 0\.001$"):
        plan(link(), target=1e-8, budget_us=0.1)


def test_the_figure_shows_every_protection() -> None:
    drawing = draw_sheet(plan_sheet(plan(link(), target=1e-8)))
    losses, speeds = drawing.axes
    assert drawing.legends[0].get_texts()[0].get_text() == "no protection"
    assert losses.get_ylabel() == "effective loss ratio"
    assert speeds.get_ylabel() == "effective speed (Gb/s)"


def lossylink(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lossylink", *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False, env=dict(os.environ))


def test_a_plan_loads_neither_scipy_nor_matplotlib() -> None:
    """They take longer to load than everything else that a plan needs."""
    loaded = (
        "import sys; from lossylink.planning import Link, plan;"
        "plan(Link(rate_bps=10**11, propagation_ps=0, loss_ratio=1e-3), target=1e-8);"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & {'scipy', 'matplotlib', 'polars'}))"
    )
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_command_prints_one_object_and_draws(tmp_path: Path) -> None:
    words = ["--loss", "0.1%", "--length", "100m", "--json", "--plot", "plan.svg"]
    done = lossylink("plan", *words, cwd=tmp_path)
    summary = json.loads(done.stdout)
    assert (done.returncode, summary["link"]["propagation_ns"], summary["link"]["loss_ratio"]) == (
        0,
        500,
        1e-3,
    )
    assert [row["protection"] for row in summary["rows"] if row["recommended"]] == [summary["recommended"]]
    assert (tmp_path / "plan.svg").stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--loss", "2"], "--loss: 2 % or a ratio?"),
        (["--loss", "0"], "a loss of 0 leaves nothing to plan"),
        (["--loss", "none"], "a loss of 0 leaves nothing to plan"),
        (["--loss", "gilbert:1e-3"], "--loss: unknown loss model 'gilbert'"),
        (["--loss", "gilbert-elliott:mean=1e-3"], "give p and r (and bad, good), or mean and burst"),
        (["--loss", "at:3000000"], "a plan runs at most 2000000 frames, and the loss lists frame 3000000"),
        (["--loss", "trace:missing.txt"], "cannot read the loss trace missing.txt"),
        (["--loss", "quantised:1e-7"], "a loss of 0 leaves nothing to plan"),
        (["--link", "100"], "--link: '100' has no unit"),
        (["--target", "1.5"], "--target: 1.5 % or a ratio?"),
        (["--length", "10m", "--propagation", "5ns"], "--length and --propagation say the same"),
        (["--frame", "20"], "a frame of 20 B does not fit Ethernet"),
        (["--switch", "tofino9"], "unknown switch profile 'tofino9'; did you mean 'tofino1'?"),
        (["--plot", "plan.gif"], "end the name with .png, .svg or .pdf"),
        (
            ["--workload", "rpc"],
            "--workload has flows of a transport; add --transport tcp or --transport rdma",
        ),
        (["--transport", "tcp", "--workload", "rpc", "--flow", "2MB"], "leave --flow out"),
        (["--transport", "tcp", "--load", "50%"], "--load is of flows that share links; add --workload"),
        (["--transport", "tcp", "--workload", "rcp"], "did you mean 'rpc'"),
        (["--loss", "95%", "--target", "1e-15"], "no protection reaches 1e-15 at 95 % loss"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(words: list[str], message: str, tmp_path: Path) -> None:
    done = lossylink("plan", *words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_transport_chooses_by_the_completion_times_of_its_flows() -> None:
    """At 1e-3 the fastest link delivers out of order, and its flows of 2 MB are slower than in order."""
    planned = plan(link(), target=1e-8, transport="tcp")
    by_speed = plan(link(), target=1e-8)
    times = {one.protection: one for one in planned.carried}
    chosen, fastest = planned.recommended or "", by_speed.recommended or ""
    assert keeps_order(chosen)
    assert not keeps_order(fastest)
    assert times[chosen].high < times[fastest].low
    for word in (chosen, fastest):
        assert f"{times[word].fct_us_p99:,.0f} us" in planned.reason
    assert "out of order" in by_speed.reason
    assert "--transport" in by_speed.reason
    rows = {row["protection"]: row for row in planned.rows()}
    assert rows[chosen]["recommended"] is True
    assert rows[chosen]["fct_us_p99"] == times[chosen].fct_us_p99
    result = run(
        "tcp-fct",
        protection=[chosen],
        settings={
            "flow.size": "2MB",
            "flow.trials": FLOWS,
            "loss.forward": "1e-3",
        },
        seed=1,
    )
    assert result.rows["fct_us_p99"][0] == pytest.approx(times[chosen].fct_us_p99, rel=0.02)


def test_of_flows_that_are_not_told_apart_the_fastest_link_carries_them() -> None:
    """One frame in a million is lost: the 99th percentile of all protections is that of a clean link."""
    planned = plan(link(loss=1e-6), target=1e-9, transport="rdma", flow_bytes=100_000)
    meeting = [one for one in planned.predictions if one.meets(target=1e-9)]
    fastest = max(meeting, key=lambda one: one.effective_speed_gbps.value or 0.0)
    assert len(meeting) > 2
    assert planned.recommended == fastest.protection
    assert "it is the fastest" in planned.reason
