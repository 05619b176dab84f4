"""Claims that are declared as data: where their figures come from, and which judge each has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from lossylink._package.resources import DECLARATIONS
from lossylink.reproduce.framework.model import Basis, Claim, Finished, Judgement, Outcome
from lossylink.reproduce.reproduction import registry
from lossylink.reproduce.shared import declaring
from lossylink.reproduce.shared.declaring import Declaration, declared
from lossylink.statistics.estimates import Estimate

HEAD = 'title = "t"\nsummary = "s"\nsource = "here"\nneeds = "stress"\nplace = 1\nclaimed_in = "Figure 1"\n'
PUBLISHED = {"table": {"columns": ["none", "lg_nb"], "p50": [30.0, 10.0]}}


def read(text: str) -> Declaration:
    return msgspec.toml.decode(HEAD + text, type=Declaration)


def claims(
    monkeypatch: pytest.MonkeyPatch, text: str, measures: Mapping[str, Any], *, published: Any = PUBLISHED
) -> tuple[Claim, ...]:
    monkeypatch.setattr(declaring, "load", lambda _name: read(text))
    found: tuple[Claim, ...] = declared("made-up", measures)["claims"](published)
    return found


def judged(monkeypatch: pytest.MonkeyPatch, text: str, value: object, **more: Any) -> Judgement:
    measures = {"figure": lambda _finished, *_arguments: value}
    (claim,) = claims(monkeypatch, f'[claims."words"]\nmeasure = "figure"\n{text}', measures, **more)
    return claim.judge(Finished({}))


@pytest.mark.parametrize(
    ("text", "value", "outcome"),
    [
        ("at_least = 2", 2.0, Outcome.HOLDS),
        ("at_least = 2", 1.9, Outcome.FAILS),
        ("at_least = 10\nrounded = true", Estimate(10.5, 9.0, 12.0), Outcome.HOLDS),
        ("at_least = 10", Estimate(10.5, 9.0, 12.0), Outcome.UNDECIDED),
        ("at_most = 2", 2.1, Outcome.FAILS),
        ("between = [1, 2]", 2.1, Outcome.FAILS),
        ("exactly = 2", 2.0, Outcome.HOLDS),
        ('between = [0.9, 1.1]\ntimes = "published"\npublished = "table.p50.lg_nb"', 10.9, Outcome.HOLDS),
        ('between = [0.9, 1.1]\ntimes = "published"\npublished = "table.p50.lg_nb"', 11.1, Outcome.FAILS),
        ("expected = 2", Estimate(2.2, 1.9, 2.5), Outcome.HOLDS),
        ("expected = 2", Estimate(2.2, 2.1, 2.5), Outcome.FAILS),
        ('expected = 1e-9\nexposure = 100\nnoun = "frames"', (0, 100), Outcome.HOLDS),
        ('expected = 1e-9\nexposure = 100\nnoun = "frames"', (0, 99), Outcome.UNDECIDED),
        ('expected = 1e-9\nexposure = 100\nnoun = "frames"', (2, 100), Outcome.FAILS),
        ('size = true\npublished = "table.p50.none"', 30.0, Outcome.HOLDS),
        ('size = true\npublished = "table.p50.none"', 29.0, Outcome.UNDECIDED),
        ('at_least = 2\ninstead = "it is less"', 1.9, Outcome.REFUTED),
    ],
)
def test_a_statement_has_the_judge_of_its_words(
    monkeypatch: pytest.MonkeyPatch, text: str, value: object, outcome: Outcome
) -> None:
    assert judged(monkeypatch, text, value).outcome is outcome


def test_published_figures_are_found_by_their_place(monkeypatch: pytest.MonkeyPatch) -> None:
    one = 'at_least = 1\npublished = "table.p50.lg_nb"'
    two = 'at_least = 1\npublished = ["table.p50.none", "table.p50.lg_nb"]'
    assert judged(monkeypatch, one, 1.0).published == 10.0
    assert judged(monkeypatch, two, 1.0).published == 3.0
    assert judged(monkeypatch, two, 1.0, published={}).published is None
    with pytest.raises(KeyError, match=r"no figure was published at table\.p99\.none"):
        judged(monkeypatch, 'at_least = 1\npublished = "table.p99.none"', 1.0)
    assert judged(monkeypatch, "at_least = 1\npublished = 9", 1.0).published == 9.0


def test_a_quantity_over_another_has_the_widest_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    text = '[claims."words"]\nmeasure.of = ["twice", 3]\nmeasure.over = "wide"\nat_least = 1'
    measures = {"twice": lambda _finished, one: 2.0 * one, "wide": lambda _finished: Estimate(2.0, 1.0, 3.0)}
    (claim,) = claims(monkeypatch, text, measures)
    assert claim.judge(Finished({})).here == Estimate(3.0, 2.0, 6.0)


def test_a_claim_has_the_source_and_the_values_that_many_share(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        '[groups]\ndelays = ["a:b", "a:c"]\n[claims."one"]\nmeasure = "figure"\n'
        'calibrated = ["delays", "d:e"]\n[claims."two"]\nmeasure = "figure"\nsource = "LG-1"'
    )
    one, two = claims(monkeypatch, text, {"figure": lambda _finished: 1.0})
    assert (one.text, one.source, one.basis) == ("one", "Figure 1", Basis.CALIBRATED)
    assert one.rests_on == ("a:b", "a:c", "d:e")
    assert (two.source, two.basis, two.rests_on) == ("LG-1", Basis.PREDICTION, ())


def test_a_word_that_no_declaration_has_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="at_lest"):
        read('[claims."words"]\nmeasure = "figure"\nat_lest = 1')


def test_every_declaration_is_one_of_an_experiment() -> None:
    assert {path.stem for path in DECLARATIONS.glob("*.toml")} == {one.name for one in registry.WRITTEN}


def test_every_claim_says_what_is_accepted() -> None:
    """Without a bound, every figure would do."""
    for experiment in registry.WRITTEN:
        for text, one in declaring.load(experiment.name).claims.items():
            default = declaring.Statement(measure="")
            bounds = ("at_least", "at_most", "between", "exactly", "expected", "is_size")
            assert any(getattr(one, name) != getattr(default, name) for name in bounds), text
