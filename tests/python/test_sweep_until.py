"""``--until``: the row is that of a plain run, the rule alone decides how long it is, and says so."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import lossylink
from lossylink import UserError
from lossylink.declared.experiments import all_experiments
from lossylink.running.sweeping.until import MOST_TIMES, Until, parse_until
from lossylink.statistics.estimates import Estimate, binomial_interval, clustered_interval

CLOCK = "packets_per_wall_second"
#: Experiment, the key of its work, a small amount, what a row says of it.
GROWING = {
    "tcp-fct": ("flow.trials", ("trials", "flows_unfinished")),
    "rdma-fct": ("flow.trials", ("trials", "flows_unfinished")),
    "stress": ("traffic.packets", ("packets_sent",)),
}


def swept(experiment: str, until: str, amount: int, **words: Any) -> list[dict[str, Any]]:
    key, _ = GROWING[experiment]
    with TemporaryDirectory() as folder:
        result = lossylink.sweep(
            experiment,
            grid={"loss": [words.pop("loss", "1e-2")]},
            settings={key: amount},
            until=until,
            output=Path(folder),
            **words,
        )
        return result.rows.to_dicts()


def test_every_experiment_that_grows_is_tried() -> None:
    assert GROWING.keys() == {name for name, one in all_experiments().items() if one.growth is not None}


@settings(max_examples=12)
@given(
    experiment=st.sampled_from(sorted(GROWING)),
    amount=st.integers(60, 450),
    share=st.sampled_from([0.02, 0.1, 0.4]),
    most=st.integers(450, 3000),
    seed=st.integers(0, 99),
    protection=st.sampled_from(["none", "lg-nb:copies=1"]),
)
def test_a_row_is_that_of_a_plain_run_with_as_much_work(
    experiment: str, amount: int, share: float, most: int, seed: int, protection: str
) -> None:
    rule = f"rel={share}@95%,max={most}"
    (row,) = swept(experiment, rule, amount, seed=seed, protection=protection)
    key, counts = GROWING[experiment]
    work = sum(row[count] for count in counts)
    plain = lossylink.run(
        experiment, protection=protection, settings={key: work, "loss": "1e-2"}, seed=seed
    ).records[0]
    figures = plain.keys() - {CLOCK}
    assert {name: row[name] for name in figures} == {name: plain[name] for name in figures}
    looks = Until(share, 0.95, most=most).looks(amount)
    assert work == looks[row["until_looks"] - 1], "it ends at a look"
    assert row["until_met"] or work == most


def test_easy_points_stop_early_and_hard_ones_at_the_maximum() -> None:
    rule = "rel=10%@95%,max=64000"
    (easy,), (hard,) = (
        swept("stress", rule, 1000, loss=loss, protection="none") for loss in ("5e-2", "1e-4")
    )
    assert easy["until_met"]
    assert easy["packets_sent"] < hard["packets_sent"] == 64_000
    assert not hard["until_met"]
    half = (easy["until_high"] - easy["until_low"]) / 2
    assert half <= 0.1 * easy["effective_loss_rate"]
    assert (easy["until"], easy["until_looks"]) == (rule, 1 + int(np.log2(easy["packets_sent"] / 1000)))
    interval = clustered_interval(
        easy["effective_lost_packets"],
        easy["packets_sent"],
        design_effect=easy["effective_loss_design_effect"],
        batches=easy["effective_loss_batches"],
        confidence=easy["until_confidence"],
    )
    assert (easy["until_low"], easy["until_high"]) == (interval.low, interval.high)


def test_of_nothing_there_is_an_upper_bound_and_only_the_maximum_ends_it() -> None:
    (row,) = swept("stress", "rel=99%@50%", 500, loss="0", protection="none")
    assert (row["effective_loss_rate"], row["until_met"], row["until_low"]) == (0, False, 0)
    assert row["packets_sent"] == MOST_TIMES * 500
    assert 0 < row["until_high"] < 1e-3


def test_another_column_may_decide() -> None:
    rows = [
        swept("tcp-fct", f"rel=1%@95%,max=20k,column=fct_us_{name}", 300, protection="lg")[0]
        for name in ("p50", "p99_9")
    ]
    assert rows[0]["until_low"] <= rows[0]["fct_us_p50"] <= rows[0]["until_high"]
    assert rows[0]["trials"] < rows[1]["trials"] == 20_000


def test_a_sample_too_small_for_its_percentile_is_not_known() -> None:
    (row,) = swept("tcp-fct", "rel=99%@50%,max=200", 100, protection="none")
    assert (row["until_met"], row["until_high"]) == (False, None)


@pytest.mark.parametrize("share", [0.1, 0.2, 0.5], ids="within {:.0%}".format)
def test_the_interval_at_the_last_look_holds_as_often_as_it_says(share: float) -> None:
    """Looks before the last one neither make it wrong nor too wide: exact intervals of independent losses."""
    rule, truth, draws, runs = Until(share, 0.9), 0.03, np.random.default_rng(5), 1_000
    held = 0
    for _ in range(runs):
        losses = np.cumsum(draws.random(100 * MOST_TIMES) < truth)
        for count in rule.looks(100):
            one = binomial_interval(int(losses[count - 1]), count, confidence=rule.confidence)
            if rule.is_met(one):
                break
        held += one.contains(truth)
    least, most = stats.binom.ppf(1e-4, runs, 0.9), stats.binom.ppf(1 - 1e-4, runs, 0.94)
    assert least <= held <= most, "of few losses the exact interval holds somewhat more often"


@pytest.mark.parametrize(
    ("estimate", "is_met"),
    [
        (Estimate(1.0, 0.91, 1.1), True),
        (Estimate(1.0, 0.9, 1.1001), False),
        (Estimate(1.0, 0.99, float("inf")), False),
        (Estimate(0.0, 0.0, 0.0), False),
        (None, False),
    ],
)
def test_a_rule_is_met_by_half_of_the_width(estimate: Estimate | None, is_met: bool) -> None:
    assert Until(0.1, 0.95).is_met(estimate) is is_met


def test_the_rule_is_part_of_what_a_point_is(tmp_path: Path) -> None:
    def resumed(until: str | None) -> int:
        return lossylink.sweep(
            "stress",
            grid={"loss": ["1e-2"]},
            protection="none",
            settings={"traffic.packets": 500},
            until=until,
            output=tmp_path,
        ).resumed

    assert [resumed(rule) for rule in (None, "rel=50%@95%", "rel=0.5@0.95", "rel=40%@95%", None)] == [
        0,
        0,
        1,
        0,
        1,
    ]


@pytest.mark.parametrize(
    ("experiment", "words", "says"),
    [
        ("workload", {}, "and none of workload"),
        ("stress", {"settings": {"run.rare": True}}, "raise run.looks instead"),
        ("tcp-fct", {"until": "rel=1%@95%,column=slowdown_p50"}, "unknown column of --until 'slowdown_p50'"),
    ],
)
def test_what_has_no_sound_interval_is_refused(
    tmp_path: Path, experiment: str, words: dict[str, Any], says: str
) -> None:
    loss = words.pop("loss", "1e-2")
    with pytest.raises(UserError, match=says):
        lossylink.sweep(
            experiment, grid={"loss": [loss]}, output=tmp_path / "kept", **{"until": "rel=1%@95%"} | words
        )
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize(
    "text", ["rel=1%", "rel=1%@", "rel=0@95%", "rel=1%@100%", "max=3", "rel=1%@95%,rel=2%@95%"]
)
def test_a_rule_without_sense_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="^--until "):
        parse_until(text)


def test_a_percentile_that_is_never_is_known() -> None:
    """Where all of its interval lies among flows that never ended, no more flows are run."""
    (row,) = swept("tcp-fct", "rel=10%@95%,column=fct_us_p99,max=100k", 500, loss="1", protection=["none"])
    assert (row["until_met"], row["until_looks"], row["flows_unfinished"]) == (True, 1, 500)
    assert row["fct_us_p99"] is None
