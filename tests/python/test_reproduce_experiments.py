"""Every declared experiment on made-up runs: its tables, its claims and its charts."""

from __future__ import annotations

import subprocess
import sys

import pytest

from lossylink._package.published import load
from lossylink.charts.drawing import draw_sheet
from lossylink.charts.report.html import chart_json
from lossylink.declared.experiments import experiment_named
from lossylink.reproduce.framework.model import (
    QUICK_DIVISOR,
    Basis,
    Finished,
    Outcome,
    PublishedExperiment,
    Scale,
    judge,
)
from lossylink.reproduce.reproduction import registry
from lossylink.scenario.keys import keys_of
from lossylink.scenario.profiles import load_profile

from .synthetic import synthetic_runner

PUBLISHED = load()


def finished_runs(experiment: PublishedExperiment, scale: Scale) -> Finished:
    return Finished(
        {
            job.key: synthetic_runner(job, seed=1, threads=1, report=lambda _done, _total: None)
            for job in experiment.jobs(scale)
        }
    )


@pytest.fixture(params=registry.WRITTEN, ids=lambda experiment: experiment.name)
def experiment(request: pytest.FixtureRequest) -> PublishedExperiment:
    found = request.param
    assert isinstance(found, PublishedExperiment)
    return found


def outcomes(name: str, *, divisor: int = QUICK_DIVISOR) -> dict[str, Outcome]:
    experiment = next(found for found in registry.WRITTEN if found.name == name)
    finished = finished_runs(experiment, Scale(divisor))
    verdicts = [judge(claim, finished) for claim in experiment.claims(PUBLISHED)]
    return {verdict.claim.text: verdict.judgement.outcome for verdict in verdicts}


def test_every_claim_can_be_judged(experiment: PublishedExperiment) -> None:
    finished = finished_runs(experiment, Scale())
    for claim in experiment.claims(PUBLISHED):
        verdict = judge(claim, finished)
        assert verdict.judgement.outcome is not Outcome.NOT_RUN, verdict.claim.text
        assert "here" in verdict.judgement.reason


def test_claims_are_told_apart_by_their_words(experiment: PublishedExperiment) -> None:
    texts = [claim.text for claim in experiment.claims(PUBLISHED)]
    assert len(texts) == len(set(texts))


def test_every_cell_of_every_table_is_filled(experiment: PublishedExperiment) -> None:
    finished = finished_runs(experiment, Scale())
    for table in experiment.tables(finished, PUBLISHED):
        assert table.rows
        for row in table.rows:
            assert len(row.cells) == len(table.columns)
            assert all(cell.here is not None for cell in row.cells), row.label


def test_charts_embed_and_have_names_of_their_own(experiment: PublishedExperiment) -> None:
    charts = experiment.charts(finished_runs(experiment, Scale(QUICK_DIVISOR)), PUBLISHED)
    assert len({chart.identifier for chart in charts}) == len(charts)
    for chart in charts:
        assert chart_json(chart)
        for series in chart.series:
            assert len(series.x) == len(series.y) > 0


def test_every_chart_is_on_a_sheet_that_can_be_drawn(experiment: PublishedExperiment) -> None:
    finished = finished_runs(experiment, Scale(QUICK_DIVISOR))
    charts = experiment.charts(finished, PUBLISHED)
    sheets = experiment.sheets(finished, charts)
    assert {chart.identifier for chart in charts} <= {
        one.identifier for sheet in sheets for one in sheet.charts
    }
    assert len({sheet.identifier for sheet in sheets}) == len(sheets)
    for sheet in sheets:
        assert len(draw_sheet(sheet).axes) >= len(sheet.charts)


def test_selective_repeat_is_judged_apart_from_go_back_n() -> None:
    found = outcomes("rdma-fct", divisor=1)
    assert found["Selective repeat closes that gap"] is Outcome.HOLDS
    assert "99.9th percentile at least 30 times shorter with LinkGuardian" in found


def test_a_timeline_is_judged_by_its_phases() -> None:
    assert set(outcomes("timeline").values()) == {Outcome.HOLDS}


@pytest.mark.parametrize("name", ["tcp-fct", "tcp-fct-2mb", "ablation"])
def test_a_quick_look_never_fails_a_claim_about_a_tail(name: str) -> None:
    """A twentieth of the trials rarely holds a flow of the tail: that is no evidence against it."""
    found = outcomes(name)
    assert Outcome.FAILS not in {outcome for text, outcome in found.items() if "percentile" in text}
    assert Outcome.UNDECIDED in found.values()


def test_slowdowns_are_judged_short_flows_apart() -> None:
    found = outcomes("workload", divisor=1)
    # Flows of a block share the link: one percentile rests on too few blocks.
    tail = (
        "web search, TCP: the slowest flow in a thousand is quicker with LinkGuardian than without protection"
    )
    assert found.pop(tail) is Outcome.UNDECIDED
    assert set(found.values()) == {Outcome.HOLDS}


def test_the_report_can_be_imported_before_the_experiments() -> None:
    command = [sys.executable, "-c", "import lossylink.charts.report.html"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_a_claim_names_the_values_that_decide_it(experiment: PublishedExperiment) -> None:
    """A calibrated or assumed claim names what was fitted or assumed, and the profiles have it."""
    for claim in experiment.claims(PUBLISHED):
        rests = claim.basis in {Basis.CALIBRATED, Basis.ASSUMED}
        assert rests == bool(claim.rests_on), claim.text
        assert claim.source, claim.text
        for name in claim.rests_on:
            profile, separator, key = name.partition(":")
            if separator:
                kind = {"ae-hosts": "host", "ideal": "host", "tofino1": "switch"}[profile]
                assert key in load_profile(kind, profile), f"{claim.text}: {name}"
            else:
                assert name in keys_of(experiment_named(experiment.needs)), f"{claim.text}: {name}"
