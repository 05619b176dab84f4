"""Points that go out in pieces: the same bytes as of one worker, and nothing lost on the way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import lossylink
from lossylink.errors import RunError
from lossylink.running.runner import jobs_of, run_scenario
from lossylink.running.sweeping import shards
from lossylink.running.sweeping.pieces import MOST_PIECES, Piece, pieces_of, put_together, run_piece
from lossylink.running.sweeping.task import Task
from lossylink.scenario.resolving import resolve
from lossylink.scenario.scenario import Scenario

#: The last block is not whole.
TRIALS = 1_050
LOSSES = ["1e-3", "1e-2"]


def scenario_of(experiment: str = "tcp-fct", trials: int = TRIALS, **settings: Any) -> Scenario:
    chosen = {"flow.trials": trials, "loss.forward": "1e-2", "run.threads": 1, **settings}
    return resolve(experiment, settings=chosen, protection=["none", "lg"], seed=5)


def silent(_done: float, _total: float) -> None:
    pass


def swept(folder: Path, *, threads: int, **more: Any) -> lossylink.Sweep:
    return lossylink.sweep(
        "tcp-fct",
        grid={"loss.forward": LOSSES},
        protection=["none", "lg"],
        settings={"flow.trials": TRIALS},
        output=folder,
        threads=threads,
        **more,
    )


@pytest.mark.parametrize("trials", [101, 1_000, 1_050, 99_950])
def test_pieces_are_all_blocks_once(trials: int) -> None:
    scenario = scenario_of(trials=trials)
    pieces = pieces_of(scenario)
    assert len(pieces) <= MOST_PIECES
    assert [piece.first for piece in pieces] == [
        sum(one.blocks for one in pieces[:place]) for place in range(len(pieces))
    ]
    assert sum(piece.blocks for piece in pieces) == -(-trials // scenario.experiment.block_trials)


def test_what_does_not_run_in_blocks_has_no_pieces() -> None:
    assert pieces_of(scenario_of(trials=100)) == []
    assert pieces_of(resolve("stress", settings={"traffic.packets": 10**9})) == []
    assert pieces_of(resolve("throughput")) == []


@pytest.mark.parametrize("experiment", ["tcp-fct", "rdma-fct"])
def test_pieces_put_together_are_a_plain_run(experiment: str) -> None:
    scenario = scenario_of(experiment)
    texts = [run_piece(scenario, piece, silent) for piece in pieces_of(scenario)]
    together, plain = put_together(scenario, texts), run_scenario(scenario)
    assert together.records == plain.records
    assert together.tables["trials"].equals(plain.tables["trials"])
    # A piece has its blocks alone: as many flows, finished or not.
    first = json.loads(json.loads(run_piece(scenario, Piece(10, 1), silent))[0])
    assert [len(one["trials"]["took_ps"]) + one["totals"]["unfinished"] for one in first] == [50]
    assert len(json.loads(texts[0])) == len(jobs_of(scenario))


def test_a_sweep_in_pieces_has_the_bytes_of_one_without(tmp_path: Path) -> None:
    told: list[tuple[float, float]] = []
    one = swept(tmp_path / "one", threads=1, trials=True)
    many = swept(
        tmp_path / "many", threads=2, trials=True, progress=lambda done, total: told.append((done, total))
    )
    for name in ("rows.parquet", "trials.parquet", "summary.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "many" / name).read_bytes(), name
    assert one.rows.equals(many.rows)
    # Eleven blocks of each point went out in eleven pieces.
    assert len(told) == 2 * 11
    assert told[-1] == pytest.approx((2, 2))
    assert swept(tmp_path / "many", threads=2, trials=True).resumed == 2


def test_pieces_that_were_done_are_not_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A piece fails; the others stay, and the same sweep runs that piece alone."""
    ran: list[tuple[float, int]] = []
    fails = True

    def counted(scenario: Scenario, piece: Piece, report: Any) -> str:
        ran.append((scenario.forward.mean or 0.0, piece.first))
        if fails and piece.first == 7:
            raise RunError("a piece broke")
        return run_piece(scenario, piece, report)

    monkeypatch.setattr("lossylink.running.sweeping.task.run_piece", counted)
    broken = swept(tmp_path / "some", threads=2, keep_going=True)
    assert (broken.finished, sorted(broken.failed)) == (0, sorted(set(broken.names)))
    assert len(ran) == 22
    fails = False
    ran.clear()
    told: list[float] = []
    # Other workers share the pieces out otherwise.
    result = swept(tmp_path / "some", threads=3, progress=lambda done, _total: told.append(done))
    assert result.finished == 2
    assert told[-1] == pytest.approx(2.0)
    assert sorted(first for _, first in ran) == [7, 7]
    monkeypatch.undo()
    assert swept(tmp_path / "plain", threads=1).rows.equals(result.rows)
    # Nothing of the pieces is left.
    assert set(shards.read(tmp_path / "some" / shards.FOLDER)) == set(result.names)


def test_a_task_may_be_a_piece(tmp_path: Path) -> None:
    from lossylink._package.code import code
    from lossylink.running.sweeping.points import name_of
    from lossylink.running.sweeping.task import do

    scenario = scenario_of()
    name = Piece(2, 3).name(name_of(scenario, None))
    task = Task(points=((name, scenario),), folder=tmp_path, code=code())
    done = do(task)
    assert (done.failed, done.mistake, done.interrupted) == ((), "", False)
    kept = shards.read(tmp_path)[name]
    assert kept.summary == run_piece(scenario, Piece(2, 3), silent)
