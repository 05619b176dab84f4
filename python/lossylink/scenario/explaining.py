"""What a word means: a protection, a key, a column of a table, a loss model, a profile, a term."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from lossylink._package.resources import DICTIONARY, GLOSSARY
from lossylink.declared.experiments import all_experiments
from lossylink.declared.protections import spellings
from lossylink.errors import unknown
from lossylink.scenario.keys import keys_of
from lossylink.scenario.loss import USAGES
from lossylink.scenario.models import SECTIONS
from lossylink.scenario.packaged import packaged, title_of
from lossylink.scenario.profiles import profile_names
from lossylink.scenario.section import keys_in

_ENTRY = re.compile(r"^(?P<term>\S.*)\n: (?P<text>.+(?:\n  .+)*)", re.MULTILINE)
_ROW = re.compile(r"^\| `(?P<key>[^`]+)` \| (?P<unit>[^|`]*)\| (?P<text>.+) \|$", re.MULTILINE)
_COLUMN = re.compile(
    r"^\| `(?P<table>\w+)` \| `(?P<key>\w+)` \| (?P<unit>[^|]*)\| (?P<text>.+) \|$", re.MULTILINE
)


@dataclass(frozen=True)
class Meaning:
    """One meaning of a word."""

    of: str
    """What kind of word it is: ``protection``, ``key of a scenario``, ``row of stress``, ``glossary`` ..."""
    word: str
    text: str
    more: tuple[str, ...] = ()
    """Further lines, such as options."""


def explain(word: str) -> list[Meaning]:
    """Return every meaning of a word; capitals and the options of a protection do not matter.

    Raises
    ------
    UserError
        It has none; one line names the nearest word.

    Examples
    --------
    >>> [meaning.of for meaning in explain("lg-nb")]
    ['protection']
    >>> explain("era")[0].text.split(",")[0]
    'One bit beside the sequence number'
    """
    wanted = word.strip().casefold()
    head = wanted.partition(":")[0]
    found = [
        meaning
        for meaning in meanings()
        if meaning.word.casefold() in {wanted, head} or _is_leaf(meaning, wanted)
    ]
    if not found:
        raise unknown(
            "word",
            word,
            {meaning.word for meaning in meanings()},
            lists="`lossylink list`, `lossylink keys` and the glossary of the documentation have all words",
        )
    return found


def _is_leaf(meaning: Meaning, wanted: str) -> bool:
    """Whether a key of a scenario is meant by its last part."""
    return meaning.of == "key of a scenario" and meaning.word.partition(".")[2] == wanted


@cache
def meanings() -> tuple[Meaning, ...]:
    """Return every meaning of every word."""
    return (
        *_protections(),
        *_experiments(),
        *_keys(),
        *_rows(),
        *_heads(),
        *_losses(),
        *_profiles(),
        *_terms(),
    )


def _protections() -> Iterator[Meaning]:
    for family, spelling in spellings():
        options = tuple(
            f"{option.usage.replace('`', '')}: {option.description}" for option in spelling.options
        )
        live = "" if family.is_live else "; in the simulator alone"
        yield Meaning(
            "protection", spelling.word, f"{spelling.meaning} (write {spelling.usage}){live}", options
        )


def _experiments() -> Iterator[Meaning]:
    for one in all_experiments().values():
        refusals = tuple(f"not on the backend {name}: {why}" for name, why in one.refused.items())
        yield Meaning("experiment", one.name, one.summary, refusals)
    for name, path in packaged().items():
        yield Meaning("scenario", name, title_of(path))


def _keys() -> Iterator[Meaning]:
    for section, model in SECTIONS.items():
        for leaf, key in keys_in(model).items():
            name = f"{section}.{leaf}"
            users = [one.name for one in all_experiments().values() if name in keys_of(one)]
            taken = (
                "taken by every experiment"
                if len(users) == len(all_experiments())
                else f"taken by {', '.join(users)}"
            )
            yield Meaning("key of a scenario", name, key.meaning, (taken,))


def _rows() -> Iterator[Meaning]:
    """The data dictionary, the same key with the same meaning once."""
    owners: dict[tuple[str, str], list[str]] = {}
    for title, key, text in _dictionary():
        owners.setdefault((key, text), []).append(title)
    for (key, text), titles in owners.items():
        yield Meaning(f"row of {', '.join(titles)}", key, text)
    for column in _COLUMN.finditer(DICTIONARY.read_text(encoding="utf-8")):
        yield Meaning(f"column of {column['table']}.parquet", column["key"], _with_unit(column))


@cache
def _dictionary() -> tuple[tuple[str, str, str], ...]:
    """Every section of the data dictionary with its keys and their meanings."""
    parts = re.split(r"^## (.+)$", DICTIONARY.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return tuple(
        (title, row["key"], _with_unit(row))
        for title, body in zip(parts[1::2], parts[2::2], strict=True)
        for row in _ROW.finditer(body)
    )


def _heads() -> Iterator[Meaning]:
    """What stands above the columns of the short tables."""
    owners: dict[tuple[str, str], list[str]] = {}
    for one in all_experiments().values():
        for column in (*one.headline, *one.rare_headline):
            titles = (one.name, f"{one.name} for rare losses", "Every experiment")
            text = next(
                (text for title, key, text in _dictionary() if key == column.key and title in titles), ""
            )
            owners.setdefault((column.label, f"{column.key}: {text}" if text else column.key), []).append(
                one.name
            )
    for (label, text), names in owners.items():
        yield Meaning(f"column of {', '.join(names)}", label, text)


def _losses() -> Iterator[Meaning]:
    for usage, text in USAGES.items():
        yield Meaning("loss model", usage.partition(":")[0], f"{text} (write {usage})")


def _profiles() -> Iterator[Meaning]:
    for kind in ("switch", "host"):
        for name in profile_names(kind):
            yield Meaning(
                f"{kind} profile",
                name,
                f"scenarios/{kind}/{name}.toml has its values and where they are from",
            )


def _with_unit(row: re.Match[str]) -> str:
    unit = row["unit"].strip()
    return f"{row['text']} ({unit})" if unit else row["text"]


def _terms() -> Iterator[Meaning]:
    for entry in _ENTRY.finditer(GLOSSARY.read_text(encoding="utf-8")):
        yield Meaning("glossary", entry["term"], " ".join(entry["text"].split()))
