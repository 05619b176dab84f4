"""Figures 3 and 4: the frames behind them and what is drawn."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np
import pytest

from lossylink.charts.mathis_curves import curves, points
from lossylink.running.mathis.figures import figure3, figure4

from .fake_simulator import BASE
from .mathis_support import study

STUDY = study(BASE, seed=1)


def test_points_carry_both_axes_and_their_bars() -> None:
    frame = points(STUDY.rows)
    assert frame.height == 60
    first, row = frame.row(0, named=True), STUDY.rows[0]
    assert first["model_bps"] == pytest.approx(row["model_mbps"] * 1e6)
    assert first["low_bps"] < first["measured_bps"] < first["high_bps"]
    assert first["window_segments"] == pytest.approx(math.sqrt(1.5 / row["loss_ratio"]))


def test_a_trial_without_a_loss_event_has_no_bar() -> None:
    row: dict[str, Any] = STUDY.rows[0] | {"measured_mbps_ci95": None}
    point = points([row]).row(0, named=True)
    assert point["low_bps"] is None
    assert point["window_high_segments"] is None
    figure3([row])
    figure4([row])


def test_curves_meet_where_losses_are_rare_and_part_where_they_are_not() -> None:
    frame = curves(rtt_ms=[6.0, 300.0], loss_min=1e-7, loss_max=0.3)
    assert frame["rtt_ms"].n_unique() == 2
    rare, frequent = frame.row(0, named=True), frame.row(-1, named=True)
    assert rare["pftk_bps"] == pytest.approx(rare["sqrt32_bps"], rel=0.02)
    assert frequent["pftk_bps"] < 0.5 * frequent["sqrt32_bps"]


@pytest.mark.parametrize("draw", [figure3, figure4])
def test_figures_show_every_trial_and_name_every_key(draw: Any) -> None:
    figure = draw(STUDY.rows)
    (axes,) = figure.axes
    drawn = [line for line in axes.get_lines() if line.get_marker() in {"o", "s", "^"}]
    assert len(drawn) == 60
    legend = {text.get_text() for text in figure.legends[0].get_texts()}
    assert {"RTT 3 ms", "RTT 300 ms", "MSS 536 B", "MSS 4312 B"} <= legend
    assert axes.get_xscale() == axes.get_yscale() == "log"
    svg = io.BytesIO()
    figure.savefig(svg, format="svg")
    assert b"</svg>" in svg.getvalue()


def test_slope_one_line_lies_on_the_diagonal() -> None:
    line = figure3(STUDY.rows).axes[0].lines[0]
    across, up = np.asarray(line.get_xdata(), dtype=float), np.asarray(line.get_ydata(), dtype=float)
    assert up == pytest.approx(across)
    assert across[0] < across[-1]


def test_nothing_to_draw() -> None:
    with pytest.raises(ValueError, match="no row to draw"):
        figure3([])
