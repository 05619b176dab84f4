"""Documents that must not lag behind the code: the data dictionary, and the guide to scenarios."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import lossylink
from lossylink._package.resources import SCENARIOS
from lossylink.charts.kinds import kinds
from lossylink.declared.experiments import all_experiments
from lossylink.declared.protections import spellings
from lossylink.running.run import Run
from lossylink.scenario.keys import keys_of
from lossylink.scenario.models import SECTIONS
from lossylink.scenario.profiles import load_profile
from lossylink.scenario.section import keys_in

DOCUMENTS = Path(__file__).resolve().parents[2] / "docs"
COMMON = "Every experiment"

#: Runs that are small and still produce every key of their experiment.
SMALL: dict[str, dict[str, object]] = {
    "stress": {"traffic.packets": 20_000},
    "tcp-fct": {"flow.trials": 20},
    "rdma-fct": {"flow.trials": 20},
    "workload": {"flow.trials": 20, "flow.distribution": "rpc"},
    "throughput": {"run.duration": "60ms", "run.warmup": "10ms", "run.cooldown": "10ms"},
    "timeline": {
        "run.duration": "30ms",
        "timeline.corruption": "5ms",
        "timeline.protection": "10ms",
        "timeline.bin": "1ms",
    },
    "fec": {"run.duration": "20ms"},
    "fabric": {"fabric.topology": "fat-tree:k=4", "traffic.packets": 5000, "fabric.years": 2},
    "mathis": {
        "grid.mss": 1460,
        "transport.congestion_control": "cubic",
        "path.rtt": "3ms",
        "loss": "1e-2",
        "grid.loss_events": 30,
    },
}
#: Keys that one experiment lacks and all others have; the dictionary says so.
NOT_COMMON = {"fabric": {"loss_rate"}}
PROTECTIONS = {"stress": ["none", "lg", "lg-nb", "llr", "fec:5/1"], "mathis": ["none"], "timeline": ["lg"]}


def sections(text: str) -> dict[str, str]:
    """Split a document at its second headings."""
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def first_column(text: str) -> list[str]:
    return re.findall(r"^\| `([^`]+)` \|", text, flags=re.MULTILINE)


DICTIONARY = sections((DOCUMENTS / "data-dictionary.md").read_text())


def documented(experiment: str) -> set[str]:
    common = {*first_column(DICTIONARY[COMMON])} - NOT_COMMON.get(experiment, set())
    return common | {*first_column(DICTIONARY[experiment])}


@pytest.mark.parametrize("experiment", sorted(all_experiments()))
def test_the_contract_is_in_the_dictionary(experiment: str) -> None:
    assert set(all_experiments()[experiment].row_keys) <= documented(experiment)


@pytest.mark.parametrize("experiment", sorted(SMALL))
def test_the_dictionary_is_what_runs_produce(experiment: str) -> None:
    result = small_run(experiment)
    assert result.rows.height
    assert set(result.rows.columns) == documented(experiment)
    tables = set(re.findall(r"^\| `(\w+)` \| `(\w+)` \|", DICTIONARY["Tables"], flags=re.MULTILINE))
    produced = {(name, column) for name, table in result.tables.items() for column in table.columns}
    assert {pair for pair in produced if pair[1] != "protection"} <= tables


def test_the_dictionary_of_rdma_throughput() -> None:
    settings = {**SMALL["throughput"], "transport.protocol": "rdma", "run.duration": "22ms"}
    rows = lossylink.run("throughput", settings=settings, protection=["lg"]).rows
    section = first_column(DICTIONARY["throughput over RDMA"])
    assert set(rows.columns) == {*first_column(DICTIONARY[COMMON]), *section}


def small_run(experiment: str) -> Run:
    protections = PROTECTIONS.get(experiment, ["none", "lg", "lg-nb"])
    return lossylink.run(experiment, settings=SMALL[experiment], protection=protections)


def test_every_experiment_is_tried() -> None:
    assert SMALL.keys() == all_experiments().keys()


def test_the_guide_lists_every_protection_with_its_options() -> None:
    guide = sections((DOCUMENTS / "guides" / "scenarios.md").read_text())["Protections"]
    takers: dict[str, list[str]] = {}
    for _, spelling in spellings():
        assert f"| `{spelling.usage}` | {spelling.meaning} |" in guide
        for option in spelling.options:
            takers.setdefault(option.usage, []).append(f"`{spelling.word}`")
    for usage, words in takers.items():
        assert f"| {usage} | {', '.join(words)} |" in guide


def test_the_guide_lists_every_key_with_its_experiments_and_meaning() -> None:
    guide = sections((DOCUMENTS / "guides" / "scenarios.md").read_text())["Keys"]
    for section, model in SECTIONS.items():
        for name, described in keys_in(model).items():
            key = f"{section}.{name}"
            users = {one.name for one in all_experiments().values() if key in keys_of(one)}
            line = re.search(rf"^\| `{re.escape(key)}` \| (.+?) \| (.+) \|$", guide, flags=re.MULTILINE)
            assert line is not None, key
            assert line[2] == described.meaning
            told = all_experiments().keys() if line[1] == "all" else set(re.findall(r"`([^`]+)`", line[1]))
            assert told == users


@pytest.mark.parametrize("name", ["ideal", "lab", "ae-hosts"])
def test_every_key_of_a_host_profile_is_in_the_guide(name: str) -> None:
    guide = (DOCUMENTS / "guides/scenarios.md").read_text()
    section = guide.split("The keys of a host profile")[1].split("LinkGuardian's thresholds")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    documented = {key for row in rows for key in re.findall(r"`(\w+)`", row)}
    assert documented == set(load_profile("host", name))


def test_fitted_keys_of_the_published_hosts_say_so() -> None:
    """In the comment above them, and in the guide's table; the others do not."""
    lines = (SCENARIOS / "host/ae-hosts.toml").read_text().splitlines()
    guide = (DOCUMENTS / "guides/experiments.md").read_text()

    def comment(key: str) -> str:
        above = lines[: next(index for index, line in enumerate(lines) if line.startswith(f"{key} ="))]
        length = next(index for index, line in enumerate(reversed(above)) if not line.startswith("#"))
        return " ".join(above[len(above) - length :])

    without_loss = {"receive_latency", "moderation_latency", "flow_rate_bps", "rdma_latency", "rdma_fetch_ns"}
    fitted = without_loss | {"missed_tick_share", "sustained_moderation_ns"}
    assert {key for key in load_profile("host", "ae-hosts") if "alibrated" in comment(key)} == fitted
    assert set(re.findall(r"\n\| `(\w+)`[^|]*\|[^|]*\| calibrated", guide)) == fitted


def test_the_guide_lists_every_kind_of_figure_with_its_experiments() -> None:
    guide = sections((DOCUMENTS / "guides/experiments.md").read_text())["Figures of a result"]
    lines = dict(re.findall(r"^\| `([a-z-]+)` \|.*\| (.+) \|$", guide, flags=re.MULTILINE))
    assert list(lines) == list(kinds())
    for sources in lines.values():
        assert set(re.findall(r"`([a-z-]+)`", sources)) <= set(all_experiments())
