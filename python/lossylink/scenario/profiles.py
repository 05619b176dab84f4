"""Switch and host profiles: data files whose keys carry their unit and go to the simulator as they stand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from lossylink import _native
from lossylink._package.resources import SCENARIOS
from lossylink.errors import UserError, unknown
from lossylink.scenario.load import key_lines, read_toml

#: The packaged profile of each kind that defines which keys exist.
_REFERENCE = {"switch": "tofino1", "host": "ae-hosts"}
#: How the source of a profile of a switch begins that nobody has built.
DESIGN_STUDY = "design study"
_THRESHOLD_KEYS = {"rate_bps", "resume_bytes", "pause_bytes", "ack_no_timeout_ticks"}


def load_profile(kind: str, name: str, *, folder: Path | None = None) -> dict[str, Any]:
    """Return the profile called ``name``, or the one in that file; ``kind`` is ``switch`` or ``host``.

    Examples
    --------
    >>> load_profile("switch", "tofino1")["data_pipeline_ns"]
    659
    """
    if "/" in name or name.endswith(".toml"):
        path = (folder or Path()) / Path(name).expanduser()
    else:
        path = SCENARIOS / kind / f"{name}.toml"
        if not path.is_file():
            raise unknown(f"{kind} profile", name, profile_names(kind))
    table, text = read_toml(path)
    if path.parent != SCENARIOS / kind:
        _check_keys(table, _reference(kind), path, text)
    if kind == "switch":
        _check_thresholds(table, path)
    return table


def beyond_measurement(table: Mapping[str, Any], *, rate_bps: int) -> str | None:
    """Say why a switch profile does not tell how LinkGuardian fares at a rate; nothing where it does.

    Examples
    --------
    >>> beyond_measurement(load_profile("switch", "tofino1"), rate_bps=100 * 10**9)
    >>> print(beyond_measurement(load_profile("switch", "tofino1"), rate_bps=400 * 10**9))
    the switch profile tofino1 was measured up to 100 Gb/s: above, figures of LinkGuardian are extrapolations
    >>> print(beyond_measurement(load_profile("switch", "reorder-memory"), rate_bps=10**9))
    the switch profile reorder-memory is a design study: figures of LinkGuardian were measured nowhere
    """
    name, fastest_bps = table["name"], max(point["rate_bps"] for point in table["threshold"])
    if str(table["source"]).startswith(DESIGN_STUDY):
        return f"the switch profile {name} is a {DESIGN_STUDY}: figures of LinkGuardian were measured nowhere"
    if rate_bps <= fastest_bps:
        return None
    measured = f"the switch profile {name} was measured up to {fastest_bps / 1e9:g} Gb/s"
    return f"{measured}: above, figures of LinkGuardian are extrapolations"


def profile_names(kind: str) -> list[str]:
    """Return the names of the profiles of a kind, ``switch`` or ``host``.

    Examples
    --------
    >>> "tofino1" in profile_names("switch")
    True
    """
    return sorted(path.stem for path in (SCENARIOS / kind).glob("*.toml"))


@cache
def _reference(kind: str) -> dict[str, Any]:
    return read_toml(SCENARIOS / kind / f"{_REFERENCE[kind]}.toml")[0]


def _check_keys(table: dict[str, Any], reference: dict[str, Any], path: Path, text: str) -> None:
    lines = key_lines(text)
    for key, value in table.items():
        where = f"{path}:{lines[key]}" if key in lines else str(path)
        if key not in reference:
            raise unknown("key", key, reference, where=where)
        if not _same_type(value, reference[key]):
            wanted = "text" if isinstance(reference[key], str) else "a number of the unit in its name"
            wanted = {bool: "true or false", list: "a list"}.get(type(reference[key]), wanted)
            raise UserError(f"{where}: {key} = {value!r} is not {wanted}")
        if isinstance(value, (int, float)) and value < 0:
            raise UserError(f"{where}: {key} = {value} is negative")
    for key in reference:
        if key not in table:
            raise UserError(f"{path}: {key} is missing; copy a packaged profile and change it")


def _same_type(value: object, reference: object) -> bool:
    if isinstance(reference, bool) or isinstance(value, bool):
        return isinstance(value, bool) and isinstance(reference, bool)
    number = (int, float)
    if isinstance(reference, number) and isinstance(value, number):
        return True
    return type(value) is type(reference)


def _check_thresholds(table: dict[str, Any], path: Path) -> None:
    points = table.get("threshold", [])
    if not points:
        raise UserError(f"{path}: a switch profile needs at least one [[threshold]]")
    for point in points:
        if not isinstance(point, dict) or point.keys() != _THRESHOLD_KEYS:
            raise UserError(
                f"{path}: a [[threshold]] has exactly the keys {', '.join(sorted(_THRESHOLD_KEYS))}"
            )
        check_order(point["resume_bytes"], point["pause_bytes"], f"{path}: [[threshold]]")


def check_order(resume_bytes: int, pause_bytes: int, where: str) -> None:
    """Refuse thresholds with which a paused sender would be resumed as soon as it was paused."""
    if resume_bytes >= pause_bytes:
        raise UserError(
            f"{where}: resume at {resume_bytes} B is not below pause at {pause_bytes} B; lower it"
        )


def thresholds_at(points: list[dict[str, int]], *, rate_bps: int) -> dict[str, int]:
    """Return LinkGuardian's thresholds at a rate, as the simulator derives them from the published points.

    Examples
    --------
    >>> points = load_profile("switch", "tofino1")["threshold"]
    >>> thresholds_at(points, rate_bps=25_000_000_000)["ack_no_timeout_ticks"]
    75
    >>> thresholds_at(points, rate_bps=400_000_000_000)["pause_bytes"]
    160000
    """
    return _native.thresholds_at(json.dumps(points), rate_bps)
