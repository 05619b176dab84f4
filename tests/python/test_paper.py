"""The paper and the citation: what is cited exists, and the figures are those of the commands beside them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import lossylink
from lossylink._package.resources import PUBLISHED

ROOT = Path(__file__).resolve().parents[2]
PAPER = (ROOT / "paper.md").read_text()
WORKS = (ROOT / "paper.bib").read_text()
CITATION = (ROOT / "CITATION.cff").read_text()


def cells(protection: str, columns: int) -> list[list[float]]:
    """The numbers of every line of a table that begins with a protection."""
    lines = re.findall(rf"^\| `{protection}` \|(.+)\|$", PAPER, flags=re.MULTILINE)
    found = [[float(cell) for cell in line.split("|")] for line in lines]
    assert found
    assert all(len(line) == columns for line in found)
    return found


def run(command: str) -> dict[str, dict[str, Any]]:
    """Run what stands in the paper in the words of the command line, and return its rows by protection."""
    assert f"`{command}`" in PAPER
    words = command.split()[2:]
    options = list(zip(words[1::2], words[2::2], strict=True))
    result = lossylink.run(
        words[0],
        protection=[value for key, value in options if key == "-p"] or None,
        settings=dict(value.split("=") for key, value in options if key == "--set"),
        seed=int(dict(options)["--seed"]),
    )
    return {row["protection"]: row for row in result.rows.to_dicts()}


def test_every_work_is_cited_and_every_citation_is_a_work() -> None:
    cited = set(re.findall(r"@(\w+)", PAPER))
    assert cited == set(re.findall(r"^@\w+\{(\w+),", WORKS, flags=re.MULTILINE))


def test_the_works_of_the_citation_are_those_of_the_paper() -> None:
    flat = re.sub(r"[{}]", "", WORKS)
    titles = re.findall(r"^    title: (.+)$", CITATION, flags=re.MULTILINE)
    assert len(titles) == 3
    assert [title for title in titles if title not in flat] == []
    for doi in re.findall(r"doi: (\S+)", CITATION):
        assert doi in WORKS


def test_the_citation_has_the_version() -> None:
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert f"\nversion: {version}\n" in CITATION


def test_the_completion_times_are_those_of_the_run_and_of_the_source() -> None:
    rows = run("lossylink run tcp-fct -p none -p lg --seed 1")
    source = tomllib.loads(PUBLISHED.read_text())["linkguardian"]["tcp_fct"]
    for index, protection in enumerate(("none", "lg")):
        row, line = rows[protection], cells(protection, columns=4)[0]
        told = [source["p50"][index], row["fct_us_p50"], source["p99_9"][index], row["fct_us_p99_9"]]
        assert line == pytest.approx(told, abs=0.0501)
    ratios = [
        rows["none"]["fct_us_p99_9"] / rows["lg"]["fct_us_p99_9"],
        source["p99_9"][0] / source["p99_9"][1],
    ]
    assert [int(ratio) for ratio in ratios] == [20, 17]


def test_the_speeds_are_those_of_the_run_and_of_the_source() -> None:
    command = "lossylink run stress --seed 1 --set traffic.packets=2_000_000 --set traffic.source=generator"
    rows = run(command)
    source = tomllib.loads(PUBLISHED.read_text())["linkguardian"]["stress"]
    for protection, word in (("lg", "lg"), ("lg-nb", "lg_nb")):
        row, published, line = rows[protection], source[word], cells(protection, columns=4)[-1]
        assert line[:2] == pytest.approx(
            [published["effective_link_speed_gbps"], row["effective_link_speed_gbps"]], abs=0.00501
        )
        assert line[2:] == pytest.approx([published["tx_buffer_kb"][1], row["tx_buffer_kb_max"]], abs=0.0501)


def test_the_costs_are_those_of_the_guide() -> None:
    guide = (ROOT / "docs/guides/performance.md").read_text()
    found = re.findall(
        r"^\| (?:stress|Reno, one flow), [^|]+ \| (?:frame|segment) \| ([\d.]+) \|", guide, flags=re.MULTILINE
    )
    costs = [f"{float(cost):.0f}" for cost in found]
    assert len(costs) == 4
    assert all(re.search(rf"\b{cost} ns\b", PAPER) for cost in costs)
