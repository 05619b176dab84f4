"""The low-latency code with a retry in place of KP4: clean times, events, winners, in small real runs."""

from __future__ import annotations

import pytest

from lossylink._package.published import load
from lossylink.charts.drawing import draw_sheet
from lossylink.reproduce.experiments.trade import EXPERIMENT
from lossylink.reproduce.experiments.trade.charts import charts
from lossylink.reproduce.experiments.trade.designs import BITS, DESIGNS, KP4, SHORT, Place, hit_share
from lossylink.reproduce.experiments.trade.jobs import SEEN_SHARE, is_seen
from lossylink.reproduce.experiments.trade.measures import (
    Winner,
    difference,
    edge,
    expected,
    gain_ns,
    hits,
    run_places,
)
from lossylink.reproduce.framework.model import QUICK_DIVISOR, Finished, Outcome, Scale, judge
from lossylink.reproduce.framework.runner import simulate

HERE = Place(100, 1, 24_387)


@pytest.fixture(scope="module")
def finished() -> Finished:
    """One link, both designs, at every bit error ratio."""
    made = [job for job in EXPERIMENT.jobs(Scale(QUICK_DIVISOR)) if f" {HERE.name}," in job.key]
    return Finished(
        {job.key: simulate(job, seed=1, threads=1, report=lambda _done, _total: None) for job in made}
    )


def test_a_point_is_simulated_where_a_run_sees_events() -> None:
    for design in DESIGNS:
        for bits in BITS:
            share = hit_share(design, HERE.gbps, HERE.size_bytes, bits)
            assert is_seen(design, HERE, bits) == (share >= SEEN_SHARE)
    assert not is_seen(SHORT, HERE, BITS[0])
    assert is_seen(KP4, HERE, BITS[-1])


def test_a_clean_write_gains_twice_the_shorter_wait_and_decoding(finished: Finished) -> None:
    assert run_places(finished) == [HERE]
    assert gain_ns(finished, HERE) == pytest.approx(2 * (25.6 + 20.0))


def test_as_many_writes_meet_an_event_as_theory_says(finished: Finished) -> None:
    found = list(hits(finished))
    assert len(found) == sum(is_seen(design, HERE, bits) for design in DESIGNS for bits in BITS)
    assert all(found)


def test_the_winner_changes_at_the_edge(finished: Finished) -> None:
    low, high = (edge(design, HERE.gbps, HERE.size_bytes, 99.0) for design in (SHORT, KP4))
    for bits in BITS:
        wanted = Winner.SHORT if bits < low else Winner.KP4 if bits < high else None
        assert expected(HERE, bits, 99.0) is wanted
    assert difference(finished, HERE, 4e-4, 99.0).winner is Winner.SHORT
    assert difference(finished, HERE, 6e-4, 99.0).winner is Winner.KP4
    assert not difference(finished, HERE, 1e-4, 99.0).is_simulated


def test_a_percentile_that_a_run_does_not_bound_has_no_winner(finished: Finished) -> None:
    unsure = difference(finished, HERE, 3e-4, 99.99)
    assert unsure.is_simulated
    assert unsure.ns.high == float("inf")
    assert unsure.winner is not Winner.SHORT


def test_the_claims_hold_where_they_can_be_judged(finished: Finished) -> None:
    assert {judge(claim, finished).judgement.outcome for claim in EXPERIMENT.claims(load())} == {
        Outcome.HOLDS
    }


def test_maps_say_which_points_are_simulated(finished: Finished) -> None:
    drawn = EXPERIMENT.sheets(finished, charts(finished, load()))
    assert [sheet.identifier for sheet in drawn] == [f"trade-24387-{name}" for name in ("p99", "p99-99")]
    (chart,) = drawn[0].charts
    hollow = {x: empty for one in chart.series for x, empty in zip(one.x, one.hollow or (), strict=True)}
    assert hollow == {bits: not any(is_seen(design, HERE, bits) for design in DESIGNS) for bits in BITS}
    assert draw_sheet(drawn[0]).axes[0].get_ylabel() == "cable (m)"
