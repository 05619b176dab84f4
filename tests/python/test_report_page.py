"""A page without claims: what any report of runs can show with the same template."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from lossylink.charts.chart import Axis, Chart, Guide, points
from lossylink.charts.report.html import render
from lossylink.charts.report.page import Command, Heading, Line, Link, Section, Table, page_of
from lossylink.charts.report.sketch import Sketch
from lossylink.cli.lab import app
from lossylink.scenario.route import ARTIFACT_ROUTE, LAB_ROUTE

from .page_support import addresses, elements, identifiers

DOCS = Path(__file__).parents[2] / "docs"
CHART = Chart(
    "speeds",
    "Speeds",
    "One point a run.",
    Axis("loss", "", "log"),
    Axis("speed", "Gb/s", low=0.0),
    (points("LinkGuardian", "blue", [1e-3], [91.5]),),
    (Guide("y", 100.0, "the line"),),
)
SECTION = Section(
    identifier="first",
    title="The first run",
    summary="A loss of 1e-3.",
    sketch=Sketch(ARTIFACT_ROUTE, "100 Gb/s, loses 0.1 %"),
    charts=(CHART,),
    tables=(
        Table(
            "Speed",
            (Heading("LinkGuardian", parts=("here", "other")), Heading("none")),
            (Line("Gb/s", (("91.5", "92.3"), ("100",))),),
        ),
    ),
    commands=(Command("run", "lossylink run stress -p lg", files=(Link("rows", "a run/rows#1.csv"),)),),
)


def test_a_page_without_claims_has_none_of_their_parts() -> None:
    html = render(page_of(title="Two runs", sections=[SECTION], meta="seed 1", lead="speeds"))
    found = elements(html)
    assert [one.text for one in found if one.tag == "h1"] == ["Two runs"]
    classes = {name for one in found for name in one.classes}
    assert not classes & {"claims", "claim", "badge", "findings", "verdicts"}
    assert {"method", "provenance"}.isdisjoint(identifiers(html))
    assert json.loads(html.split('type="application/json">')[1].split("</script>")[0])["id"] == "speeds"
    assert [one.text for one in found if one.tag == "td"] == ["91.5", "92.3", "100"]
    assert {"#overview", "#first", "a%20run/rows%231.csv"} == set(addresses(html))


def test_sections_are_open_where_there_are_no_verdicts_to_lead_to_them() -> None:
    html = render(page_of(title="Two runs", sections=[SECTION]))
    (section,) = [one for one in elements(html) if one.tag == "details" and "section" in one.classes]
    assert "open" in section.attributes


def test_a_chart_that_no_section_has_cannot_lead() -> None:
    assert page_of(title="Two runs", sections=[SECTION], lead="others").lead is None


def test_identifiers_that_meet_are_refused() -> None:
    with pytest.raises(ValueError, match="more than once: first"):
        page_of(title="Two runs", sections=[SECTION, Section(identifier="first", title="Again")])


def test_a_route_is_drawn_from_its_nodes() -> None:
    html = render(page_of(title="Two runs", sections=[SECTION]))
    drawn = [one for one in elements(html) if one.is_inside("div", "sketch")]
    assert [one.text for one in drawn if one.tag == "text"][: len(ARTIFACT_ROUTE.nodes)] == list(
        ARTIFACT_ROUTE.nodes
    )
    (link,) = [one for one in drawn if one.tag == "path" and "corrupts" in one.classes]
    drawing = Sketch(ARTIFACT_ROUTE, "").drawing()
    ends = [node["x"] for node in drawing["nodes"] if node["name"] in {"sw2", "sw6"}]
    assert f"M{ends[0] + drawing['node_width']}," in link.attributes["d"]
    assert f"H{ends[1]}" in link.attributes["d"]


def test_guide_and_help_show_the_route_that_the_data_has() -> None:
    assert ARTIFACT_ROUTE.text() in (DOCS / "guides" / "captures.md").read_text(encoding="utf-8")
    ended = CliRunner().invoke(app, ["up", "--help"])
    assert ended.exit_code == 0
    assert LAB_ROUTE.text() in ended.output
