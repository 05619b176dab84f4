"""The cliff of a line's code: its grid follows from theory, and real small runs lose what theory says."""

from __future__ import annotations

import re

import pytest

from lossylink._package.published import load
from lossylink.charts.drawing import draw_sheet
from lossylink.reproduce.experiments.cliff import EXPERIMENT
from lossylink.reproduce.experiments.cliff.charts import charts
from lossylink.reproduce.experiments.cliff.jobs import (
    FCS_BYTES,
    FRAME_BYTES,
    KP4,
    LINES,
    LOSS_RATES,
    PROTECTIONS,
    RDMA,
    STRESS,
    bits,
    expected_loss,
    key,
)
from lossylink.reproduce.experiments.cliff.measures import edge_bits, residual
from lossylink.reproduce.framework.model import QUICK_DIVISOR, Finished, Outcome, Scale, judge
from lossylink.reproduce.framework.runner import simulate
from lossylink.running.run import Run

SEEN = (1e-4, 1e-3, 1e-2)
"""Losses of which a small run sees many."""


@pytest.fixture(scope="module")
def runs() -> dict[str, Run]:
    """The points behind KP4 at full load, and those of RDMA, small."""
    made = {job.key: job for job in EXPERIMENT.jobs(Scale(QUICK_DIVISOR))}
    wanted = [key(STRESS, KP4, loss) for loss in SEEN] + [key(RDMA, KP4, loss) for loss in LOSS_RATES]
    return {one: simulate(made[one], seed=1, threads=1, report=lambda _done, _total: None) for one in wanted}


def test_every_line_loses_the_losses_of_the_grid() -> None:
    for line in LINES:
        for loss in LOSS_RATES:
            assert expected_loss(line, loss) == pytest.approx(loss, rel=2e-3)


def test_the_grid_covers_the_cliff_of_each_code_and_nothing_else() -> None:
    wide, steep = LINES[0], KP4
    assert bits(wide, 1e-3) / bits(wide, 1e-8) == pytest.approx(1e5, rel=1e-2)
    assert bits(steep, 1e-3) / bits(steep, 1e-8) == pytest.approx(2.5, rel=1e-2)


def test_claims_say_the_bit_error_ratios_of_the_grid() -> None:
    claims = [one.text for one in EXPERIMENT.claims(load()) if "bit error ratio" in one.text]
    said = [re.findall(r"\d\.\d{5,}", text) for text in claims]
    first, codes = bits(KP4, LOSS_RATES[0]), [line for line in LINES if line.code != "none"]
    edges = [[f"{bits(KP4, loss):.3g}", f"{first:.3g}"] for loss in (1e-3, 1e-2)]
    assert said == [*edges, *2 * [[f"{bits(line, LOSS_RATES[-1]):.3g}"] for line in codes]]


def test_every_point_has_every_protection_and_the_row_has_the_loss_of_full_frames(
    runs: dict[str, Run],
) -> None:
    assert FRAME_BYTES + FCS_BYTES == 1518
    for loss in SEEN:
        records = runs[key(STRESS, KP4, loss)].records
        assert [row["protection"] for row in records] == list(PROTECTIONS)
        assert records[0]["loss_rate"] == pytest.approx(expected_loss(KP4, loss), rel=1e-3)


def test_frames_are_lost_as_often_as_theory_says(runs: dict[str, Run]) -> None:
    finished = Finished(runs)
    for loss in SEEN:
        assert residual(finished, KP4, loss, "none").contains(expected_loss(KP4, loss))


def test_a_retry_moves_the_edge_of_the_tail(runs: dict[str, Run]) -> None:
    finished = Finished(runs)
    assert edge_bits(finished, RDMA, KP4, "none") < edge_bits(finished, RDMA, KP4, "llr") == bits(KP4, 1e-2)


def test_claims_about_points_that_were_not_run_are_left_open(runs: dict[str, Run]) -> None:
    outcomes = {judge(claim, Finished(runs)).judgement.outcome for claim in EXPERIMENT.claims(load())}
    assert outcomes == {Outcome.HOLDS, Outcome.NOT_RUN}


def test_figures_have_a_panel_a_line_and_the_loss_on_top(runs: dict[str, Run]) -> None:
    drawn = EXPERIMENT.sheets(Finished(runs), charts(Finished(runs), load()))
    names = [sheet.identifier for sheet in drawn]
    assert names == ["cliff-times-rdma-fct", "cliff-speed-stress", "cliff-residual-stress"]
    top = drawn[0].charts[0].top
    assert top is not None
    assert [word for _, word in top.ticks] == [f"1e-{power}" for power in range(8, 1, -1)]
    assert [place for place, _ in top.ticks] == pytest.approx(
        [bits(KP4, loss) for loss in LOSS_RATES], rel=1e-3
    )
    figure = draw_sheet(drawn[0])
    assert figure.axes[0].child_axes[0].get_xlabel() == "loss ratio of full frames"
