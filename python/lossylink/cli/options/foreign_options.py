"""Options that a command does not have, though it has a key of that name."""

from __future__ import annotations

from collections.abc import Collection

from lossylink.scenario.keys import spellings


def meant_by(option: str, own: Collection[str]) -> str:
    """Return how one writes what an unknown option is for, or nothing.

    Parameters
    ----------
    option
        The unknown option, with its dashes.
    own
        The options that the command has.

    Examples
    --------
    >>> meant_by("--loss", ["--set", "-s"]), meant_by("--xyz", ["--set", "-s"])
    ('write --set loss=VALUE', '')
    """
    word = option.lstrip("-")
    return f"write --set {word}=VALUE" if "--set" in own and word in spellings() else ""
