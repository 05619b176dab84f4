"""Full runs that are kept beside quick ones."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from lossylink.reproduce import reproduce
from lossylink.reproduce.framework.kept import FOLDER, Kept, KeptVerdict, keep, load
from lossylink.reproduce.framework.model import Outcome
from lossylink.reproduce.reproduction import registry

from .conftest import Reproduced
from .synthetic import synthetic_runner


def full_run(folder: Path, only: list[str], *, quick: bool = False) -> None:
    quiet = Console(file=io.StringIO())
    options: dict[str, Any] = {"progress": False, "with_figures": False, "console": quiet}
    reproduce(output=folder, only=only, quick=quick, runner=synthetic_runner, **options)


def test_a_full_run_is_kept_with_every_verdict(tmp_path: Path) -> None:
    full_run(tmp_path, ["ablation"])
    keep(tmp_path, "ablation", commit="0123456789abcdef", folder=tmp_path / "kept")
    kept = load("ablation", folder=tmp_path / "kept")
    assert kept is not None
    summary = json.loads((tmp_path / "reproduce.json").read_text(encoding="utf-8"))
    verdicts = summary["experiments"][0]["verdicts"]
    assert [one.claim for one in kept.verdicts] == [one["claim"] for one in verdicts]
    assert kept.command == "lossylink reproduce --only ablation --seed 1"
    assert "0123456789ab" in kept.origin


def test_only_a_complete_full_run_is_kept(tmp_path: Path, reproduced: Reproduced) -> None:
    full_run(tmp_path, ["ablation"], quick=True)
    with pytest.raises(ValueError, match="no complete full run of ablation"):
        keep(tmp_path, "ablation", commit="0", folder=tmp_path)
    with pytest.raises(ValueError, match="no complete full run of fec"):
        keep(tmp_path, "fec", commit="0", folder=tmp_path)
    assert load("fec", folder=tmp_path) is None
    # Where every experiment runs, this one has its quick form.
    with pytest.raises(ValueError, match="no complete full run of fec"):
        keep(reproduced.folder, "fec", commit="0", folder=tmp_path)
    full_run(tmp_path, ["ablation", "stress"])
    with pytest.raises(ValueError, match="run ablation alone"):
        keep(tmp_path, "ablation", commit="0", folder=tmp_path)


def test_what_does_not_hold_is_listed() -> None:
    def verdict(outcome: Outcome) -> KeptVerdict:
        return KeptVerdict(str(outcome), "", outcome, "")

    kept = Kept("x", "c", "0" * 40, "now", 1, 60.0, tuple(verdict(outcome) for outcome in Outcome))
    left_out = {Outcome.HOLDS, Outcome.SET_UP}
    assert {one.outcome for one in kept.open_verdicts} == set(Outcome) - left_out


def test_what_is_kept_is_of_experiments_that_there_are() -> None:
    """Its claims are those of today: a claim that was changed asks for another full run."""
    from lossylink._package.published import load as published

    assert list(FOLDER.glob("*.json"))
    for path in FOLDER.glob("*.json"):
        experiment = next(one for one in registry.EXPERIMENTS if one.name == path.stem)
        kept = load(path.stem)
        assert kept is not None
        today = [(one.text, one.source) for one in experiment.claims(published())]
        assert [(one.claim, one.source) for one in kept.verdicts] == today
