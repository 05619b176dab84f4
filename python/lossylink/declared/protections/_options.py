"""How the text of options is read: counts, times, words and switches. Ranges are the core's business."""

from __future__ import annotations

import re
from collections.abc import Callable

#: More digits than any range has, and few enough for every integer type of the core.
_COUNT = re.compile(r"[0-9]{1,9}")


def count(name: str, *, none: str) -> Callable[[object], int | None]:
    """Return a reader of whole numbers; the word ``none`` means that the option decides nothing.

    Examples
    --------
    >>> read = count("copies", none="auto")
    >>> read("3"), read("auto")
    (3, None)
    >>> read("two")
    Traceback (most recent call last):
    ValueError: copies 'two' is not a whole number or auto
    """

    def read(value: object) -> int | None:
        word = str(value).strip().lower()
        if value is None or word == none:
            return None
        if not _COUNT.fullmatch(word):
            raise ValueError(f"{name} '{value}' is not a whole number or {none}")
        return int(word)

    return read


def choice(name: str, *words: str) -> Callable[[object], str]:
    """Return a reader of one of a few words.

    Examples
    --------
    >>> choice("meter", "off", "police")(False)
    'off'
    """

    def read(value: object) -> str:
        # A bare word `off` in a TOML file may come as the boolean.
        word = "off" if value is False else str(value).strip().lower()
        if word not in words:
            raise ValueError(f"{name} '{value}' is none of {', '.join(words)}")
        return word

    return read


def is_word(value: object, *words: str) -> bool:
    """Tell whether a user wrote one of a few words.

    Examples
    --------
    >>> is_word(" Auto", "auto", "off"), is_word("1us", "auto", "off")
    (True, False)
    """
    return value is None or ("off" if value is False else str(value).strip().lower()) in words
