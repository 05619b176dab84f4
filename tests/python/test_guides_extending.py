"""The guide to additions: its files exist, its Python runs, and what it says a test asks for, one does."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import pytest

import lossylink
from lossylink import protections
from lossylink.experiments import COMMON_KEYS, EXPERIMENTS, Experiment
from lossylink.planning import Link
from lossylink.planning.prediction import Outline
from lossylink.protections import _registry
from lossylink.resources import PUBLISHED
from lossylink.scenario.loss import _MODELS
from lossylink.scenario.models import CongestionControl

ROOT = Path(__file__).resolve().parents[2]
GUIDES = ROOT / "docs" / "guides"
GUIDE = (GUIDES / "extending.md").read_text()
TOY, DECLARATION = re.findall(r"^```python\n((?:.|\n)*?)^```$", GUIDE, re.MULTILINE)


def test_every_file_that_is_named_exists() -> None:
    named = set(re.findall(r"`([a-z]+/[\w./-]+|[A-Z]+\.md)`", GUIDE))
    assert len(named) > 30
    # What is added stands in a folder that is there.
    places = {re.split("NAME|twice", name)[0] for name in named}
    assert [place for place in sorted(places) if not (ROOT / place).exists()] == []


def test_every_test_that_is_named_exists() -> None:
    sources = [*(ROOT / "tests" / "python").glob("*.py"), *(ROOT / "crates").rglob("*.rs")]
    text = "\n".join(path.read_text() for path in sources)
    tests = set(re.findall(r"`((?:every|test|the)_\w+)`", GUIDE))
    assert len(tests) >= 4
    assert [name for name in tests if not re.search(rf"(?:fn|def) {name}\(", text)] == []


@pytest.fixture
def twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[protections.Family]:
    """The guide's family, in a file of its own beside the others."""
    (tmp_path / "twice.py").write_text(TOY)
    monkeypatch.setattr(protections, "__path__", [*protections.__path__, str(tmp_path)])
    _registry.families.cache_clear()
    yield _registry.tagged("twice")
    _registry.families.cache_clear()
    sys.modules.pop("lossylink.protections.twice", None)


def test_the_toy_is_a_family(twice: protections.Family) -> None:
    assert protections.usages().endswith(", twice")
    assert protections.name_of("twice") == "Every frame twice"
    value = twice.value(twice.spellings[0], {}, {})
    assert protections.Protection.of(value).label == "twice"
    assert twice.load_share(value, loss_ratio=0.05, frame_wire_bytes=1538) == 0.5
    assert twice.residual_loss(value, loss_ratio=0.05) == pytest.approx(0.0025)
    link = Link(rate_bps=10**11, propagation_ps=0, loss_ratio=0.05)
    assert list(twice.outline(link, target=1e-2)) == [Outline("twice", 0.05**2, 50.0)]
    # The core has the last word, and does not know it.
    with pytest.raises(lossylink.UserError, match="unknown variant `twice`"):
        protections.parse_protection("twice")


def test_the_declaration_is_one() -> None:
    names: dict[str, Any] = {}
    exec(DECLARATION, names)
    experiment = names["EXPERIMENT"]
    assert isinstance(experiment, Experiment)
    assert experiment.name not in EXPERIMENTS
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
    assert [name for name in EXPERIMENTS if f"`{name}`" not in table] == []


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
