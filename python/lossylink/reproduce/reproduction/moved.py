"""Which values that no source gives move a claim, in words: what was followed last, claim by claim."""

from __future__ import annotations

from functools import cache

from lossylink.reproduce.framework.quantity import figure
from lossylink.reproduce.reproduction.following import Value, fingerprint, load, values
from lossylink.scenario.profiles import load_profile


def moved_by(experiment: str, claim: str) -> tuple[str, ...]:
    """Return a sentence for each value that moves the claim's figure; none when profiles have changed since.

    Examples
    --------
    >>> moved_by("stress", "Ordered protection delivers about 92 Gb/s of 100")[0]
    'tofino1:data_pipeline_ns (fitted), raised by half: 91.5 becomes 90.0'
    """
    return tuple(
        f"{value} ({origin}), {change}: {figure(here)} becomes {figure(there)}"
        for value, origin, change, here, there in _moves().get((experiment, claim), ())
    )


def was_followed(experiment: str) -> bool:
    """Whether every value was followed through the experiment; the longest are left out."""
    return experiment not in load()["left_out"]


@cache
def _moves() -> dict[tuple[str, str], list[tuple[str, str, str, float, float]]]:
    kept, found = load(), dict[tuple[str, str], list[tuple[str, str, str, float, float]]]()
    if kept["fingerprint"] != fingerprint():
        return found
    known = {value.name: value for value in values()}
    for name, experiments in kept["moved"].items():
        for experiment, claims in experiments.items():
            for claim, (here, there) in claims.items():
                moves = found.setdefault((experiment, claim), [])
                moves.append((name, known[name].origin, _change(known[name]), here, there))
    return found


def _change(value: Value) -> str:
    """What was done to the value."""
    table = load_profile(value.kind, value.profile)
    before, after = table[value.key], value.raised(table)[value.key]
    if isinstance(before, bool):
        return f"switched {'on' if after else 'off'}"
    if value.is_share:
        return "halved"
    return f"raised from 0 to {after:g}" if before == 0 else "raised by half"
