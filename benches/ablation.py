"""Measures what each fast path of the simulator saves: instructions without it, over those with all paths.

Every case runs in the example ``simulate``, built with the feature ``ablation``: once with all paths, once
without each path alone, and once through the plain half (``run.skip=off``). Each outcome must be the same,
but for the frames that were skipped.

    python benches/ablation.py [--only CASE,...] [--quick]
"""

from __future__ import annotations

import argparse
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.table import Table

import callgrind
import simulator
from case import Simulation
from tables import show

#: The list of the paths: the variants of an enum.
PATHS = Path(__file__).parent.parent / "crates/sim/src/fast.rs"
#: Ratios nearer to 1 than this are not shown.
SHOWN = 0.02
QUICK_DIVISOR = 4
#: What a row says of the work that was done, and not of the outcome.
WORK = ("frames_simulated", "frames_skipped")
PLAIN = "plain"


def _under(name: str, protection: str, divisor: float) -> tuple[Simulation, float]:
    """Return a case of the benchmark under one protection, and how much smaller it is here."""
    case = simulator.CASES[name]
    return replace(case, protection=(protection,)), divisor


#: One protection each, at sizes that callgrind counts in a few seconds.
COUNTED = {
    "stress-none": _under("stress-none", "none", 1),
    "stress-lg": _under("stress-lg", "lg", 1),
    "stress-lg-nb": _under("stress-lg-nb", "lg-nb", 1),
    "stress-saturated-lg": _under("stress-saturated-lg", "lg", 1),
    "reno-10g": _under("reno-10g", "none", 1),
    "reno-one-hop": _under("reno-one-hop", "none", 1),
    "reno-one-hop-64": _under("reno-one-hop-64", "none", 1),
    "cubic-none": _under("cubic-70s-none", "none", 1),
    "cubic-lg": _under("cubic-70s-lg", "lg", 1),
    "tcp-fct-none": _under("tcp-fct", "none", 0.05),
    "tcp-fct-lg": _under("tcp-fct", "lg", 0.05),
    "rdma-fct-none": _under("rdma-fct", "none", 0.2),
    "rdma-fct-lg": _under("rdma-fct", "lg", 0.5),
    "workload-none": _under("workload", "none", 0.02),
    "workload-lg": _under("workload", "lg", 0.02),
}


def paths() -> list[str]:
    """Return the names of the fast paths."""
    enumeration = re.search(r"pub enum Path \{(.*?)\n\}", PATHS.read_text(encoding="utf-8"), re.DOTALL)
    assert enumeration is not None, f"{PATHS} lists no paths"
    return re.findall(r"^    (\w+),$", enumeration[1], re.MULTILINE)


def measure(name: str, without: str, divisor: float) -> tuple[float, list[dict[str, Any]]]:
    """Return the instructions of one unit of a case without a path, and the outcomes of its two runs."""
    simulation, smaller = COUNTED[name]

    def configurations(times: float) -> list[dict[str, Any]]:
        made = simulation.configurations_at(times * smaller)
        return [{**one, "skip": False} for one in made] if without == PLAIN else made

    variable = {"LOSSYLINK_WITHOUT": "" if without == PLAIN else without}
    counted = callgrind.count(configurations, simulation.count_key, divisor, ("ablation",), variable)
    if counted is None:
        raise SystemExit("error: valgrind or cargo is missing; install Debian's valgrind and rustup's cargo")
    for row in counted.rows:
        for key in WORK:
            row.pop(key, None)
    if counted.per_unit is None:
        raise SystemExit(f"error: {name} cannot be made so small")
    return counted.per_unit, counted.rows


def main() -> int:
    """Measure the cases, and show what each path saves."""
    parser = argparse.ArgumentParser(description="Measure what each fast path saves.")
    parser.add_argument("--only", help="cases, separated by commas", default=",".join(COUNTED))
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_DIVISOR} times smaller")
    asked = parser.parse_args()
    names = [name.strip() for name in asked.only.split(",")]
    unknown = [name for name in names if name not in COUNTED]
    if unknown:
        print(f"error: unknown case '{unknown[0]}'; valid: {', '.join(COUNTED)}", file=sys.stderr)
        return 2
    divisor = float(QUICK_DIVISOR if asked.quick else 1)
    left_out = [*paths(), PLAIN]
    table = Table(
        box=None, header_style="bold", pad_edge=False, title="times the instructions without a path"
    )
    table.add_column("without")
    found: dict[str, dict[str, float]] = {}
    failures = []
    try:
        for name in names:
            print(f"{name} ...", file=sys.stderr, flush=True)
            instructions, rows = measure(name, "", divisor)
            with ThreadPoolExecutor(2) as workers:
                others = list(workers.map(lambda path, name=name: measure(name, path, divisor), left_out))
            failures += [
                f"{name} without {path}"
                for path, other in zip(left_out, others, strict=True)
                if other[1] != rows
            ]
            found[name] = {
                path: other[0] / instructions for path, other in zip(left_out, others, strict=True)
            }
            table.add_column(f"{name}\n{instructions:,.0f}", justify="right")
    except KeyboardInterrupt:
        print("stopped: the table shows the cases that were measured", file=sys.stderr)
    for path in left_out:
        ratios = [case[path] for case in found.values()]
        table.add_row(path, *(f"{ratio:.2f}" if abs(ratio - 1) > SHOWN else "" for ratio in ratios))
    show(table)
    for failure in failures:
        print(f"error: {failure} another outcome", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
