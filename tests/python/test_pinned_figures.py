"""Figures of small real runs: a change that moves one is seen.

The same seed gives the same rows on any machine, so that the figures are pinned to six digits. The runs are
smaller than the published ones. A change that moves them on purpose writes them anew and says why::

    python -m tests.python.test_pinned_figures
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

import lossylink

FILE = Path(__file__).parent / "pinned_figures.toml"
DIGITS = 6
FCT = tuple(f"fct_us_{name}" for name in ("min", "p50", "p90", "p99", "p99_9"))
#: Experiment, settings, and the keys of its rows.
RUNS: dict[str, tuple[str, tuple[str, ...], dict[str, Any], tuple[str, ...]]] = {
    "stress": (
        "stress",
        ("lg", "lg-nb"),
        {"traffic.packets": 1_000_000, "traffic.source": "generator"},
        (
            "effective_link_speed_gbps",
            "tx_buffer_kb_max",
            "rx_buffer_kb_max",
            "retx_delay_us_p50",
            "pause_seconds",
        ),
    ),
    "tcp-fct": ("tcp-fct", ("none", "lg", "lg-nb"), {"flow.trials": 4000}, FCT),
    "tcp-fct-143": ("tcp-fct", ("none", "lg"), {"flow.trials": 4000, "flow.size": "143B"}, FCT),
    "tcp-fct-2mb": ("tcp-fct", ("none", "lg", "lg-nb"), {"flow.trials": 200, "flow.size": "2MB"}, FCT),
    "rdma-fct": ("rdma-fct", ("none", "lg", "lg-nb"), {"flow.trials": 10_000}, FCT),
    "throughput": (
        "throughput",
        ("none", "lg", "lg-nb"),
        {"run.duration": "3s", "run.warmup": "500ms", "run.cooldown": 0},
        ("average_throughput_gbps", "retransmissions", "timeouts"),
    ),
}


def figures(name: str) -> dict[str, dict[str, float]]:
    """What a run gives now, by protection and key."""
    experiment, protections, settings, keys = RUNS[name]
    run = lossylink.run(experiment, protection=list(protections), settings=settings, seed=1)
    return {row["protection"]: {key: _rounded(row[key]) for key in keys} for row in run.rows.to_dicts()}


def _rounded(value: float | None) -> float:
    return float(f"{0.0 if value is None else value:.{DIGITS}g}")


@pytest.mark.parametrize("name", RUNS)
def test_figures_are_where_they_were(name: str) -> None:
    pinned = tomllib.loads(FILE.read_text(encoding="utf-8"))[name]
    assert figures(name) == pinned


def main() -> None:
    """Write the figures of this build."""
    lines = ["# Written by tests/python/test_pinned_figures.py; figures of small runs, seed 1."]
    for name in RUNS:
        for protection, found in figures(name).items():
            lines += ["", f'[{name}."{protection}"]', *(f"{key} = {value!r}" for key, value in found.items())]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
