"""The report of a reproduction: one file, no network, data that comes back as it went in, links that lead."""

from __future__ import annotations

import io
import json
import re
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest
from rich.console import Console

from lossylink.charts.chart import Axis, Chart, Series, embedded
from lossylink.charts.palette import LOSS_FREE, name_of
from lossylink.charts.report.html import chart_json, render
from lossylink.reproduce import ReproduceResult, reproduce
from lossylink.reproduce.framework.files import GUIDES
from lossylink.reproduce.framework.model import Outcome, Scale
from lossylink.reproduce.reproduction import registry
from lossylink.reproduce.reproduction.report import page_of_result

from .conftest import Reproduced
from .page_support import addresses, elements, identifiers
from .synthetic import synthetic_runner

EMBEDDED = re.compile(r'<script type="application/json">(.*?)</script>', re.DOTALL)
LARGEST_REPORT_BYTES = 1_800_000


@pytest.fixture(scope="module")
def output(reproduced: Reproduced) -> Path:
    return reproduced.folder


@pytest.fixture(scope="module")
def result(reproduced: Reproduced) -> ReproduceResult:
    return reproduced.result


@pytest.fixture(scope="module")
def html(result: ReproduceResult) -> str:
    assert result.report_path is not None
    return result.report_path.read_text(encoding="utf-8")


def charts_of(result: ReproduceResult) -> list[Chart]:
    return [chart for experiment in result.experiments for chart in experiment.charts]


def test_nothing_is_fetched_from_anywhere(html: str) -> None:
    assert re.findall(r"https?://[^\s\"'<)]*", html) == []
    assert not re.search(
        r"<link\b|@import|\burl\(\s*['\"]?(?!#)|\bsrc\s*=|\bfetch\(|XMLHttpRequest|import\(", html
    )


def test_the_library_of_the_charts_is_inside_with_its_license(html: str) -> None:
    script = html[html.rindex("<script>") :]
    assert script.index("Copyright (c) 2022 Leon Sorokin") < script.index("var uPlot=")


def test_every_chart_comes_back_as_it_went_in(result: ReproduceResult, html: str) -> None:
    charts = charts_of(result)
    assert len(charts) >= 3
    embedded_charts = [json.loads(text) for text in EMBEDDED.findall(html)]
    expected = [json.loads(json.dumps(chart.to_json())) for chart in charts]
    assert embedded_charts == expected


def test_identifiers_are_unique(html: str) -> None:
    found = identifiers(html)
    assert len(found) == len(set(found))


def test_every_link_leads_to_an_anchor_or_a_file(output: Path, html: str) -> None:
    anchors, links = set(identifiers(html)), addresses(html)
    inside = {link[1:] for link in links if link.startswith("#")}
    files = [unquote(link) for link in links if not link.startswith("#")]
    assert inside <= anchors
    assert any(file.endswith("trials.parquet") for file in files)
    assert any(file.endswith("docs/guides/fec.md") for file in files)
    assert [file for file in files if not (output / file).is_file()] == []


def test_saved_figures_are_linked(tmp_path: Path) -> None:
    result = reproduce(
        output=tmp_path,
        only=["tcp-fct"],
        runner=synthetic_runner,
        console=Console(file=io.StringIO()),
        progress=False,
        command=["lossylink"],
    )
    assert result.report_path is not None
    links = addresses(result.report_path.read_text(encoding="utf-8"))
    figures = [link for link in links if link.startswith("figures/")]
    assert sorted(Path(link).suffix for link in figures) == [".pdf", ".png", ".svg"]
    assert all((tmp_path / link).is_file() for link in figures)


def test_every_guide_that_is_named_exists() -> None:
    named = {guide for experiment in registry.WRITTEN for guide in experiment.guides}
    assert named
    assert [guide for guide in named if not (GUIDES / guide).is_file()] == []


def test_every_open_claim_is_one_click_from_the_first_screen(result: ReproduceResult, html: str) -> None:
    found = elements(html)
    listed = [one for one in found if one.tag == "a" and one.is_inside("div", "open")]
    anchors = {one.attributes["id"]: one for one in found if one.tag == "li" and "claim" in one.classes}
    assert len(listed) == len(result.open_claims) > 0
    targets = [anchors[link.attributes["href"][1:]] for link in listed]
    assert len({id(target) for target in targets}) == len(listed)
    for link, target in zip(listed, targets, strict=True):
        assert link.text in target.text


