"""Distributions of flow sizes: packaged ones, and files of one's own in TOML or CSV."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import NamedTuple

from lossylink._package import compressed
from lossylink._package.resources import SCENARIOS
from lossylink.errors import UserError, unknown
from lossylink.scenario.load import read_toml

#: Longest file of flow sizes, decompressed.
_MOST_BYTES = 1 << 26
_CSV = (".csv", ".csv.gz", ".csv.zst")


class FlowSizes(NamedTuple):
    """A distribution: points of a size in bytes and the share of flows that are no longer."""

    name: str
    points: list[tuple[float, float]]


def load_flow_sizes(name: str, *, folder: Path | None = None) -> FlowSizes:
    """Return the packaged distribution called ``name``, or the one in that file.

    Examples
    --------
    >>> load_flow_sizes("web-search").points[1]
    (10000.0, 0.15)
    """
    if "/" in name or name.endswith((".toml", *_CSV)):
        path = (folder or Path()) / Path(name).expanduser()
    else:
        path = SCENARIOS / "workload" / f"{name}.toml"
        if not path.is_file():
            packaged = sorted(known.stem for known in path.parent.glob("*.toml"))
            raise unknown("distribution of flow sizes", name, packaged)
    points = _from_csv(path) if path.name.endswith(_CSV) else _from_toml(path)
    _check(points, path)
    return FlowSizes(path.stem, points)


def _from_toml(path: Path) -> list[tuple[float, float]]:
    table, _text = read_toml(path)
    rows = table.get("points")
    if not isinstance(rows, list) or not rows:
        raise UserError(f"{path}: points is missing; write points = [[SIZE, SHARE], ...]")
    return [_point(row, f"{path}: points") for row in rows]


def _from_csv(path: Path) -> list[tuple[float, float]]:
    lines = compressed.read_text(path, most_bytes=_MOST_BYTES, what="the flow sizes").splitlines()
    texts = [(number, line.partition("#")[0].strip()) for number, line in enumerate(lines, start=1)]
    return [_point(text.split(","), f"{path}:{number}") for number, text in texts if text]


def _point(row: object, where: str) -> tuple[float, float]:
    refusal = UserError(f"{where}: {row!r} is not a size in bytes and a share")
    if not isinstance(row, list) or len(row) != 2:
        raise refusal
    try:
        return float(row[0]), float(row[1])
    except (TypeError, ValueError):
        raise refusal from None


def _check(points: list[tuple[float, float]], path: Path) -> None:
    if not points:
        raise UserError(f"{path} holds no points; write lines of a size in bytes and a share")
    for size, share in points:
        if not 1 <= size < float("inf") or not 0 <= share <= 1:
            raise UserError(
                f"{path}: {size:g}, {share:g} is not a size from 1 byte on and a share from 0 to 1"
            )
    if any(a[0] > b[0] or a[1] > b[1] for a, b in itertools.pairwise(points)):
        raise UserError(f"{path}: sizes and shares must both rise")
    if points[-1][1] != 1:
        raise UserError(f"{path}: the last share is {points[-1][1]:g}; it must be 1, the share of all flows")
