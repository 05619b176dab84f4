"""`lossylink list`, `keys` and `explain`: every word that a user meets has a meaning."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from lossylink._package.resources import GLOSSARY
from lossylink.declared.experiments import all_experiments
from lossylink.declared.protections import spellings
from lossylink.reproduce.framework.model import Basis, Outcome
from lossylink.scenario.explaining import explain, meanings
from lossylink.scenario.keys import keys_of
from lossylink.scenario.loss import USAGES, parse_loss
from lossylink.scenario.packaged import packaged

from .conftest import Ended

TERMS = [one.word for one in meanings() if one.of == "glossary"]


def test_every_entry_of_the_glossary_is_read_once() -> None:
    text = GLOSSARY.read_text(encoding="utf-8")
    assert len(TERMS) == len(re.findall(r"^: ", text, re.MULTILINE)) > 50
    assert len(TERMS) == len({term.casefold() for term in TERMS})


@pytest.mark.parametrize(
    "word",
    [
        *all_experiments(),
        *packaged(),
        *(spelling.word for _, spelling in spellings()),
        *("loss_ratio", "duration", "queue", "mss", "mtu", "offload"),
        *(basis.value for basis in Basis),
        *(outcome.value for outcome in Outcome if len(outcome.value.split()) == 1),
        *("link.rate", "congestion_control", "fct_us_p99_9", "AckNoTimeout", "lg:copies=2"),
    ],
)
def test_words_that_users_meet_are_explained(word: str) -> None:
    assert all(one.text for one in explain(word))


@pytest.mark.parametrize("name", all_experiments())
def test_every_key_of_a_row_is_explained(name: str) -> None:
    experiment = all_experiments()[name]
    for key in (*experiment.row_keys, *experiment.rare_row_keys):
        assert any(one.of.startswith("row of ") for one in explain(key)), key


def test_a_column_of_a_table_is_not_a_key_of_a_row() -> None:
    (meaning,) = explain("fct_us")
    assert meaning.of == "column of trials.parquet"
    assert meaning.text.endswith("(us)")


def test_every_spelling_of_a_loss_is_one() -> None:
    for usage in USAGES:
        for word in re.split(r", | or ", usage):
            if word.isupper() or word.endswith(("FILE", "]]")) or "=M" in word:
                continue
            assert parse_loss(word).native["model"]


def test_the_commands(command: Callable[..., Ended]) -> None:
    everything = command("list").out
    assert all(name in everything for name in (*all_experiments(), *packaged()))
    assert all(spelling.usage in everything for _, spelling in spellings())
    keys = command("keys", "stress").out
    shown = set(re.findall(r"^([a-z]+\.[a-z_]+)  ", keys, re.MULTILINE))
    assert shown == keys_of(all_experiments()["stress"])
    ended = command("explain", "lg-nb")
    assert "non-blocking" in ended.out
    assert "copies=N" in ended.out
    mistake = command("explain", "lgnb")
    assert (mistake.code, mistake.out) == (2, "")
    assert mistake.err.startswith("error: unknown word 'lgnb'; did you mean 'lg-nb'?")


@pytest.mark.parametrize(
    ("alias", "key"),
    [
        ("cc", "transport.congestion_control"),
        ("rate", "link.rate"),
        ("delay", "link.propagation"),
        ("rto", "transport.rto_min"),
        ("loss", "loss.forward"),
    ],
)
def test_common_words_are_keys(alias: str, key: str) -> None:
    from lossylink.scenario.keys import resolve_key

    assert resolve_key(alias, all_experiments()["tcp-fct"]) == key
