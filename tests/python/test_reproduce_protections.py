"""The comparison of protections: what is run, what a marker promises, and the map of go-back-N."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec import structs

from lossylink._package.published import load
from lossylink.charts.drawing import draw_sheet
from lossylink.reproduce.experiments.protections import bursts, jobs, window
from lossylink.reproduce.experiments.protections.charts import charts, sheets
from lossylink.reproduce.experiments.protections.experiment import EXPERIMENT
from lossylink.reproduce.experiments.protections.measures import expected_residual, is_healthy
from lossylink.reproduce.framework.model import QUICK_DIVISOR, Finished, Scale
from lossylink.reproduce.framework.runner import simulate
from lossylink.reproduce.shared.measures import residual_loss

from .synthetic import synthetic_runner

HERE = jobs.Place(100, 100)


def synthetic() -> Finished:
    made = EXPERIMENT.jobs(Scale(QUICK_DIVISOR))
    return Finished(
        {job.key: synthetic_runner(job, seed=1, threads=1, report=lambda _done, _total: None) for job in made}
    )


def test_a_quick_look_has_fewer_points() -> None:
    full, quick = EXPERIMENT.jobs(Scale()), EXPERIMENT.jobs(Scale(QUICK_DIVISOR))
    assert len(full) == 6 * 6 * 3 + len(window.SPOTS) + len(bursts.LINES) + len(bursts.FRAMES_BYTES)
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
    assert found == {
        "protections-speed": 3,
        "protections-map": 2,
        "protections-bursts": 2,
        "protections-residual": 1,
    }


def test_the_figure_of_speeds_names_its_protections() -> None:
    speeds = sheets(synthetic(), charts(synthetic(), load()))[0]
    figure = draw_sheet(speeds)
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names[:5] == ["no protection", "LinkGuardian", "LinkGuardian NB", "LLR", "FEC"]


def burst_runs(*lines: bursts.Line) -> Finished:
    """Small runs of lines with bit errors, and of independent losses."""
    wanted = {bursts.burst_job(line) for line in lines} | {bursts.independent_job(64)}
    made = [job for job in bursts.jobs(Scale(QUICK_DIVISOR)) if job.key in wanted]
    return Finished(
        {job.key: simulate(job, seed=3, threads=1, report=lambda _done, _total: None) for job in made}
    )


def test_small_frames_of_a_failed_codeword_are_beyond_registers_and_parity() -> None:
    alone, pair = bursts.Line("rs544", 1, 64), bursts.Line("rs544", 2, 64)
    finished = burst_runs(alone, pair)
    for line in (alone, pair):
        assert residual_loss(finished, bursts.burst_job(line), "none").contains(bursts.LOSS)
    five = bursts.share_left(finished, alone, "lg:copies=2")
    assert five.contains(bursts.share_beyond(alone, 5))
    assert bursts.share_left(finished, alone, "lg:copies=2,holes=unlimited").high < five.low
    assert bursts.share_left(finished, alone, "fec:32/12").value == 0
    assert bursts.share_left(finished, pair, "fec:32/12").low > 0.4
    one = residual_loss(finished, bursts.independent_job(64), "fec:32/1")
    assert one.high < 0.2 * residual_loss(finished, bursts.burst_job(alone), "fec:32/1").low


def test_registers_leave_what_a_burst_has_beyond_them() -> None:
    line = bursts.Line("rs272", 1, 64)
    shares = [bursts.share_beyond(line, registers) for registers in (0, 4, 5, 100)]
    assert shares[0] == pytest.approx(1.0)
    assert shares[1] > 0.1 > 0.01 > shares[2]  # four or five frames touch 320 octets
    assert shares[3] < 1e-9
