"""The guide to additions: its files exist, its Python runs, its change applies, and its tests are there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import pytest

import lossylink
from lossylink._package.resources import PUBLISHED
from lossylink.declared import protections
from lossylink.declared.experiment import COMMON_KEYS, Experiment
from lossylink.declared.experiments import all_experiments
from lossylink.declared.protections import _registry
from lossylink.planning import Link
from lossylink.planning import families as planned
from lossylink.planning.prediction import Outline
from lossylink.scenario.loss import _MODELS
from lossylink.scenario.models import CongestionControl

from .transcripts import run

ROOT = Path(__file__).resolve().parents[2]
GUIDES = ROOT / "docs" / "guides"
GUIDE = (GUIDES / "extending.md").read_text()
COMPARISON, TOY, OUTLINES, DECLARATION = re.findall(r"^```python\n((?:.|\n)*?)^```$", GUIDE, re.MULTILINE)
(CHANGE,) = re.findall(r"^```diff\n((?:.|\n)*?)^```$", GUIDE, re.MULTILINE)


def test_every_file_that_is_named_exists() -> None:
    named = set(re.findall(r"`([a-z]+/[\w./-]+|[A-Z]+\.md)`", GUIDE))
    assert len(named) > 30
    # What is added stands in a folder that is there.
    places = {re.split("NAME|twice", name)[0] for name in named}
    assert [place for place in sorted(places) if not (ROOT / place).exists()] == []


def test_every_test_that_is_named_exists() -> None:
    sources = [*(ROOT / "tests" / "python").glob("*.py"), *(ROOT / "crates").rglob("*.rs")]
    text = "\n".join(path.read_text() for path in sources)
    tests = set(re.findall(r"`((?:a|all|every|linkguardian|lost|test|the)_\w+)`", GUIDE))
    assert len(tests) >= 10
    assert [name for name in tests if not re.search(rf"(?:fn|def) {name}\(", text)] == []


def apply(tree: Path, change: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Hand a change of the sources to git, which looks for no repository above the tree."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environment |= {"GIT_CEILING_DIRECTORIES": str(tree.parent)}
    command = ["git", "apply", *options, "-"]
    return subprocess.run(
        command, cwd=tree, env=environment, input=change, capture_output=True, text=True, check=False
    )


def test_the_change_of_linkguardian_still_applies(tmp_path: Path) -> None:
    added, removed, name = apply(ROOT, CHANGE, "--numstat").stdout.split()
    assert f"The change is {int(added) + int(removed)} lines of one file" in GUIDE
    changed = tmp_path / name
    changed.parent.mkdir(parents=True)
    shutil.copy(ROOT / name, changed)
    done = apply(tmp_path, CHANGE)
    assert done.returncode == 0, done.stderr
    assert changed.read_text() != (ROOT / name).read_text()
    assert apply(tmp_path, CHANGE).returncode == 1


def test_the_comparison_draws_two_sweeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own two sweeps, of fewer packets."""
    monkeypatch.chdir(tmp_path)
    sweeps = re.findall(r"^lossylink (sweep (?:.*\\\n)*.*)$", GUIDE, re.MULTILINE)
    assert len(sweeps) == 2
    for words in sweeps:
        small = words.replace("\\\n", " ").replace("packets=10M", "packets=2k")
        assert "12 of 12 points" in run(f"lossylink {small}", tmp_path)
    exec(compile(COMPARISON, "compare.py", "exec"), {})
    assert (tmp_path / "spread.png").stat().st_size > 10_000


@pytest.fixture
def twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[protections.Family]:
    """The guide's family, in a file of its own beside the others."""
    for package, text in ((protections, TOY), (planned, OUTLINES)):
        folder = tmp_path / package.__name__
        folder.mkdir()
        (folder / "twice.py").write_text(text)
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
    _registry.families.cache_clear()
    yield _registry.tagged("twice")
    _registry.families.cache_clear()
    for package in (protections, planned):
        sys.modules.pop(f"{package.__name__}.twice", None)


def test_the_toy_is_a_family(twice: protections.Family) -> None:
    assert protections.usages().endswith(", twice")
    assert protections.name_of("twice") == "Every frame twice"
    value = twice.value(twice.spellings[0], {}, {})
    assert protections.Protection.of(value).label == "twice"
    assert twice.load_share(value, loss_ratio=0.05, frame_wire_bytes=1538) == 0.5
    assert twice.residual_loss(value, loss_ratio=0.05) == pytest.approx(0.0025)
    link = Link(rate_bps=10**11, propagation_ps=0, loss_ratio=0.05)
    assert [*planned.outlines(link, target=1e-2)][-1] == Outline("twice", 0.05**2, 50.0)
    assert "twice" not in [one.protection for one in planned.plans(link, target=1e-2, budget_us=None)]
    # The core has the last word, and does not know it.
    with pytest.raises(lossylink.UserError, match="unknown variant `twice`"):
        protections.parse_protection("twice")


def test_the_declaration_is_one() -> None:
    names: dict[str, Any] = {}
    exec(DECLARATION, names)
    experiment = names["EXPERIMENT"]
    assert isinstance(experiment, Experiment)
    assert experiment.name not in all_experiments()
    assert experiment.keys > set(COMMON_KEYS)
    assert {column.key for column in experiment.headline} <= set(experiment.row_keys)


@pytest.mark.parametrize("name", get_args(CongestionControl))
def test_the_simulator_has_every_congestion_control_that_scenarios_take(name: str) -> None:
    settings = {"flow.trials": 1, "transport.congestion_control": name}
    assert lossylink.run("tcp-fct", protection=["none"], settings=settings).rows.height == 1


def test_the_guide_to_scenarios_has_every_loss_model() -> None:
    guide = (GUIDES / "scenarios.md").read_text()
    section = guide.partition("\n## Loss\n")[2].partition("\n## ")[0]
    assert [name for name in _MODELS if not re.search(rf"`{name}[:`]", section)] == []


def test_the_guide_to_experiments_has_every_experiment() -> None:
    table = (GUIDES / "experiments.md").read_text().partition("\n## ")[0]
    assert [name for name in all_experiments() if f"`{name}`" not in table] == []


def without_source(table: Mapping[str, Any], name: str = "") -> Iterator[str]:
    """Yield the tables with numbers that have no source, their own or of a table around them."""
    if "source" in table:
        return
    inner = {key: value for key, value in table.items() if isinstance(value, dict)}
    if len(inner) < len(table):
        yield name
    for key, value in inner.items():
        yield from without_source(value, f"{name}.{key}".lstrip("."))


def test_every_published_number_has_a_source() -> None:
    assert list(without_source(tomllib.loads(PUBLISHED.read_text()))) == []
    assert list(without_source({"a": {"source": "s", "b": {"c": 1}}, "d": {"e": {"f": 2}}})) == ["d.e"]
