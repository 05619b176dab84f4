"""TOML files as flat lists of keys that remember the line they stand on, so that an error can name it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from lossylink.errors import UserError, nearest

_TABLE = re.compile(r"\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?")
_ASSIGNMENT = re.compile(r"\s*([A-Za-z0-9_\-.\"' ]+?)\s*=")
#: An assignment whose value is words, or a list of words in one line.
_BARE_WORDS = re.compile(
    r"\s*(?P<key>[A-Za-z0-9_\-.\"']+)\s*=\s*(?P<words>\[[^\[\]{}#]+\]|[^\s\[{#\"'][^\[\]{}#\"]*?)\s*(?:#.*)?"
)


class Entry(Struct, frozen=True):
    """One key as it was typed, its value, and where it stands."""

    key: str
    value: Any
    where: str


def read_toml(path: Path) -> tuple[dict[str, Any], str]:
    """Return the parsed file and its text, or the one-line error that names the file and the line."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}{_meant(path)}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is not UTF-8 text") from None
    try:
        return _copied(_parsed(text)), text
    except tomllib.TOMLDecodeError as error:
        raise UserError(_syntax_error(path, text, str(error))) from None


def _meant(path: Path) -> str:
    """Ask for the file beside it that was meant."""
    beside = path.parent.glob(f"*{path.suffix}") if not path.exists() and path.parent.is_dir() else ()
    guess = nearest(path.name, (one.name for one in beside))
    return f"; did you mean '{path.parent / guess}'?" if guess else ""


@lru_cache(maxsize=256)
def _parsed(text: str) -> dict[str, Any]:
    """A sweep reads the same few files for each of its points."""
    return tomllib.loads(text)


def _copied(value: Any) -> Any:
    """Return a copy of what a TOML file holds, whose tables and lists nobody else has."""
    if isinstance(value, dict):
        return {key: _copied(inner) for key, inner in value.items()}
    return [_copied(inner) for inner in value] if isinstance(value, list) else value


def _syntax_error(path: Path, text: str, message: str) -> str:
    match = re.search(r"\s*\(at line (\d+), column (\d+)\)", message)
    if match is None:
        return f"{path}: {message}"
    line = text.splitlines()[int(match[1]) - 1]
    truth = re.fullmatch(r"(\s*[^=#]+=\s*)(True|False)\s*(?:#.*)?", line)
    if truth is not None:
        return f"{path}:{match[1]}: TOML writes truth in small letters: {truth[1].strip()} {truth[2].lower()}"
    quoted = _in_quotes(line)
    if quoted is not None:
        return f"{path}:{match[1]}: words are written in quotes: {quoted}"
    return f"{path}:{match[1]}: {message[: match.start()]} (column {match[2]})"


def _in_quotes(line: str) -> str | None:
    """Return an assignment with its bare words in quotes, where that is all that it lacks.

    Examples
    --------
    >>> _in_quotes("forward = bernoulli # the link"), _in_quotes("protection = [lg, fec:25/5]")
    ('forward = "bernoulli"', 'protection = ["lg", "fec:25/5"]')
    >>> _in_quotes("rate = [") is None
    True
    """
    match = _BARE_WORDS.fullmatch(line)
    if match is None:
        return None
    words = [word.strip().strip("\"'") for word in match["words"].strip("[]").split(",") if word.strip()]
    # One word of several is a list, as `--set` takes it.
    is_list = match["words"].startswith("[")
    texts = ", ".join(f'"{word}"' for word in (words if is_list else [", ".join(words)]))
    mended = f"{match['key']} = {f'[{texts}]' if is_list else texts}"
    try:
        tomllib.loads(mended)
    except tomllib.TOMLDecodeError:
        return None
    return mended


def read_entries(path: Path) -> Iterator[Entry]:
    """Yield every key of a scenario file as a dotted key, in the order of the file."""
    table, text = read_toml(path)
    lines = key_lines(text)
    for name, value in table.items():
        inner = value.items() if isinstance(value, dict) else [("", value)]
        for key, leaf in inner:
            dotted = f"{name}.{key}" if key else name
            line = lines.get(dotted) or lines.get(name)
            yield Entry(dotted, leaf, f"{path}:{line}" if line else str(path))


@lru_cache(maxsize=256)
def key_lines(text: str) -> Mapping[str, int]:
    r"""Return the line of every table and key; keys inside inline tables are left to their table.

    Examples
    --------
    >>> key_lines("seed = 1\n[link]\nrate = '10G'\n")
    {'seed': 1, 'link': 2, 'link.rate': 3}
    """
    lines: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if match := _TABLE.fullmatch(line):
            table = _unquoted(match[1])
            lines.setdefault(table, number)
        elif match := _ASSIGNMENT.match(line):
            key = _unquoted(match[1])
            dotted = f"{table}.{key}" if table else key
            lines.setdefault(dotted, number)
            lines.setdefault(dotted.partition(".")[0], number)
    return lines


def _unquoted(key: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in key.split("."))
