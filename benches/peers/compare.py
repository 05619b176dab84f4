"""Runs the same works in lossylink, csg-htsim and ns-3, in interleaved rounds, and prints what each costs.

Times are processor time. Each program runs in a process of its own, on one thread. The time of its event loop
counts, and not what it takes to begin. The last works are whole processes, command line included.

    python benches/peers/compare.py [--simulator CSG_HTSIM_CHECKOUT] [--rounds N] [--quick] [--only WORK,...]

csg-htsim is built in its checkout if it is not. ns-3 takes part where its headers are
(``apt install libns3-dev``).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent
_BUILT = _HERE.parents[1] / "target" / "peers"
_NS3 = ("stress", "tcp", "fct")
_NS3_MODULES = ("core", "network", "internet", "point-to-point", "applications", "traffic-control", "stats")
_QUICK_DIVISOR = 20
#: So much work is done before the clock runs: what is loaded when it is first needed is there.
_WARM_UP_DIVISOR = 1000

#: One hop, and an acknowledgement a packet, as the peers have it.
_LONG = {
    "transport.congestion_control": "reno",
    "transport.delayed_ack": 1,
    "loss.forward": "1e-3",
    "link.rate": "10Gbps",
    "path.rtt": "50us",
    "host.profile": "ideal",
    "switch.profile": "ideal",
    "run.warmup": "0s",
    "run.cooldown": "0s",
}


@dataclass(frozen=True)
class Work:
    """Something that all of them can do, or some."""

    title: str
    unit: str
    experiment: str
    #: The setting that says how much is done, how much, and its unit.
    size: tuple[str, float, str]
    #: The column that says how much was done.
    count: str
    settings: dict[str, Any] = field(default_factory=dict)
    protection: str = "none"
    htsim: tuple[str, float, tuple[str, ...]] | None = None
    ns3: tuple[str, float] | None = None
    #: Whether a whole process is measured, command line included.
    is_whole: bool = False

    def settings_at(self, divisor: float) -> dict[str, Any]:
        """Return the settings of a run that is ``divisor`` times smaller."""
        key, size, unit = self.size
        scaled = f"{size / divisor:.6f}{unit}" if unit else max(1, round(size / divisor))
        return {**self.settings, key: scaled}


def _stress(protection: str, source: str = "generator", **others: Any) -> Work:
    size, settings = ("traffic.packets", 20e6, ""), {"traffic.source": source, "loss.forward": "1e-3"}
    title = f"stress, `{protection}`" if source == "generator" else f"{source} stress, `{protection}`"
    return Work(title, "frame", "stress", size, "packets_sent", settings, protection, **others)


def _long(title: str, seconds: float, settings: dict[str, Any], **others: Any) -> Work:
    return Work(
        title, "segment", "throughput", ("run.duration", seconds, "s"), "segments_sent", settings, **others
    )


def _flows(title: str, trials: float, protection: str = "none", **others: Any) -> Work:
    size = ("flow.trials", trials, "")
    return Work(title, "flow", "tcp-fct", size, "trials", protection=protection, **others)


_CUBIC = {"transport.congestion_control": "cubic", "run.warmup": "0s", "run.cooldown": "0s"}
WORKS = {
    "stress": _stress("none", htsim=("stress", 5e6, ()), ns3=("stress", 5e5)),
    "stress-lg": _stress("lg"),
    "stress-lg-nb": _stress("lg-nb"),
    "stress-lg-saturated": _stress("lg", "saturated"),
    "reno": _long(
        "Reno, one flow, one hop of 10 Gb/s", 10, _LONG, htsim=("tcp", 2, ("1",)), ns3=("tcp", 0.1)
    ),
    "reno-64": _long(
        "Reno, 64 flows, one hop of 10 Gb/s", 5, {**_LONG, "flow.count": 64}, htsim=("tcp", 1, ("64",))
    ),
    "cubic": _long("CUBIC, the artifact's path, `none`", 10, _CUBIC),
    "cubic-lg": _long("CUBIC, the artifact's path, `lg`", 10, _CUBIC, protection="lg"),
    "fct": _flows("`tcp-fct`, `none`", 1e6, htsim=("fct", 20_000, ()), ns3=("fct", 500)),
    "fct-lg": _flows("`tcp-fct`, `lg`", 3e5, "lg"),
    "writes": Work(
        "`rdma-fct`, `none`",
        "message",
        "rdma-fct",
        ("flow.trials", 2e6, ""),
        "trials",
        htsim=("writes", 50_000, ()),
    ),
    "writes-lg": Work(
        "`rdma-fct`, `lg`", "message", "rdma-fct", ("flow.trials", 1e5, ""), "trials", protection="lg"
    ),
    "workload": Work(
        "`workload`, web search, `none`",
        "flow",
        "workload",
        ("flow.trials", 5000, ""),
        "trials",
        {"flow.distribution": "web-search"},
        htsim=("workload", 2000, ()),
    ),
    "whole-5000": _flows(
        "5,000 flows of `tcp-fct`, whole process", 5000, htsim=("fct", 5000, ()), is_whole=True
    ),
    "whole-200000": _flows(
        "200,000 flows of `tcp-fct`, whole process", 200_000, htsim=("fct", 200_000, ()), is_whole=True
    ),
}


def _processor_seconds(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def _run_here(work: Work, divisor: float) -> float:
    """Return the nanoseconds of one unit in this process."""
    import lossylink

    def run(divisor: float) -> Any:
        return lossylink.run(
            work.experiment, protection=[work.protection], threads=1, settings=work.settings_at(divisor)
        )

    run(divisor * _WARM_UP_DIVISOR)
    before = _processor_seconds(resource.RUSAGE_SELF)
    done = run(divisor)
    taken = _processor_seconds(resource.RUSAGE_SELF) - before
    units = sum(int(record[work.count]) for record in done.records)
    return taken / units * 1e9


def _output(command: Sequence[str | Path]) -> str:
    # An installed package has compiled modules, and a checkout has them after its first run without this.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise SystemExit(f"error: {' '.join(map(str, command[:3]))}: {''.join(last)}")
    return done.stdout


def _whole(command: Sequence[str | Path]) -> float:
    """Return the processor seconds of a process from its beginning to its end."""
    before = _processor_seconds(resource.RUSAGE_CHILDREN)
    _output(command)
    return _processor_seconds(resource.RUSAGE_CHILDREN) - before


def _ours(name: str, divisor: float) -> float:
    work = WORKS[name]
    if not work.is_whole:
        return float(_output([sys.executable, __file__, "--ours", name, "--divisor", str(divisor)]))
    settings = {**work.settings_at(divisor), "run.threads": 1}
    program = Path(sys.executable).with_name("lossylink")
    command: list[str | Path] = [program, "run", work.experiment, "-p", work.protection]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    return _whole(command) / float(settings[work.size[0]]) * 1e9


def _of_peer(program: Path, words: Sequence[str], units: float, *, is_whole: bool) -> float:
    if is_whole:
        return _whole([program, *words]) / units * 1e9
    told = dict(word.split("=") for word in _output([program, *words]).split())
    return float(told["ns_per_unit"])


def _peer(peer: str, program: Path, work: Work, divisor: float) -> float | None:
    if peer == "csg-htsim" and work.htsim is not None:
        name, size, more = work.htsim
        return _of_peer(program, [name, f"{size / divisor:g}", *more], size / divisor, is_whole=work.is_whole)
    if peer == "ns-3" and work.ns3 is not None:
        name, size = work.ns3
        return _of_peer(program.with_name(f"ns3_{name}"), [f"{size / divisor:g}"], size, is_whole=False)
    return None


def _built(simulator: Path | None) -> dict[str, Path]:
    """Build what is there; return each peer and its program, or the first of them."""
    found: dict[str, Path] = {}
    compiler = shutil.which("g++")
    if compiler is None:
        raise SystemExit("error: g++ is missing: apt install g++")
    _BUILT.mkdir(parents=True, exist_ok=True)
    if simulator is not None:
        sources = simulator / "sim"
        if not (sources / "Makefile").is_file():
            raise SystemExit(f"error: {simulator} is no checkout of csg-htsim: it has no sim/Makefile")
        print("csg-htsim: building (2 minutes the first time)", file=sys.stderr, flush=True)
        _output(["make", "-C", sources, "-j2", "libhtsim.a"])
        found["csg-htsim"] = _BUILT / "htsim"
        # Its headers are of another age: their warnings are not ours.
        flags = ["-std=c++11", "-O3", "-w", f"-I{_HERE}", f"-I{sources}"]
        _output([compiler, *flags, _HERE / "htsim.cc", sources / "libhtsim.a", "-o", found["csg-htsim"]])
    if any(
        Path(folder, "ns3", "core-module.h").is_file() for folder in ("/usr/include", "/usr/local/include")
    ):
        found["ns-3"] = _BUILT / "ns3_stress"
        for name in _NS3:
            print(f"ns-3: building {name}", file=sys.stderr, flush=True)
            libraries = [f"-lns3-{module}" for module in _NS3_MODULES]
            source, program = _HERE / f"ns3_{name}.cc", _BUILT / f"ns3_{name}"
            _output([compiler, "-std=c++17", "-O3", "-w", f"-I{_HERE}", source, "-o", program, *libraries])
    if not found:
        raise SystemExit(
            "error: no peer: give SIMULATOR=DIR, a checkout of csg-htsim, or apt install libns3-dev"
        )
    return found


def _measured(
    names: Sequence[str], peers: dict[str, Path], rounds: int, divisor: float
) -> dict[str, dict[str, list[float]]]:
    """Return the nanoseconds of a unit: of each work, for each simulator, in each round."""
    found: dict[str, dict[str, list[float]]] = {name: {} for name in names}
    for turn in range(rounds):
        for name in names:
            print(f"round {turn + 1} of {rounds}: {name}", file=sys.stderr, flush=True)
            share = 1 if WORKS[name].is_whole else divisor
            found[name].setdefault("lossylink", []).append(_ours(name, share))
            for peer, program in peers.items():
                ns = _peer(peer, program, WORKS[name], share)
                if ns is not None:
                    found[name].setdefault(peer, []).append(ns)
    return found


def _lines(found: dict[str, dict[str, list[float]]], peers: Sequence[str]) -> list[str]:
    """Return a table of medians, and of how many times a peer's cost each is."""
    titles = ["work", "a", "lossylink, ns", *(title for peer in peers for title in (f"{peer}, ns", "times"))]
    lines = [titles, ["---"] * len(titles)]
    for name, by_simulator in found.items():
        ours = by_simulator["lossylink"]
        line = [WORKS[name].title, WORKS[name].unit, f"{statistics.median(ours):,.4g}"]
        for peer in peers:
            theirs = by_simulator.get(peer)
            if theirs is None:
                line += ["", ""]
                continue
            times = statistics.median(their / our for their, our in zip(theirs, ours, strict=True))
            line += [f"{statistics.median(theirs):,.4g}", f"{times:,.3g}"]
        lines.append(line)
    return [f"| {' | '.join(line)} |" for line in lines]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure lossylink beside its peers.")
    parser.add_argument("--simulator", type=Path, help="a checkout of csg-htsim")
    parser.add_argument("--rounds", type=int, default=3, help="how often each work is done (default: 3)")
    parser.add_argument("--quick", action="store_true", help=f"{_QUICK_DIVISOR} times smaller")
    parser.add_argument(
        "--only", default=",".join(WORKS), help=f"works, separated by commas: {', '.join(WORKS)}"
    )
    parser.add_argument("--ours", help=argparse.SUPPRESS)
    parser.add_argument("--divisor", type=float, default=1, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> int:
    """Measure, and print the table."""
    asked = _arguments()
    if asked.ours:
        print(_run_here(WORKS[asked.ours], asked.divisor))
        return 0
    names = [name.strip() for name in asked.only.split(",")]
    unknown = [name for name in names if name not in WORKS]
    if unknown:
        print(f"error: unknown work '{unknown[0]}'; valid: {', '.join(WORKS)}", file=sys.stderr)
        return 2
    peers = _built(asked.simulator)
    found = _measured(names, peers, asked.rounds, _QUICK_DIVISOR if asked.quick else 1)
    print(*_lines(found, list(peers)), sep="\n")
    (_BUILT / "compared.json").write_text(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