def test_findings_are_computed_and_left_out_where_runs_are_missing(result: ReproduceResult) -> None:
    assert [one.experiment for one in result.findings] == ["tcp-fct", "stress", "protections"]
    ranks = [one.rank for one in result.findings]
    assert ranks == sorted(ranks)
    without = replace(
        result, experiments=tuple(one for one in result.experiments if one.experiment.name != "stress")
    )
    assert "stress" not in {one.experiment for one in without.findings}
    empty = replace(result.experiments[0], finished=replace(result.experiments[0].finished, runs={}))
    assert replace(result, experiments=(empty,)).findings == ()


def test_the_first_finding_is_the_ratio_of_its_rows(result: ReproduceResult) -> None:
    tcp = next(one for one in result.experiments if one.experiment.name == "tcp-fct")
    slow, fast = (tcp.finished.number("loss 1e-3", name, "fct_us_p99_9") for name in ("none", "lg"))
    assert result.findings[0].figure == f"{slow / fast:.1f}x shorter"


def test_a_small_sample_is_no_finding(tmp_path: Path) -> None:
    result = reproduce(
        output=tmp_path,
        only=["tcp-fct"],
        quick=True,
        runner=synthetic_runner,
        console=Console(file=io.StringIO()),
        progress=False,
        with_figures=False,
    )
    assert result.findings == ()
    assert result.report_path is not None
    assert 'class="findings"' not in result.report_path.read_text(encoding="utf-8")


def test_the_chart_on_top_is_that_of_completion_times(html: str) -> None:
    (top,) = [one for one in elements(html) if "data-of" in one.attributes]
    assert top.attributes["data-of"] == "tcp-fct-times"
    assert "tcp-fct-times" in identifiers(html)


def test_values_that_move_a_claim_stand_with_it(html: str) -> None:
    claims = [one for one in elements(html) if one.tag == "li" and "claim" in one.classes]
    (speed,) = [one for one in claims if "Ordered protection delivers about 92 Gb/s" in one.text]
    assert "tofino1:data_pipeline_ns (fitted), raised by half: 91.5 becomes 90.0" in speed.text


def test_a_report_of_the_published_size_is_small(html: str) -> None:
    assert len(html.encode()) < LARGEST_REPORT_BYTES


def test_data_cannot_end_its_script_element() -> None:
    series = Series("</script><b>", "blue", (1.0,), (2.0,))
    text = str(chart_json(Chart("c", "title", "", Axis("x"), Axis("y"), (series,))))
    assert "</script>" not in text
    assert json.loads(text)["series"][0]["name"] == "</script><b>"


def test_text_from_runs_is_escaped(result: ReproduceResult, output: Path) -> None:
    hostile = replace(result.provenance, command="lossylink <script>alert(1)</script>")
    text = render(page_of_result(replace(result, provenance=hostile), output))
    assert "lossylink &lt;script&gt;alert(1)" in text
    assert "<script>alert(1)" not in text


def test_light_dark_and_print_styles_are_there(html: str) -> None:
    assert "prefers-color-scheme: dark" in html
    assert "@media print" in html
    assert "beforeprint" in html


def test_every_verdict_and_command_line_is_shown(result: ReproduceResult, html: str) -> None:
    found = elements(html)
    kept = sum(len(one.kept.verdicts) for one in result.experiments if one.kept is not None)
    claims = [one for one in found if one.tag == "li" and "claim" in one.classes]
    assert len(claims) == len(result.verdicts) + kept
    jobs = [job for experiment in result.experiments for job in experiment.jobs]
    commands = [one.text for one in found if one.tag == "pre" and one.is_inside("div", "command")]
    assert [text for text in commands if text.startswith("lossylink run ")] == [
        job.command(seed=result.provenance.seed) for job in jobs
    ]
    assert sum("copy" in one.classes for one in found) == len(commands)


def test_nothing_is_wider_than_the_page(html: str) -> None:
    """Tables scroll in frames of their own with their first column in place; drawings scale or scroll too."""
    found = elements(html)
    tables = [one for one in found if one.tag == "table"]
    assert tables
    assert all(one.is_inside("div", "scroll") for one in tables)
    drawings = [one for one in found if one.tag == "svg"]
    assert all(one.is_inside("div", "scroll") or "width" not in one.attributes for one in drawings)
    rows = [one for one in found if one.tag == "tr" and one.is_inside("tbody")]
    firsts = {
        id(one.ancestors[-1]): one for one in reversed(found) if one.ancestors and one.tag in {"td", "th"}
    }
    assert all(firsts[id(row)].attributes.get("scope") == "row" for row in rows)
    style = html[: html.index("</style>")]
    assert ".scroll { overflow-x: auto" in style
    assert 'th[scope="row"], .scroll thead th:first-child { position: sticky; left: 0' in style


