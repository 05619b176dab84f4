"""What a word means: of a protection, a key of a scenario or of a row, an experiment, or the glossary."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from lossylink.errors import unknown
from lossylink.experiments import EXPERIMENTS
from lossylink.protections import spellings
from lossylink.resources import DICTIONARY, GLOSSARY
from lossylink.scenario.keys import keys_of
from lossylink.scenario.models import SECTIONS
from lossylink.scenario.packaged import packaged, title_of

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
            lists="`lossylink list` and `lossylink keys` show what there is",
        )
    return found


def _is_leaf(meaning: Meaning, wanted: str) -> bool:
    """Whether a key of a scenario is meant by its last part."""
    return meaning.of == "key of a scenario" and meaning.word.partition(".")[2] == wanted


@cache
def meanings() -> tuple[Meaning, ...]:
    """Return every meaning of every word."""
    return (*_protections(), *_experiments(), *_keys(), *_rows(), *_terms())


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
    for one in EXPERIMENTS.values():
        refusals = tuple(f"not on the backend {name}: {why}" for name, why in one.refused.items())
        yield Meaning("experiment", one.name, one.summary, refusals)
    for name, path in packaged().items():
        yield Meaning("scenario", name, title_of(path))


def _keys() -> Iterator[Meaning]:
    for section, model in SECTIONS.items():
        for name, field in model.model_fields.items():
            key = f"{section}.{name}"
            users = [one.name for one in EXPERIMENTS.values() if key in keys_of(one)]
            taken = (
                "taken by every experiment"
                if len(users) == len(EXPERIMENTS)
                else f"taken by {', '.join(users)}"
            )
            yield Meaning("key of a scenario", key, str(field.description), (taken,))


def _rows() -> Iterator[Meaning]:
    """The data dictionary, the same key with the same meaning once."""
    titles: dict[tuple[str, str], list[str]] = {}
    parts = re.split(r"^## (.+)$", DICTIONARY.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        for row in _ROW.finditer(body):
            titles.setdefault((row["key"], _with_unit(row)), []).append(title)
        for column in _COLUMN.finditer(body):
            yield Meaning(f"column of {column['table']}.parquet", column["key"], _with_unit(column))
    for (key, text), owners in titles.items():
        yield Meaning(f"row of {', '.join(owners)}", key, text)


def _with_unit(row: re.Match[str]) -> str:
    unit = row["unit"].strip()
    return f"{row['text']} ({unit})" if unit else row["text"]


def _terms() -> Iterator[Meaning]:
    for entry in _ENTRY.finditer(GLOSSARY.read_text(encoding="utf-8")):
        yield Meaning("glossary", entry["term"], " ".join(entry["text"].split()))
