"""Errors that end a command with one line: the user's mistakes (exit 2) and failed runs (exit 1)."""

from __future__ import annotations

from collections.abc import Iterable


class LossylinkError(Exception):
    """Base of every error that is reported as a single line, without a traceback."""

    exit_code = 1


class UserError(LossylinkError, ValueError):
    """A mistake in what was asked for: the message says what is wrong and the mend."""

    exit_code = 2


class RunError(LossylinkError, RuntimeError):
    """A run that was asked for correctly and failed all the same."""

    exit_code = 1


def nearest(word: str, valid: Iterable[str]) -> str | None:
    """Return the valid word closest to ``word``, or nothing when none is close.

    Examples
    --------
    >>> nearest("link.rat", ["link.rate", "link.mtu"])
    'link.rate'
    >>> nearest("xyz", ["link.rate"]) is None
    True
    """
    import difflib  # for a mistake alone

    # In a word of two or three letters a single slip is already half of it.
    cutoff = 0.6 if len(word) > 3 else 0.5
    matches = difflib.get_close_matches(word.lower(), sorted(valid), n=1, cutoff=cutoff)
    return matches[0] if matches else None


def unknown(
    what: str, word: str, valid: Iterable[str], *, where: str = "", lists: str | None = None
) -> UserError:
    """Build the error for a word that is none of the valid ones: nearest word first, then all of them.

    ``lists`` stands in place of all of them, where they are too many: what shows them.

    Examples
    --------
    >>> str(unknown("experiment", "stres", ["stress", "fec"]))
    "unknown experiment 'stres'; did you mean 'stress'? Valid: fec, stress"
    """
    choices = sorted(valid)
    guess = nearest(word, choices)
    hint = f"did you mean '{guess}'? " if guess else ""
    prefix = f"{where}: " if where else ""
    rest = lists if lists is not None else f"Valid: {', '.join(choices)}"
    return UserError(f"{prefix}unknown {what} '{word}'; {hint}{rest}")
