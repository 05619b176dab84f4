"""The comparison of protections: what is run, what a marker promises, and the map of go-back-N."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec import structs

from lossylink.charts.drawing import draw_sheet
from lossylink.reproduce.experiments.protections import jobs, window
from lossylink.reproduce.experiments.protections.charts import charts, sheets
from lossylink.reproduce.experiments.protections.experiment import EXPERIMENT
from lossylink.reproduce.experiments.protections.measures import expected_residual, is_healthy
from lossylink.reproduce.framework.model import QUICK_DIVISOR, Finished, Scale
from lossylink.reproduce.framework.published import load
from lossylink.reproduce.framework.runner import simulate

from .synthetic import synthetic_runner

HERE = jobs.Place(100, 100)


def synthetic() -> Finished:
    made = EXPERIMENT.jobs(Scale(QUICK_DIVISOR))
    return Finished(
        {job.key: synthetic_runner(job, seed=1, threads=1, report=lambda _done, _total: None) for job in made}
    )


def test_a_quick_look_has_fewer_points() -> None:
    full, quick = EXPERIMENT.jobs(Scale()), EXPERIMENT.jobs(Scale(QUICK_DIVISOR))
    assert len(full) == 6 * 6 * 3 + len(window.SPOTS)
    assert {job.key for job in quick} < {job.key for job in full}


def test_each_protection_has_the_parameters_that_meet_the_target() -> None:
    for loss in jobs.LOSS_RATES[:-1]:
        for word in ("lg", "lg-nb", "llr", "fec"):
            assert expected_residual(HERE, loss, word) <= jobs.TARGET * (1 + 1e-9)


def test_a_filled_marker_needs_the_promise_and_a_run_without_losses() -> None:
    finished = synthetic()
    assert is_healthy(finished, HERE, 1e-2, "llr")
    assert not is_healthy(finished, HERE, 1e-2, "none")
    key = jobs.speed_job(HERE, 1e-2)
    run = finished.runs[key]
    records = [{**row, "effective_loss_rate": 1e-4} for row in run.records]
    lossy = Finished({**finished.runs, key: structs.replace(run, records=records)})
    assert not is_healthy(lossy, HERE, 1e-2, "llr")


def test_the_edge_of_the_map_separates_its_points() -> None:
    for spot in window.SPOTS:
        edge = window.fastest_gbps(spot.switch, spot.frame_bytes)
        rate = float(np.interp(np.log(spot.metres), np.log(window.LENGTHS_M), edge))
        assert (spot.gbps <= rate) == (window.expected_share(spot) >= window.BAR), spot


def test_lost_replays_decide_where_the_bar_is_near() -> None:
    near = window.SPOTS[0]
    assert window.expected_share(near) < window.BAR < window.first_order_share(near)


@pytest.mark.parametrize("spot", window.SPOTS, ids=lambda spot: spot.job)
def test_the_simulator_is_on_the_same_side(spot: window.Spot) -> None:
    job = next(job for job in window.jobs(Scale(4)) if job.key == spot.job)
    run = simulate(job, seed=7, threads=1, report=lambda _done, _total: None)
    share = window.measured_share(Finished({spot.job: run}), spot)
    assert share == pytest.approx(window.expected_share(spot), abs=0.005)


def test_figures_are_drawn_of_what_was_run() -> None:
    assert sheets(Finished({}), charts(Finished({}), load())) == ()
    drawn = sheets(synthetic(), charts(synthetic(), load()))
    found = {sheet.identifier: len(sheet.charts) for sheet in drawn}
    assert found == {"protections-speed": 3, "protections-map": 2, "protections-residual": 1}


def test_the_figure_of_speeds_names_its_protections() -> None:
    speeds = sheets(synthetic(), charts(synthetic(), load()))[0]
    figure = draw_sheet(speeds)
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names[:5] == ["no protection", "LinkGuardian", "LinkGuardian NB", "LLR", "FEC"]
