"""Errors that end a command with one line: the user's mistakes (exit 2) and failed runs (exit 1)."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping


class LossylinkError(Exception):
    """Base of every error that is reported as a single line, without a traceback."""

    exit_code = 1


class UserError(LossylinkError, ValueError):
    """A mistake in what was asked for: the message says what is wrong and the mend."""

    exit_code = 2


class RunError(LossylinkError, RuntimeError):
    """A run that was asked for correctly and failed all the same."""

    exit_code = 1


def nearest(word: str, valid: Iterable[str], *, also: Mapping[str, str] | None = None) -> str | None:
    """Return the valid word closest to ``word``, or nothing when none is close.

    ``also`` has other names by which people know a valid word. Capitals, underscores and blanks
    do not matter.

    Examples
    --------
    >>> nearest("link.rat", ["link.rate", "link.mtu"])
    'link.rate'
    >>> nearest("Link_Gaurdian", ["lg", "fec"], also={"linkguardian": "lg"})
    'lg'
    >>> nearest("xyz", ["link.rate"]) is None
    True
    """
    known = {_plain(name): name for name in sorted(valid)}
    known |= {_plain(name): meant for name, meant in (also or {}).items() if _plain(name) not in known}
    wanted = _plain(word)
    # In a word of two or three letters a single slip is already half of it.
    cutoff = 0.6 if len(wanted) > 3 else 0.5
    matches = difflib.get_close_matches(wanted, known, n=1, cutoff=cutoff)
    return known[matches[0]] if matches else None


def _plain(word: str) -> str:
    """Return a word without what people spell in different ways."""
    return word.strip().lower().replace("_", "-").replace(" ", "-")


def unknown(
    what: str,
    word: str,
    valid: Iterable[str],
    *,
    where: str = "",
    lists: str | None = None,
    also: Mapping[str, str] | None = None,
) -> UserError:
    """Build the error for a word that is none of the valid ones: nearest word first, then all of them.

    ``lists`` stands in place of all of them, where they are too many: what shows them. ``also`` is that of
    `nearest`.

    Examples
    --------
    >>> str(unknown("experiment", "stres", ["stress", "fec"]))
    "unknown experiment 'stres'; did you mean 'stress'? Valid: fec, stress"
    """
    choices = sorted(valid)
    prefix = f"{where}: " if where else ""
    rest = lists if lists is not None else f"Valid: {', '.join(choices)}"
    return UserError(f"{prefix}unknown {what} '{word}'; {hint(word, choices, also=also)}{rest}")


def hint(word: str, valid: Iterable[str], *, also: Mapping[str, str] | None = None) -> str:
    """Return the question whether the nearest word was meant, with a blank behind it, or nothing.

    Examples
    --------
    >>> hint("newreno", ["reno", "cubic"]), hint("vegas", ["reno", "cubic"])
    ("did you mean 'reno'? ", '')
    """
    guess = nearest(word, valid, also=also)
    return f"did you mean '{guess}'? " if guess else ""
