"""The points of a sweep: a resolved scenario each, called after everything that decides its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lossylink._package.code import code
from lossylink.errors import UserError
from lossylink.running.sweeping.until import Until
from lossylink.scenario.fingerprint import fingerprint
from lossylink.scenario.from_python import spell
from lossylink.scenario.resolving import resolve
from lossylink.scenario.scenario import Scenario


@dataclass(frozen=True)
class Point:
    """One combination of the grid's values."""

    place: dict[str, Any]
    scenario: Scenario
    name: str


def name_of(scenario: Scenario, until: Until | None) -> str:
    """Return what a point is called: a digest of code, scenario and stopping rule."""
    return fingerprint(scenario, f"{code()} {until or ''}")


def resolve_points(
    what: str | Path,
    places: Sequence[dict[str, Any]],
    *,
    protection: Sequence[str] | None,
    settings: Mapping[str, Any],
    seed: int | None,
    until: Until | None,
) -> tuple[tuple[Point, ...], str]:
    """Resolve every combination, so that a mistake in any is told before the first one begins.

    Combinations that are equal once they are read, as ``1e-3`` and ``0.001`` are, are one point. The second
    part is one line about these, or nothing.
    """

    def resolved(place: dict[str, Any]) -> Scenario:
        # Protection and seed of a place win over those of the sweep.
        own = {key: spell(key, value) for key, value in place.items()}
        labels = [str(own.pop("protection"))] if "protection" in own else protection
        drawn = _whole(own.pop("seed")) if "seed" in own else seed
        return resolve(what, settings={**settings, **own, "run.threads": 1}, protection=labels, seed=drawn)

    points: dict[str, Point] = {}
    repeats: list[tuple[Point, Point]] = []
    for place in places:
        scenario = resolved(place)
        if until is not None:
            until.check(scenario)
        point = Point(place, scenario, name_of(scenario, until))
        first = points.setdefault(point.name, point)
        if first is not point:
            repeats.append((first, point))
    return tuple(points.values()), _told(repeats)


def _told(repeats: Sequence[tuple[Point, Point]]) -> str:
    """Say in one line which points are given more than once; nothing where none is."""
    if not repeats:
        return ""
    first, again = repeats[0]
    words = [_differing(first.place, again.place), _differing(again.place, first.place)]
    same = f"{words[1]} is {words[0]}" if words[0] != words[1] else words[1]
    if len(repeats) == 1:
        return f"a point is given twice and runs once: {same}"
    return f"{len(repeats)} points are given again and run once: {same}, ..."


def _differing(place: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Return the values that two places do not share, or all of them where they share all."""
    keys = [key for key in place if place[key] != other[key]] or list(place)
    return ", ".join(f"{key}={place[key]}" for key in keys)


def _whole(value: Any) -> int:
    try:
        return int(str(value))
    except ValueError:
        raise UserError(f"seed = {value} is not a whole number") from None


def default_directory(points: Sequence[Point]) -> Path:
    """Return the directory of a sweep that names none: the same question has the same one."""
    return Path("runs") / f"sweep-{points[0].scenario.experiment.name}-{question_of(points)[:8]}"


def question_of(points: Sequence[Point]) -> str:
    """Return a digest of what all points ask; which code answers is no part of it."""
    return fingerprint(points[0].scenario, ",".join(fingerprint(point.scenario, "") for point in points))
