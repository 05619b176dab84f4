"""A fabric as users write it: its topology, recorded failures of its links, and points of a protection."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from lossylink._package import compressed
from lossylink._package.resources import SCENARIOS
from lossylink.errors import UserError, unknown
from lossylink.scenario.load import read_toml
from lossylink.units import parse_rate

#: Longest text of recorded failures, decompressed: some twenty million of them.
_MOST_TRACE_BYTES = 1 << 30
#: The parameters of each family of topologies, with what they are where they may be left out.
_FAMILIES: dict[str, dict[str, int | None]] = {
    "fb-fabric": {"pods": None, "tors": None, "oversubscription": 1},
    "fat-tree": {"k": None},
}
#: What the published trace generator calls families and their parameters.
_PUBLISHED_FAMILIES = {1: "fat-tree", 3: "fb-fabric"}
_PUBLISHED_PARAMETERS = {
    "num_pods": "pods",
    "tors_per_pod": "tors",
    "oversubscription": "oversubscription",
    "k": "k",
}
_POINT_KEYS = ("source", "protection", "rate", "between", "points")


class Topology(Struct, frozen=True):
    """A family and its parameters."""

    family: str
    parameters: Mapping[str, int]

    @property
    def native(self) -> dict[str, Any]:
        """The topology as the simulator reads it."""
        return {"family": self.family, **self.parameters}

    def __str__(self) -> str:
        """Return the spelling.

        Examples
        --------
        >>> str(parse_topology("fb-fabric:pods=6,tors=16"))
        'fb-fabric:pods=6,tors=16,oversubscription=1'
        """
        return f"{self.family}:{','.join(f'{key}={value}' for key, value in self.parameters.items())}"


class Points(Struct, frozen=True):
    """What a protection makes of links of one rate, as measured."""

    name: str
    protection: tuple[str, ...]
    """The spellings that the points are of."""
    rate_bps: int
    is_nearest: bool
    """Whether the nearest point stands for a loss between two; the values between them otherwise."""
    points: list[tuple[float, float, int]]
    """Loss, what remains of it, and bits per second that the link carries."""


class Fabric(Struct, frozen=True):
    """What the section of a fabric names, read."""

    topology: Topology
    failures: list[tuple[int, int, float]] | None
    """Second, link and loss of recorded failures; they are drawn where there are none."""
    points: Points | None
    """Measured points; the simulator of a link finds them where there are none."""


def parse_topology(text: str) -> Topology:
    """Return the topology of a spelling.

    Examples
    --------
    >>> parse_topology("fat-tree:k=8").native
    {'family': 'fat-tree', 'k': 8}
    >>> parse_topology("fat-tree:ports=8")
    Traceback (most recent call last):
    lossylink.errors.UserError: unknown parameter of fat-tree 'ports'; Valid: k
    """
    family, _, rest = text.strip().partition(":")
    if family not in _FAMILIES:
        raise unknown("topology", family, _FAMILIES)
    parameters = dict(_FAMILIES[family])
    for word in filter(None, (part.strip() for part in rest.split(","))):
        key, _, value = word.partition("=")
        if key.strip() not in parameters:
            raise unknown(f"parameter of {family}", key.strip(), parameters)
        try:
            parameters[key.strip()] = int(value)
        except ValueError:
            raise UserError(f"{word}: {key.strip()} is a whole number") from None
    missing = [key for key, value in parameters.items() if value is None]
    if missing:
        example = ",".join(f"{key}=..." for key in missing)
        raise UserError(f"{text}: {' and '.join(missing)} missing; write {family}:{example}")
    return Topology(family, {key: value for key, value in parameters.items() if value is not None})


def load_failures(name: str, topology: Topology, *, folder: Path) -> list[tuple[int, int, float]] | None:
    """Return the failures of a trace file; nothing for ``drawn``.

    Parameters
    ----------
    name
        ``drawn``, a JSON file of the published trace generator, or a CSV file with a line of second, link and
        loss for each failure.
    topology
        A JSON file names its topology, which must be this one.

    Raises
    ------
    UserError
        The file cannot be read, is of another topology, or a line of it is no failure.
    """
    if name.strip() == "drawn":
        return None
    path = folder / Path(name).expanduser()
    suffix = compressed.suffix_of(path)
    if suffix not in (".json", ".csv"):
        raise UserError(f"fabric.trace = {name}: write drawn, or a file that ends with .json or .csv")
    text = compressed.read_text(path, most_bytes=_MOST_TRACE_BYTES, what="the trace of failures")
    return _from_json(text, topology, path) if suffix == ".json" else _from_csv(text, path)


def _from_json(text: str, topology: Topology, path: Path) -> list[tuple[int, int, float]]:
    try:
        trace = json.loads(text)
        family = _PUBLISHED_FAMILIES.get(int(trace["topo_type"]), f"type {trace['topo_type']}")
        given = {
            _PUBLISHED_PARAMETERS[key]: int(trace["topo_params"][key])
            for key in trace["topo_params"]
            if key in _PUBLISHED_PARAMETERS
        }
        events = trace["failure_events_list"]
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path} is no trace of failures: {error!r}") from None
    recorded = Topology(family, {key: given[key] for key in topology.parameters if key in given} or given)
    if recorded != topology:
        raise UserError(f"{path} is of {recorded}, not of {topology}; set fabric.topology={recorded}")
    return [_failure(event, f"{path}: failure {number}") for number, event in enumerate(events, start=1)]


def _from_csv(text: str, path: Path) -> list[tuple[int, int, float]]:
    rows = list(enumerate(csv.reader(text.splitlines()), start=1))
    if rows and rows[0][1] and not rows[0][1][0].strip().isdigit():
        rows = rows[1:]  # the names of the columns
    return [_failure(row, f"{path}:{number}") for number, row in rows if row]


def _failure(event: Sequence[Any], where: str) -> tuple[int, int, float]:
    try:
        at_s, link, loss = event
        return int(at_s), int(link), float(loss)
    except (TypeError, ValueError):
        raise UserError(f"{where}: {event!r} is not a second, a link and a loss") from None


def load_points(name: str, *, folder: Path) -> Points | None:
    """Return the points of a packaged name or of a TOML file; nothing for ``simulated``.

    Examples
    --------
    >>> load_points("linkguardian-100g", folder=Path()).points[0]
    (1.43e-05, 5.97e-10, 98760000000)
    """
    if name.strip() == "simulated":
        return None
    if "/" in name or name.endswith(".toml"):
        path = folder / Path(name).expanduser()
    else:
        path = SCENARIOS / "fabric" / f"{name}.toml"
        if not path.is_file():
            packaged = sorted(known.stem for known in path.parent.glob("*.toml"))
            raise unknown("set of points", name, ["simulated", *packaged])
    table, _text = read_toml(path)
    for key in table:
        if key not in _POINT_KEYS:
            raise unknown("key", key, _POINT_KEYS, where=str(path))
    for key in _POINT_KEYS:
        if key not in table:
            raise UserError(f"{path}: {key} is missing; copy {SCENARIOS / 'fabric'}/linkguardian-100g.toml")
    if table["between"] not in ("nearest", "interpolated"):
        raise UserError(f"{path}: between = {table['between']!r}; write nearest or interpolated")
    try:
        points = [(float(loss), float(left), parse_rate(rate)) for loss, left, rate in table["points"]]
        rate_bps = parse_rate(table["rate"])
    except (TypeError, ValueError) as error:
        raise UserError(f"{path}: {error}") from None
    protection = table["protection"]
    labels = (protection,) if isinstance(protection, str) else tuple(protection)
    return Points(path.stem, labels, rate_bps, table["between"] == "nearest", points)
