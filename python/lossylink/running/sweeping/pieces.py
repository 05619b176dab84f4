"""Pieces of a point: blocks of its flows for several workers, put together as if one worker had run them all.

Only experiments that run flows in blocks have pieces. The random streams of a block depend on the seed and on
the place of the block, so that it does not matter who runs it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from lossylink.declared.job import Job, Part, Progress
from lossylink.running.backends import backend_named
from lossylink.running.run import Run
from lossylink.running.runner import jobs_of, run_scenario
from lossylink.running.sweeping.until import own_amount
from lossylink.scenario.scenario import Scenario

MOST_PIECES = 16
"""Of one point."""
_SEPARATOR = "+"


@dataclass(frozen=True)
class Piece:
    """Blocks that follow each other."""

    first: int
    blocks: int

    def name(self, point: str) -> str:
        """Return what this piece of a point is called.

        Examples
        --------
        >>> Piece(4, 2).name("1a2b")
        '1a2b+4-2'
        """
        return f"{point}{_SEPARATOR}{self.first}-{self.blocks}"


def read_name(name: str) -> tuple[str, Piece | None]:
    """Return the point that a name is of, and which piece of it.

    Examples
    --------
    >>> read_name("1a2b+4-2"), read_name("1a2b")
    (('1a2b', Piece(first=4, blocks=2)), ('1a2b', None))
    """
    point, separator, place = name.partition(_SEPARATOR)
    if not separator:
        return point, None
    first, _, blocks = place.partition("-")
    return point, Piece(int(first), int(blocks))


def pieces_of(scenario: Scenario) -> list[Piece]:
    """Return the pieces of a scenario, which depend on nothing else; none where it has to run as a whole."""
    growth = scenario.experiment.growth
    backend = backend_named(scenario.values.run.backend)
    if growth is None or not growth.in_blocks or backend.run_blocks is None:
        return []
    blocks = -(-own_amount(scenario) // scenario.experiment.block_trials)
    if blocks < 2:
        return []
    size = -(-blocks // MOST_PIECES)
    return [Piece(first, min(size, blocks - first)) for first in range(0, blocks, size)]


def in_pieces(name: str, scenario: Scenario) -> list[tuple[str, Scenario]]:
    """Return name and scenario of each piece of a point; the point itself where it has to run as a whole."""
    return [(piece.name(name), scenario) for piece in pieces_of(scenario)] or [(name, scenario)]


def share_of(name: str, scenario: Scenario) -> float:
    """Return which share of a point goes by a name: all of it, or the blocks of a piece over all blocks."""
    piece = read_name(name)[1]
    return piece.blocks / sum(one.blocks for one in pieces_of(scenario)) if piece is not None else 1.0


def run_piece(scenario: Scenario, piece: Piece, report: Progress, *, threads: int = 1) -> str:
    """Run a piece of a scenario under each of its protections; gives it as text.

    Raises
    ------
    KeyboardInterrupt
        ``report`` raised it.
    """
    run_blocks = backend_named(scenario.values.run.backend).run_blocks
    assert run_blocks is not None, "only what has pieces runs them"
    jobs = [replace(job, threads=threads) for job in jobs_of(scenario)]
    return json.dumps([run_blocks(job, report, piece.first, piece.blocks) for job in jobs])


def put_together(scenario: Scenario, pieces: Sequence[str]) -> Run:
    """Return the run of a scenario from the texts of its pieces, in their order."""
    backend = backend_named(scenario.values.run.backend)
    gather = backend.gather_blocks
    assert gather is not None, "what has pieces puts them together"
    texts = zip(*(json.loads(piece) for piece in pieces), strict=True)
    of_jobs = dict(zip((job.label for job in jobs_of(scenario)), texts, strict=True))

    def measure(job: Job, _report: Progress) -> Part:
        return gather(job, of_jobs[job.label])

    return run_scenario(scenario, backend=replace(backend, measure=measure))
