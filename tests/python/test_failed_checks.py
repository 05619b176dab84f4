"""Why a check failed is one line wherever rows are shown: run, sweep, report, Python, CSV."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lossylink
from lossylink.cli.results_page import page_of_runs
from lossylink.results.checks import reasons

from .conftest import Ended

Command = Callable[..., Ended]

#: A frame of 100 B holds a segment of 60 B, and the scenario asks for 1460 B.
SETTINGS = {
    "link.mtu": "100",
    "link.rate": "1Gbps",
    "run.duration": "20ms",
    "run.warmup": "2ms",
    "run.cooldown": "0s",
}
WORDS = tuple(word for key, value in SETTINGS.items() for word in ("-s", f"{key}={value}"))
MSS = "MSS 60 B instead of 1460 B: the MTU of 100 caps it, set the MTU to 1500"
MTU = "MTU 100 caps the MSS at 60 B: an MSS of 1460 B needs an MTU of 1500 on every hop"


@pytest.mark.parametrize("more", [(), ("--all",)])
def test_run_says_why(
    command: Command, tmp_path: Path, more: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    ended = command("run", "throughput", "-p", "none", *WORDS, "--output", "kept", "--csv", *more)
    lines = ended.out.splitlines()
    assert f"check mss failed (none): {MSS}" in lines
    assert f"check mtu failed (none): {MTU}" in lines
    (row,) = csv.DictReader((tmp_path / "kept" / "rows.csv").read_text().splitlines())
    assert f"mss: {MSS}" in row["checks"]


def test_the_line_is_one_however_narrow_the_screen(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    ended = command("run", "throughput", "-p", "none", *WORDS, "--output", "kept")
    assert f"check mss failed (none): {MSS}" in ended.out.splitlines()


def test_sweep_report_and_python_say_why(command: Command, tmp_path: Path) -> None:
    ended = command("sweep", "throughput", "-g", "seed=1,2", "-p", "none", *WORDS, "--output", "kept")
    told = f"check mss failed (none seed=1, none seed=2): {MSS}"
    assert told in ended.out.splitlines()
    (section,) = page_of_runs([tmp_path / "kept"], output=tmp_path / "page.html").sections
    assert told in section.notes
    assert told in str(lossylink.load(tmp_path / "kept")).splitlines()
    run = lossylink.run("throughput", protection="none", settings=SETTINGS)
    assert f"check mtu failed (none): {MTU}" in str(run).splitlines()
    assert f"<p>check mtu failed (none): {MTU}</p>" in run._repr_html_()


def test_strict_ends_with_the_reasons(command: Command) -> None:
    short = ("-s", "run.duration=2ms", "-s", "run.warmup=1ms", "-s", "run.cooldown=0s")
    ended = command("run", "throughput", "-p", "none", *short, "-s", "link.rate=1Gbps", "--json", "--strict")
    message = json.loads(ended.out)["rows"][0]["checks"]["duration"]["message"]
    assert "fewer than 30: run for at least 0." in message
    assert (ended.code, ended.err.count(f"none: duration: {message}")) == (1, 1)


def test_rows_that_fail_alike_share_a_line() -> None:
    def row(number: int, **failed: str) -> dict[str, Any]:
        verdicts = {name: {"passed": False, "message": message} for name, message in failed.items()}
        return {
            "protection": "lg",
            "seed": number,
            "checks": {**verdicts, "mtu": {"passed": True, "message": ""}},
        }

    rows = [row(number, queue=f"{number} frames dropped") for number in range(5)] + [row(9, mss="short")]
    assert reasons([*rows, {"protection": "lg"}, {"checks": {"queue": None}}], ["seed"]) == [
        "check queue failed (lg seed=0, lg seed=1, lg seed=2 and 2 more): 0 frames dropped; "
        "figures of the first row",
        "check mss failed (lg seed=9): short",
    ]
    assert not reasons([row(1)])
