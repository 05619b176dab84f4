"""The points of a sweep: a resolved scenario each, called after everything that decides its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lossylink.code import code
from lossylink.errors import UserError
from lossylink.scenario import Scenario, resolve
from lossylink.scenario.from_python import spell
from lossylink.sweeping.until import Until


@dataclass(frozen=True)
class Point:
    """One combination of the grid's values."""

    place: dict[str, Any]
    scenario: Scenario
    name: str


def name_of(scenario: Scenario, until: Until | None) -> str:
    """Return what a point is called: a digest of code, scenario and stopping rule."""
    return scenario.fingerprint(f"{code()} {until or ''}")


def resolve_points(
    what: str | Path,
    places: Sequence[dict[str, Any]],
    *,
    protection: Sequence[str] | None,
    settings: Mapping[str, Any],
    seed: int | None,
    until: Until | None,
) -> list[Point]:
    """Resolve every combination, so that a mistake in any is told before the first one begins."""
    points = []
    for place in places:
        scenario = _resolve(what, place, protection=protection, settings=settings, seed=seed)
        if until is not None:
            until.check(scenario)
        points.append(Point(place, scenario, name_of(scenario, until)))
    return points


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
    first = points[0].scenario
    digest = first.fingerprint(",".join(point.scenario.fingerprint("") for point in points))
    return Path("runs") / f"sweep-{first.experiment.name}-{digest[:8]}"
