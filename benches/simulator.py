"""The simulator's cases: a packet generator, long flows, completion times, workloads."""

from __future__ import annotations

from case import Simulation

_EVERY = ("none", "lg", "lg-nb")
_FRAMES = {"traffic.packets": (20e6, "")}
#: Everything counts, from the first packet on.
_WHOLE = {"run.warmup": "0s", "run.cooldown": "0s"}
#: The goal for 70 s of CUBIC is 5 s; protected, the flow sends 809,000 segments a second.
_CUBIC_GOAL_NS = 5e9 / (70 * 809_000)


def _stress(protection: str, goal_ns: float, source: str = "generator") -> Simulation:
    settings = {"traffic.source": source}
    return Simulation("stress", (protection,), "frame", "packets_sent", goal_ns, _FRAMES, settings)


def _line(protection: str, goal_ns: float) -> Simulation:
    """A line whose code loses 5e-4 of its frames: at most 5 ns a frame more than with independent losses."""
    settings = {"traffic.source": "saturated", "loss.forward": "phy:code=rs544,ber=1e-3"}
    return Simulation("stress", (protection,), "frame", "packets_sent", goal_ns, _FRAMES, settings)


def _long_flow(algorithm: str, protection: str, seconds: float, goal_ns: float) -> Simulation:
    settings = {"congestion_control": algorithm, **_WHOLE}
    size = {"run.duration": (seconds, "s")}
    return Simulation("throughput", (protection,), "segment", "segments_sent", goal_ns, size, settings)


def _one_hop(flows: int, seconds: float, goal_ns: float) -> Simulation:
    """Flows between hosts that take no time, with an acknowledgement a packet: what other simulators do."""
    settings = {
        "transport.congestion_control": "reno",
        "transport.delayed_ack": 1,
        "loss.forward": "1e-3",
        "link.rate": "10Gbps",
        "path.rtt": "50us",
        "host.profile": "ideal",
        "switch.profile": "ideal",
        "flow.count": flows,
        **_WHOLE,
    }
    size = {"run.duration": (seconds, "s")}
    return Simulation("throughput", ("none",), "segment", "segments_sent", goal_ns, size, settings)


def _flows(experiment: str, unit: str, trials: int, goal_ns: float) -> Simulation:
    size = {"flow.trials": (float(trials), "")}
    return Simulation(experiment, _EVERY, unit, "trials", goal_ns, size, threads=2)


def _years(constraint: str) -> Simulation:
    """Years of a fabric of 100,224 links, with and without LinkGuardian in one pass; 0.3 s for each."""
    settings = {"fabric.constraint": constraint, "fabric.points": "linkguardian-100g"}
    return Simulation("fabric", ("lg",), "year", "years", 0.3e9, {"fabric.years": (20.0, "")}, settings)


CASES = {
    "stress-none": _stress("none", 20.0),
    "stress-lg": _stress("lg", 62.5),
    "stress-lg-nb": _stress("lg-nb", 62.5),
    # The source of `lossylink run stress` when none is named.
    "stress-saturated-none": _stress("none", 20.0, "saturated"),
    "stress-saturated-lg": _stress("lg", 62.5, "saturated"),
    "stress-phy-none": _line("none", 25.0),
    "stress-phy-lg": _line("lg", 67.5),
    "reno-10g": _long_flow("reno", "none", 20.0, 100.0),
    "cubic-70s-none": _long_flow("cubic", "none", 70.0, _CUBIC_GOAL_NS),
    "cubic-70s-lg": _long_flow("cubic", "lg", 70.0, _CUBIC_GOAL_NS),
    "cubic-70s-lg-nb": _long_flow("cubic", "lg-nb", 70.0, _CUBIC_GOAL_NS),
    "reno-one-hop": _one_hop(1, 20.0, 30.0),
    # csg-htsim's time on the same machine.
    "reno-one-hop-64": _one_hop(64, 10.0, 188.0),
    # 5,000 flows under each protection in 0.3 s; 100,000 messages in 1 s.
    "tcp-fct": _flows("tcp-fct", "flow", 5_000, 20_000.0),
    "rdma-fct": _flows("rdma-fct", "message", 100_000, 3_300.0),
    # Their trials lie in a file, and so do those of a run a quarter as long, which takes as much memory.
    "rdma-fct-many": Simulation(
        "rdma-fct", ("none",), "message", "trials", 150.0, {"flow.trials": (8e6, "")}, threads=2
    ),
    "fabric-50": _years("50%"),
    "fabric-75": _years("75%"),
    "workload": Simulation(
        "workload", ("none", "lg"), "flow", "trials", 1e6, {"flow.trials": (2e3, "")}, threads=2
    ),
}
