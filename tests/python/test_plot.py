"""Figures: they draw what they are given, in colours that stay, and save to the same bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars
import pytest

from lossylink import plot
from lossylink.plot.style import colours_of
from lossylink.report.link_budget import link_budget
from lossylink.report.palette import OKABE_ITO
from lossylink.reproduce.framework.model import Job
from lossylink.results import Run

from .synthetic import completion_run, stress_run

COMPLETION = completion_run(Job("a", "tcp-fct", ("none", "lg"), {"flow.trials": 2000}), seed=1)
STRESS = stress_run(Job("a", "stress", ("lg", "lg-nb"), {"traffic.packets": 1000}), seed=1)


def test_a_distribution_draws_one_line_a_protection_and_published_squares() -> None:
    figure = plot.ccdf(
        samples=plot.completion_samples(COMPLETION), published={"none": {"p50": 91.6, "p99_9": 3595.3}}
    )
    lines = figure.axes[0].get_lines()
    assert [line.get_label() for line in lines] == [
        "no protection",
        "LinkGuardian",
        "no protection, published",
    ]
    slowest = COMPLETION.tables["trials"].filter(polars.col("protection") == "none")["fct_us"].max()
    assert np.max(np.asarray(lines[0].get_xdata())) == slowest
    assert np.asarray(lines[2].get_ydata()) == pytest.approx([0.5, 0.001])


def test_buffers_leave_out_a_side_that_a_mode_lacks() -> None:
    figure = plot.buffers(STRESS)
    labels = [line.get_label() for line in figure.axes[1].get_lines()]
    assert labels == ["LinkGuardian, Tx", "LinkGuardian, Rx", "LinkGuardian NB, Tx"]


def test_link_speed_bars_reach_the_rate_of_the_link() -> None:
    budgets = [link_budget(row, title="generator") for row in STRESS.rows.to_dicts()]
    axes = plot.link_speed([budget for budget in budgets if budget is not None]).axes[0]
    ends = [patch.get_x() + patch.get_width() for patch in axes.patches]  # type: ignore[attr-defined]
    assert max(ends) == pytest.approx(100.0)


def test_a_timeline_has_a_panel_for_each_column_that_is_there() -> None:
    table = polars.DataFrame(
        {
            "protection": ["lg"] * 3,
            "time_s": [0.0, 0.1, 0.2],
            "send_gbps": [24.0, 9.0, 23.0],
            "queue_kb": [1.0] * 3,
        }
    )
    run = Run("timeline", "synthetic", "0", 1, 1.0, {}, polars.DataFrame(), {"timeline": table})
    figure = plot.timeline(run, events_s={"loss": 0.1})
    assert [axes.get_ylabel() for axes in figure.axes] == ["sending rate\n(Gb/s)", "queue\n(KB)"]


def test_trials_of_a_point_become_one_mean_with_its_interval() -> None:
    rows = polars.DataFrame(
        {
            "protection": ["none"] * 4,
            "loss_rate": [1e-4, 1e-4, 1e-2, 1e-2],
            "throughput_gbps": [9.0, 9.2, 1.0, 1.4],
        }
    )
    line = plot.fec_throughput(rows).axes[0].get_lines()[0]
    assert np.asarray(line.get_xdata()) == pytest.approx([1e-4, 1e-2])
    assert np.asarray(line.get_ydata()) == pytest.approx([9.1, 1.2])


def test_a_protection_keeps_its_colour_whatever_stands_beside_it() -> None:
    alone, together = colours_of(("lg",)), colours_of(("fec:25/5", "none", "lg"))
    assert alone["lg"] == together["lg"] == OKABE_ITO["blue"]
    assert len(set(together.values())) == 3


def test_the_same_figure_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("first", "second"):
        plot.save(plot.ccdf(samples=plot.completion_samples(COMPLETION)), tmp_path / name)
    for kind in ("png", "svg", "pdf"):
        assert (tmp_path / f"first.{kind}").read_bytes() == (tmp_path / f"second.{kind}").read_bytes()
