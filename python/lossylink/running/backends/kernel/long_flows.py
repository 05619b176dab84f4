"""Long TCP flows in a guest: what the receiver has at two instants, and what the sender thinks in between."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from lossylink.declared.protections import Protection
from lossylink.errors import UserError
from lossylink.linux.guest.hosts import round_trip_seconds, window_bytes
from lossylink.running.backends.kernel.running import Measured, measured
from lossylink.running.backends.live.counters import UNDOS, WINDOW_REDUCTIONS
from lossylink.running.backends.live.law import law
from lossylink.statistics.fairness import jain

_PS_PER_SECOND = 10**12
#: Looks at the sender's TCP: so many a run, and none closer together than a round trip.
_SAMPLES = 400


def measure_throughput(config: dict[str, Any], report: Callable[[float, float], None]) -> dict[str, Any]:
    """Measure the throughput of long flows in the part of the run that counts."""
    warmup, end = _instants(config)
    spacing = max(round_trip_seconds(config), end / _SAMPLES)
    samples = [spacing * place for place in range(1, math.ceil(end / spacing))] + [end]
    with flows_measured(config, report, looks_seconds=[warmup, end], samples_seconds=samples) as seen:
        return {"row": _row(config, seen), "columns": {}}


@contextmanager
def flows_measured(
    config: dict[str, Any],
    report: Callable[[float, float], None],
    *,
    looks_seconds: Sequence[float],
    samples_seconds: Sequence[float],
) -> Iterator[Measured]:
    """Run long flows, and look at the receiver and at the sender at these instants from their start on."""
    count = (config.get("flow") or {}).get("count") or 1
    options = {name: config["transport"][name] for name in ("congestion_control", "mss_bytes")}
    end = samples_seconds[-1]

    def tell(word: str, rest: str) -> None:
        if word == "sample":
            report(min(json.loads(rest)["at"], end), end)

    with measured(
        config,
        "long_flows",
        server={"flows": count, "looks_seconds": looks_seconds, "window_bytes": window_bytes(config)},
        client={"flows": count, "samples_seconds": samples_seconds, "options": options},
        on_line=tell,
    ) as seen:
        yield seen


def measure_fec(config: dict[str, Any], report: Callable[[float, float], None]) -> dict[str, Any]:
    """Measure a long flow over forward error correction: independent runs, each in a guest of its own."""
    source = (config.get("traffic") or {}).get("source", "tcp")
    if source != "tcp":
        raise UserError(f"traffic.source={source} is simulated only: in a kernel, fec measures a TCP flow")
    trials = config["flow"]["trials"]
    if config["flow"]["precision"] is not None:
        raise UserError("flow.precision is simulated only: set flow.trials")
    # One flow in each run; the runs take their losses from seeds of their own.
    rows = []
    for trial in range(trials):
        one = {**config, "seed": config["seed"] + trial, "flow": {**config["flow"], "count": 1}}

        def tell(done: float, total: float, before: int = trial) -> None:
            report(before + done / total, trials)

        rows.append(measure_throughput(one, tell)["row"])
    speeds = [row["average_throughput_gbps"] for row in rows]
    return {"row": _fec_row(config, rows), "columns": {"trials": {"throughput_gbps": speeds}}}


#: What the runs of a code add up to.
_SUMS = (
    *("frames_offered", "frames_lost", "frames_unrecovered", "frames_handed_over", "queue_drops"),
    *("retransmissions", "timeouts", "loss_probes", "dsacks", "segments_sent", "simulated_seconds"),
)
_MOSTS = ("queue_bytes_max", "lateness_ns_max", "largest_frame_bytes")
_SAME = ("congestion_control", "mss_bytes", "guest_kernel")


def _fec_row(config: dict[str, Any], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    protection = Protection.of(config["protection"])
    row: dict[str, Any] = {
        "trials": len(rows),
        "traffic_source": "tcp",
        **protection.family.parameters(protection.value),
        "throughput_gbps": statistics.fmean(row["average_throughput_gbps"] for row in rows),
        "cwnd_packets_mean": statistics.fmean(row["cwnd_packets_mean"] for row in rows),
        **{name: sum(row[name] for row in rows) for name in _SUMS},
        **{name: max(row[name] for row in rows) for name in _MOSTS},
        **{name: rows[0][name] for name in _SAME},
    }
    return row | {
        "packets_recovered": row["frames_lost"] - row["frames_unrecovered"],
        "realised_loss_ratio": row["frames_lost"] / row["frames_offered"],
        "residual_lost_packets": row["frames_unrecovered"],
        "residual_loss_rate": row["frames_unrecovered"] / row["frames_offered"],
    }


def _instants(config: dict[str, Any]) -> tuple[float, float]:
    """Return when the part of the run that counts begins and ends, in seconds."""
    run = config["run"]
    warmup = (run.get("warmup_ps") or 0) / _PS_PER_SECOND
    end = (run["duration_ps"] - (run.get("cooldown_ps") or 0)) / _PS_PER_SECOND
    if warmup >= end:
        raise UserError("nothing is left between run.warmup and run.cooldown; lengthen run.duration")
    return warmup, end


def _row(config: dict[str, Any], seen: Measured) -> dict[str, Any]:
    begin, end = (json.loads(line) for line in seen.lines["look"])
    span = end["at"] - begin["at"]
    received = [after - before for before, after in zip(begin["received"], end["received"], strict=True)]
    bps = sum(received) * 8 / span
    samples = [json.loads(line) for line in seen.lines["sample"]]
    counted = [sample["flows"] for sample in samples if begin["at"] <= sample["at"] <= end["at"]]
    flows = [flow for look in counted for flow in look]
    counters = seen.counters
    row = {
        **seen.report,
        "congestion_control": config["transport"]["congestion_control"],
        "flows": len(received),
        "average_throughput_gbps": bps / 1e9,
        "measured_mbps": bps / 1e6,
        "fairness": jain(received),
        "mss_bytes": config["transport"]["mss_bytes"],
        "rtt_mean_ms": statistics.fmean(flow["rtt_us"] for flow in flows) / 1e3,
        "rtt_min_ms": min(flow["min_rtt_us"] for flow in flows) / 1e3,
        "cwnd_packets_mean": statistics.fmean(flow["cwnd_segments"] for flow in flows),
        "segments_sent": counters["OutSegs"],
        "retransmissions": counters["RetransSegs"],
        "dsacks": counters["TCPDSACKRecvSegs"],
        "timeouts": counters["TCPTimeouts"] - counters["TCPSynRetrans"],
        "loss_probes": counters["TCPLossProbes"],
        "loss_events": sum(counters[name] for name in WINDOW_REDUCTIONS),
        "undo_events": sum(counters[name] for name in UNDOS),
        "counted_seconds": span,
        "guest_kernel": seen.kernel,
    }
    return row | law(row, bps)


#: The experiments that are measured here.
MEASURES = {"throughput": measure_throughput, "mathis": measure_throughput, "fec": measure_fec}
