"""How many claims met which outcome, in one sentence."""

from __future__ import annotations

from collections import Counter

from lossylink.reproduce.framework.model import Outcome


def tally(counts: Counter[Outcome]) -> str:
    """One sentence that counts the outcomes.

    Examples
    --------
    >>> tally(Counter({Outcome.HOLDS: 3, Outcome.FAILS: 1}))
    'Of 4 claims, 3 hold and 1 fails.'
    """
    verbs = {
        Outcome.HOLDS: ("holds", "hold"),
        Outcome.REFUTED: ("is refuted", "are refuted"),
        Outcome.FAILS: ("fails", "fail"),
        Outcome.UNDECIDED: ("has too few trials to tell", "have too few trials to tell"),
        Outcome.UNDECIDABLE: ("cannot be told at its percentile", "cannot be told at their percentile"),
        Outcome.NOT_RUN: ("was not run", "were not run"),
    }
    parts = [f"{counts[key]} {verbs[key][counts[key] != 1]}" for key in verbs if counts[key]]
    if not parts:
        return "No claim was tested."
    joined = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    echoes = counts[Outcome.SET_UP]
    more = f" Beside them, {echoes} {'echo' if echoes != 1 else 'echoes'} the set-up." if echoes else ""
    return f"Of {counts.total() - echoes} claims, {joined}.{more}"
