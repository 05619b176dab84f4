"""Puts the pieces of points together, once they are all there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from lossylink.running.sweeping import shards
from lossylink.running.sweeping.pieces import pieces_of, put_together
from lossylink.running.sweeping.points import Point
from lossylink.running.sweeping.task import Task


def gather(points: Sequence[Point], pattern: Task, beside: Iterable[Path]) -> list[Path]:
    """Put together the points whose pieces are all there, and write them like others; gives the new shards.

    Parameters
    ----------
    pattern
        Says where shards are, and whether tables are kept.
    beside
        Shards that are known to be there.
    """
    scenarios = {point.name: point.scenario for point in points}
    pieces = {
        name: [piece.name(name) for piece in pieces_of(scenario)] for name, scenario in scenarios.items()
    }
    wanted = {*pieces, *(piece for of_point in pieces.values() for piece in of_point)}
    kept = {
        name: one for name, one in shards.read(pattern.folder, wanted, beside=beside).items() if not one.error
    }
    shard, written = shards.Shard(pattern.folder, "gathered"), []
    for name, of_point in pieces.items():
        is_there = name in kept and (kept[name].tables is not None or not pattern.with_tables)
        if is_there or not of_point or any(piece not in kept for piece in of_point):
            continue
        run = put_together(scenarios[name], [kept[piece].summary for piece in of_point])
        written += shard.add(name, run, with_tables=pattern.with_tables)
        written += shard.write()
    return [Path(path) for path in written]