def test_charts_stand_before_tables(html: str) -> None:
    found = [one for one in elements(html) if one.is_inside("section", "experiment")]
    for section in {id(one.ancestors[-2]): one.ancestors[-2] for one in found if one.tag == "h2"}.values():
        inside = [one for one in found if any(above is section for above in one.ancestors)]
        kinds = [one.tag for one in inside if one.tag == "table" or "chart" in one.classes]
        assert kinds == sorted(kinds, key=lambda tag: tag == "table")


def test_values_that_json_lacks_are_refused() -> None:
    chart = Chart("c", "t", "", Axis("x"), Axis("y"), (Series("s", "blue", (float("nan"),), (1.0,)),))
    with pytest.raises(ValueError, match="not JSON compliant"):
        chart_json(chart)


def test_embedding_keeps_a_microsecond_of_seconds() -> None:
    assert embedded([4_139_916.0, 85.293]) == (4_139_916.0, 85.293)


def test_the_palette_covers_every_slot_that_charts_use(result: ReproduceResult, html: str) -> None:
    used = {series.colour for chart in charts_of(result) for series in chart.series}
    used |= {
        part.slot
        for experiment in result.experiments
        for budget in experiment.budgets
        for part in budget.parts
    }
    style = html[: html.index("</style>")]
    assert {slot for slot in used if f"--{slot}:" not in style} == set()


def test_a_series_keeps_its_colour_in_all_charts(result: ReproduceResult) -> None:
    colours: dict[str, set[str]] = defaultdict(set)
    for chart in charts_of(result):
        for series in chart.series:
            colours[series.name.removesuffix(", published")].add(series.colour)
    labels = {label for one in registry.WRITTEN for job in one.jobs(Scale()) for label in job.protections}
    names = {name_of(label) for label in labels} | {name_of(LOSS_FREE)}
    drawn = {name: slots for name, slots in colours.items() if name in names}
    assert len(drawn) >= 10
    assert {name: slots for name, slots in drawn.items() if len(slots) > 1} == {}


def test_lines_of_one_chart_differ_in_colour_or_dash(result: ReproduceResult) -> None:
    for chart in charts_of(result):
        lines = [(one.colour, one.dashed) for one in chart.series if one.kind in {"line", "step", "bins"}]
        assert len(lines) == len(set(lines)), chart.identifier


def test_no_loss_is_dashed_wherever_it_is_drawn(result: ReproduceResult) -> None:
    found = [one for chart in charts_of(result) for one in chart.series if one.name == name_of(LOSS_FREE)]
    assert {one.dashed for one in found if one.kind == "step"} == {True}


def test_every_experiment_has_a_chart(result: ReproduceResult) -> None:
    assert [one.experiment.name for one in result.experiments if not one.charts] == []


def test_protections_are_called_by_their_names(result: ReproduceResult) -> None:
    words = re.compile(r"^(lg|lg-nb|none|llr|fec|fec-model)\b")
    labels = [
        text
        for one in result.experiments
        for table in one.tables
        for text in (*(row.label for row in table.rows), *(column.name for column in table.columns))
    ]
    assert [label for label in labels if words.match(label)] == []


def test_reports_are_the_same_for_the_same_result(result: ReproduceResult, output: Path, html: str) -> None:
    assert render(page_of_result(result, output)) == html


def test_the_terminal_ends_with_the_conclusion(output: Path, result: ReproduceResult) -> None:
    from lossylink.reproduce.reproduction.terminal import print_summary

    file = io.StringIO()
    print_summary(Console(file=file, width=100, color_system=None, force_terminal=True), result)
    lines = [line.rstrip() for line in file.getvalue().splitlines()]
    assert lines[-1] == f"Report: {output / 'report.html'}"
    count = len(result.open_claims)
    for line, (name, verdict) in zip(lines[-1 - count : -1], result.open_claims, strict=True):
        assert line.startswith(f" {verdict.judgement.outcome}: {name}: ")
        assert len(line) <= 100
    holding = sum(one.judgement.outcome is Outcome.HOLDS for one in result.experiments[0].verdicts)
    assert f" holds: {result.experiments[0].experiment.name} {holding} of " in file.getvalue()
