"""Programs as they come, in virtual time: a store, a web server and an all-reduce under loss."""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lossylink.declared.protections import parse_protection
from lossylink.linux.guest.session import run_session
from lossylink.scenario.native import configuration
from lossylink.scenario.resolving import resolve

from .kernel_support import needed_kernel

KERNEL = needed_kernel()
EXAMPLES = Path(__file__).parents[2] / "examples"
#: A tail loss costs Linux's least retransmission timeout, and no other request comes near to it.
TIMEOUT_MS = 200.0


def said(protection: str, script: str, requests: int, folder: Path) -> list[str]:
    """Run an example over 100 Gb/s with one loss in a thousand, and return its lines."""
    settings = {"host.profile": "ideal", "link.rate": "100Gbps", "loss.forward": "1e-3"}
    settings |= {"transport.congestion_control": "cubic"}
    config = configuration(resolve("throughput", settings=settings), parse_protection(protection))
    with (folder / "said").open("w") as output:
        words = [str(EXAMPLES / script), str(requests)]
        finished = run_session(KERNEL, config, words, here=folder, to=output)
    assert finished.status == 0
    assert finished.report["frames_lost"] > 0
    return (folder / "said").read_text().splitlines()


def need(*programs: str) -> None:
    """Skip where a program is missing, which is a failure in CI."""
    if missing := [one for one in programs if shutil.which(one, path="/usr/sbin:/usr/bin") is None]:
        assert not os.environ.get("CI"), f"CI must run the examples: install {missing}"
        pytest.skip(f"{', '.join(missing)} missing")


def need_header(name: str, package: str) -> None:
    """Skip where a header is missing, which is a failure in CI."""
    if not (Path("/usr/include") / name).exists():
        assert not os.environ.get("CI"), f"CI must run the examples: install {package}"
        pytest.skip(f"{name} missing: install {package}")


def test_the_slowest_request_of_a_store(tmp_path: Path) -> None:
    need("redis-server", "redis-benchmark")
    longest = {}
    for protection in ("none", "lg"):
        (row,) = csv.DictReader(said(protection, "store.sh", 2_000, tmp_path))
        assert float(row["p50_latency_ms"]) < 0.05
        longest[protection] = float(row["max_latency_ms"])
    assert longest["none"] > TIMEOUT_MS
    assert longest["lg"] < 1.0


def test_the_slowest_page_of_a_web_server(tmp_path: Path) -> None:
    need("nginx", "ab")
    longest = {}
    for protection in ("none", "lg"):
        lines = said(protection, "web.sh", 2_000, tmp_path)
        assert any(re.fullmatch(r"Failed requests: +0", line) for line in lines)
        percentiles = dict(line.split(",") for line in lines if re.fullmatch(r"\d+,[\d.]+", line))
        assert float(percentiles["50"]) < 0.05
        longest[protection] = float(percentiles["100"])
    assert longest["none"] > TIMEOUT_MS
    assert longest["lg"] < 1.0


def test_what_losses_cost_an_all_reduce(tmp_path: Path) -> None:
    """The program checks every sum. A ring waits for its slowest hop: half of all operations meet a loss."""
    need("g++")
    need_header("gloo/allreduce.h", "libgloo-dev")
    source = str(EXAMPLES / "allreduce.cpp")
    words = ["g++", "-O2", "-o", str(tmp_path / "allreduce"), source, "-lgloo", "-lpthread"]
    subprocess.run(words, check=True)
    median, longest = {}, {}
    for protection in ("none", "lg"):
        (row,) = csv.DictReader(said(protection, "allreduce.sh", 20, tmp_path))
        assert (row["operations"], row["bytes"]) == ("20", "1000000")
        # Three fourths of the bytes cross the link twice, at 100 Gb/s at most.
        assert float(row["p50_ms"]) > 0.12
        median[protection], longest[protection] = float(row["p50_ms"]), float(row["longest_ms"])
    assert median["none"] > 1.5 * median["lg"]
    assert longest["none"] > 2 * longest["lg"]
    assert longest["lg"] < 1.0
