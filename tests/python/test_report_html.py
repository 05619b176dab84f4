"""The report: one file, no network, data that comes back as it went in."""

from __future__ import annotations

import io
import json
import re

import pytest
from rich.console import Console

from lossylink.charts.chart import Axis, Chart, Series, embedded
from lossylink.report.html import chart_view, render
from lossylink.reproduce import ReproduceResult, reproduce

from .synthetic import synthetic_runner

SVG_NAMESPACE = "http://www.w3.org/2000/svg"
EMBEDDED = re.compile(r'<script type="application/json">(.*?)</script>', re.DOTALL)
LARGEST_REPORT_BYTES = 3_000_000


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> ReproduceResult:
    return reproduce(
        output=tmp_path_factory.mktemp("report"),
        runner=synthetic_runner,
        console=Console(file=io.StringIO()),
        progress=False,
        with_figures=False,
        command=["lossylink", "reproduce"],
    )


@pytest.fixture(scope="module")
def html(result: ReproduceResult) -> str:
    assert result.report_path is not None
    return result.report_path.read_text(encoding="utf-8")


def test_nothing_is_fetched_from_anywhere(html: str) -> None:
    assert set(re.findall(r"https?://[^\s\"'<)]*", html)) == {SVG_NAMESPACE}  # a name, not a place
    assert not re.search(
        r"<link\b|@import|\burl\(\s*['\"]?(?!#)|\bsrc\s*=|\bfetch\(|XMLHttpRequest|import\(", html
    )


def test_every_chart_comes_back_as_it_went_in(result: ReproduceResult, html: str) -> None:
    charts = [chart for experiment in result.experiments for chart in experiment.charts]
    assert len(charts) >= 3
    embedded_charts = [json.loads(text) for text in EMBEDDED.findall(html)]
    expected = [json.loads(json.dumps(chart.to_json())) for chart in charts]
    assert embedded_charts == expected


def test_identifiers_are_unique(html: str) -> None:
    identifiers = re.findall(r'\bid="([^"]+)"', html)
    assert len(identifiers) == len(set(identifiers))


def test_a_report_of_the_published_size_is_small(html: str) -> None:
    assert len(html.encode()) < LARGEST_REPORT_BYTES / 3


def test_data_cannot_end_its_script_element() -> None:
    series = Series("</script><b>", "blue", (1.0,), (2.0,))
    chart = Chart("c", "title", "", Axis("x"), Axis("y"), (series,))
    text = str(chart_view(chart)["json"])
    assert "</script>" not in text
    assert json.loads(text)["series"][0]["name"] == "</script><b>"


def test_text_from_runs_is_escaped(result: ReproduceResult) -> None:
    record = result.provenance
    hostile = type(record)(**{**vars(record), "command": "lossylink <script>alert(1)</script>"})
    text = render(type(result)(result.experiments, hostile, quick=False, interrupted=False))
    assert "<script>alert(1)" not in text


def test_light_dark_and_print_styles_are_there(html: str) -> None:
    assert "prefers-color-scheme: dark" in html
    assert "@media print" in html


def test_every_verdict_and_command_line_is_shown(result: ReproduceResult, html: str) -> None:
    kept = sum(len(one.kept.verdicts) for one in result.experiments if one.kept is not None)
    shown = len(result.verdicts) + len(result.open_claims) + kept
    assert html.count('class="badge ') == shown
    jobs = [job for experiment in result.experiments for job in experiment.jobs]
    assert html.count("<pre>lossylink run ") == len(jobs)


def test_values_that_json_lacks_are_refused() -> None:
    chart = Chart("c", "t", "", Axis("x"), Axis("y"), (Series("s", "blue", (float("nan"),), (1.0,)),))
    with pytest.raises(ValueError, match="not JSON compliant"):
        chart_view(chart)


def test_embedding_keeps_a_microsecond_of_seconds() -> None:
    assert embedded([4_139_916.0, 85.293]) == (4_139_916.0, 85.293)


def test_the_palette_covers_every_slot_that_charts_use(result: ReproduceResult, html: str) -> None:
    used = {
        series.colour
        for experiment in result.experiments
        for chart in experiment.charts
        for series in chart.series
    }
    used |= {
        part.slot
        for experiment in result.experiments
        for budget in experiment.budgets
        for part in budget.parts
    }
    style = html[: html.index("</style>")]
    assert {slot for slot in used if f"--{slot}:" not in style} == set()


def test_reports_are_the_same_for_the_same_result(result: ReproduceResult, html: str) -> None:
    assert render(result) == html
