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


@dataclass(frozen=True)
class Points:
    """The points of a grid, each once."""

    points: tuple[Point, ...]
    repeats: str
    """One line about points that were given more than once, as ``1e-3`` and ``0.001`` are; or nothing."""


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
) -> Points:
    """Resolve every combination, so that a mistake in any is told before the first one begins.

    Combinations that are equal once they are read are one point.
    """
    points: dict[str, Point] = {}
    repeats: list[tuple[Point, Point]] = []
    for place in places:
        scenario = _resolve(what, place, protection=protection, settings=settings, seed=seed)
        if until is not None:
            until.check(scenario)
        point = Point(place, scenario, name_of(scenario, until))
        first = points.setdefault(point.name, point)
        if first is not point:
            repeats.append((first, point))
    return Points(tuple(points.values()), _told(repeats))


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


def _resolve(
    what: str | Path,
    place: dict[str, Any],
    *,
    protection: Sequence[str] | None,
    settings: Mapping[str, Any],
    seed: int | None,
) -> Scenario:
    """Resolve one combination; its own protection and seed win over the sweep's."""
    chosen = dict(settings)
    own = {key: spell(key, value) for key, value in place.items()}
    if "protection" in own:
        protection = [str(own.pop("protection"))]
    if "seed" in own:
        seed = _whole(own.pop("seed"))
    chosen |= own
    chosen["run.threads"] = 1
    return resolve(what, settings=chosen, protection=protection, seed=seed)


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
