"""Charts on paper: they show the data they are given, in colours that stay, and save to the same bytes."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex

from lossylink.charts.chart import Axis, Chart, Guide, Key, Series, Sheet, TopAxis
from lossylink.charts.data import sheet_csv, sheet_json
from lossylink.charts.distribution import survival_series
from lossylink.charts.drawing import draw, draw_sheet, save
from lossylink.charts.drawing.style import SHAPES, SLOT_LOOKS
from lossylink.charts.kinds.buffers import buffer_charts
from lossylink.charts.kinds.link_speed import budget_chart
from lossylink.charts.link_budget import link_budget
from lossylink.charts.palette import OKABE_ITO
from lossylink.reproduce.framework.model import Job

from .synthetic import stress_run

STRESS = stress_run(Job("a", "stress", ("lg", "lg-nb"), {"traffic.packets": 1000}), seed=1)
TIME, SPEED = Axis("time", "s"), Axis("speed", "Gb/s", low=0.0)


def chart(*series: Series, x: Axis = TIME, y: Axis = SPEED, keys: tuple[Key, ...] = ()) -> Chart:
    return Chart("speed", "Speed", "", x, y, series, keys=keys)


def legend(figure: object) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("kind", "style"),
    [("line", "default"), ("step", "steps-pre"), ("bins", "steps-post"), ("marked", "default")],
)
def test_a_line_goes_through_its_points(kind: str, style: str) -> None:
    series = Series("lg", "blue", (0.0, 1.0, 3.0), (5.0, 4.0, 6.0), kind=kind)  # type: ignore[arg-type]
    line = draw(chart(series)).axes[0].get_lines()[0]
    assert np.asarray(line.get_xdata()).tolist() == [0.0, 1.0, 3.0]
    assert np.asarray(line.get_ydata()).tolist() == [5.0, 4.0, 6.0]
    assert line.get_drawstyle() == style
    assert line.get_color() == OKABE_ITO["blue"]


def test_markers_have_their_shapes_faces_and_intervals() -> None:
    series = Series(
        "lg", "blue", (1.0, 2.0), (5.0, 4.0), kind="points", markers=("circle", "down"), hollow=(False, True),
        y_low=(4.0, 3.5), y_high=(7.0, 4.5),
    )  # fmt: skip
    axes = draw(chart(series)).axes[0]
    shown = [(line.get_marker(), to_hex(line.get_markerfacecolor())) for line in axes.get_lines()[-2:]]
    assert shown == [("o", OKABE_ITO["blue"].lower()), ("v", "#ffffff")]
    (bars,) = axes.collections
    ends = [segment[:, 1].tolist() for segment in bars.get_segments()]  # type: ignore[attr-defined]
    assert ends == [[4.0, 7.0], [3.5, 4.5]]


def test_bars_stand_beside_each_other_or_on_each_other() -> None:
    x = Axis("", categories=("50 %", "99 %"))
    ours = Series("here", "blue", (0.0, 1.0), (5.0, 9.0), kind="bars", y_low=(4.0, 9.0), y_high=(6.0, 9.0))
    theirs = Series("published", "black", (0.0, 1.0), (4.0, 8.0), kind="bars", hollow=(True, True))
    axes = draw(chart(ours, theirs, x=x)).axes[0]
    heights = [bar.get_height() for bar in axes.patches]  # type: ignore[attr-defined]
    (intervals,) = axes.collections
    assert len(intervals.get_segments()) == 1  # type: ignore[attr-defined]
    assert heights == [5.0, 9.0, 4.0, 8.0]
    lefts = [bar.get_x() for bar in axes.patches]  # type: ignore[attr-defined]
    assert lefts[2] == pytest.approx(lefts[0] + 0.4)
    assert [text.get_text() for text in axes.get_xticklabels()] == ["50 %", "99 %"]
    on_top = Series("more", "sky", (1.0, 2.0), (0.0, 1.0), kind="bars", base=(5.0, 9.0))
    lying = draw(chart(on_top, x=Axis("share"), y=Axis("", categories=("a", "b")))).axes[0]
    assert [bar.get_x() for bar in lying.patches] == [5.0, 9.0]  # type: ignore[attr-defined]
    assert lying.yaxis_inverted()


def test_a_legend_names_every_line_and_shape_once_and_covers_no_plot() -> None:
    first = Series("lg", "blue", (0.0, 1.0), (2.0, 3.0), kind="marked")
    second = Series("PFTK", "green", (0.0, 1.0), (2.0, 3.0))
    quiet = Series("PFTK", "orange", (0.0, 1.0), (2.0, 3.0), is_quiet=True)
    one = chart(first, second, quiet, keys=(Key("more is lost", "circle", hollow=True),))
    figure = draw_sheet(Sheet("both", (one, one), columns=2))
    assert legend(figure) == ["lg", "PFTK", "more is lost"]
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert all(not box.overlaps(axes.get_window_extent()) for axes in figure.axes)


def test_ends_guides_and_words_of_an_axis() -> None:
    series = Series("lg", "blue", (1.0, 10.0), (1e-6, 1e-2))
    loss = Axis("loss", "", "log", high=1.0)
    one = Chart("a", "A", "", TIME, loss, (series,), (Guide("x", 2.0, "here"), Guide("y", 1e-3, "target")))
    axes = draw(one).axes[0]
    assert axes.get_yscale() == "log"
    assert axes.get_ylim()[1] == 1.0
    assert 1e-7 < axes.get_ylim()[0] < 1e-6
    assert axes.get_xlabel() == "time (s)"
    assert {text.get_text() for text in axes.texts} == {"here", "target"}


def test_every_slot_has_its_own_dash_or_marker() -> None:
    looks = [SLOT_LOOKS[slot] for slot in OKABE_ITO]
    assert len({str(look) for look in looks}) == len(looks)
    own = [str(dash) for slot, (dash, _) in SLOT_LOOKS.items() if slot not in {"grey", "black"}]
    assert len(set(own)) == len(own)
    assert set(SHAPES) == {"circle", "square", "triangle", "diamond", "down", "cross"}
    same = [Series(f"lg {n}", "blue", (0.0, 1.0), (n, n + 1.0)) for n in range(3)]
    drawn = draw(chart(*same)).axes[0].get_lines()
    assert len({str(line._unscaled_dash_pattern) for line in drawn}) == 3  # type: ignore[attr-defined]


def test_a_marker_under_another_one_still_shows() -> None:
    two = [Series(name, "blue", (1.0,), (2.0,), kind="points") for name in ("below", "above")]
    sizes = [line.get_markersize() for line in draw(chart(*two)).axes[0].get_lines()]
    assert sizes[0] > sizes[1]


def test_axes_that_panels_share_are_labelled_once() -> None:
    one = chart(Series("lg", "blue", (0.0, 1.0), (2.0, 3.0)))
    figure = draw_sheet(Sheet("all", (one, one, one, one), columns=2))
    assert [axes.get_xlabel() for axes in figure.axes] == ["", "", "time (s)", "time (s)"]
    assert [axes.get_ylabel() for axes in figure.axes] == ["speed (Gb/s)", "", "speed (Gb/s)", ""]
    with pytest.raises(ValueError, match="no chart"):
        draw_sheet(Sheet("none", ()))


def test_an_axis_that_panels_share_reaches_as_far_as_the_values_of_all() -> None:
    near, far = (chart(Series("lg", "blue", (0.0, end), (1.0, end))) for end in (2.0, 8.0))
    for charts in ((near, far), (far, near)):
        for axes in draw_sheet(Sheet("both", charts, columns=2)).axes:
            assert axes.get_xlim()[1] > 8.0
            assert axes.get_ylim()[1] > 8.0


def test_an_axis_on_top_has_its_words_where_they_belong() -> None:
    line = Series("lg", "blue", (1e-4, 1e-3), (1.0, 2.0))
    top = TopAxis("loss", ((1e-4, "a"), (1e-3, "b")))
    bits = Axis("bits", "", "log")
    figure = draw(Chart("cliff", "Cliff", "", bits, SPEED, (line,), top=top))
    figure.draw_without_rendering()
    (second,) = figure.axes[0].child_axes
    assert [text.get_text() for text in second.get_xticklabels()] == ["a", "b"]
    assert second.get_xticks() == pytest.approx([1e-4, 1e-3])
    assert second.get_xlabel() == "loss"


def test_the_same_figure_gives_the_same_bytes(tmp_path: Path) -> None:
    sheet = Sheet("a", (chart(survival_series("lg", "blue", [1.0, 2.0, 3.0])),))
    for name in ("first", "second"):
        save(sheet, tmp_path, name=name, formats=("png", "svg", "pdf", "csv", "json"))
    for kind in ("png", "svg", "pdf", "csv", "json"):
        assert (tmp_path / f"first.{kind}").read_bytes() == (tmp_path / f"second.{kind}").read_bytes()


def test_numbers_are_those_of_the_chart() -> None:
    series = Series("lg", "blue", (0.0, 1.0), (2.0, 3.0), y_low=(1.0, 2.0), y_high=(4.0, 5.0))
    sheet = Sheet("a", (chart(series),))
    rows = list(csv.DictReader(io.StringIO(sheet_csv(sheet))))
    assert [(float(row["time (s)"]), float(row["speed (Gb/s)"]), float(row["y_low"])) for row in rows] == [
        (0.0, 2.0, 1.0),
        (1.0, 3.0, 2.0),
    ]
    assert json.loads(sheet_json(sheet))[0]["series"][0]["y_high"] == [4.0, 5.0]


def test_buffers_leave_out_a_side_that_a_mode_lacks() -> None:
    series = STRESS.tables["series"]
    tables = {
        (name, "blue"): part
        for (name,), part in series.group_by(["protection"], maintain_order=True)
    }  # fmt: skip
    charts = buffer_charts(tables, identifier="a")
    names = ["lg, Tx buffer", "lg, Rx buffer", "lg-nb, Tx buffer"]
    assert [[one.name for one in each.series] for each in charts] == [names, names]


def test_link_speed_bars_reach_the_rate_of_the_link() -> None:
    budgets = [link_budget(row, title="generator") for row in STRESS.rows.to_dicts()]
    found = [(str(place), budget) for place, budget in enumerate(budgets) if budget is not None]
    axes = draw(budget_chart(found, identifier="a")).axes[0]
    ends = [patch.get_x() + patch.get_width() for patch in axes.patches]  # type: ignore[attr-defined]
    assert max(ends) == pytest.approx(100.0)
    assert axes.get_xlim()[1] == 100.0


def test_a_name_in_two_panels_has_the_marker_of_one_and_the_line_of_the_other() -> None:
    tables = {("LinkGuardian", "blue"): STRESS.tables["series"]}
    figure = draw_sheet(Sheet("buffers", buffer_charts(tables, identifier="a"), columns=2))
    (shown,) = figure.legends
    samples = dict(zip(legend(figure), shown.legend_handles, strict=True))
    looks = {name: (line.get_marker(), line.get_linestyle()) for name, line in samples.items()}  # type: ignore[union-attr]
    assert looks == {"LinkGuardian, Tx buffer": ("x", "--"), "LinkGuardian, Rx buffer": (".", "-")}


def test_bars_of_nearly_one_height_end_below_the_frame() -> None:
    bars = Series("here", "blue", (0.0, 1.0), (91.5, 92.2), kind="bars")
    axes = draw(chart(bars, x=Axis("", categories=("a", "b")))).axes[0]
    assert axes.get_ylim() == pytest.approx((0.0, 92.2 * 1.04))


def test_dots_are_an_image_inside_a_vector_figure() -> None:
    many = np.arange(5.0)
    dots = Series("Tx", "blue", tuple(many), tuple(many), kind="dots")
    (line,) = draw(chart(dots)).axes[0].get_lines()
    assert line.get_rasterized()
