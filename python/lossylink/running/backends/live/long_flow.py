"""Long TCP flows, live: rows from iperf3, the kernel's counters, ``ss`` and the link's own books."""

from __future__ import annotations

import re
import statistics
import subprocess
from typing import Any

from lossylink.errors import RunError, UserError
from lossylink.linux.lab import Lab
from lossylink.linux.lab.hosts import H8
from lossylink.running.backends.live import iperf
from lossylink.running.backends.live.bench import evidence, open_lab, validity
from lossylink.running.backends.live.counters import UNDOS, WINDOW_REDUCTIONS, tcp_counters
from lossylink.running.backends.live.iperf import Report
from lossylink.running.backends.live.law import law
from lossylink.running.backends.live.one_way import OneWay, summary

#: A window that fills 3 Gb/s over 300 ms, the largest product of the Mathis study.
_MATHIS_WINDOW_BYTES = 128 * 2**20


def measure_throughput(config: dict[str, Any], report: Report) -> dict[str, Any]:
    """Measure the throughput of long flows in the part of the run that counts."""
    with open_lab(config) as lab:
        outcome = iperf.run_iperf(lab, config, report)
        row = _common_row(config, lab, outcome)
        bps = iperf.measured_bps(config, outcome)
        row |= {"average_throughput_gbps": bps / 1e9, "measured_mbps": bps / 1e6} | law(row, bps)
        row |= validity(row, lab=lab)
    return _result(row, outcome)


def measure_fec(config: dict[str, Any], report: Report) -> dict[str, Any]:
    """Measure a long flow over forward error correction, and how long its frames take to the other host."""
    source = (config.get("traffic") or {}).get("source", "tcp")
    if source != "tcp":
        raise UserError(f"traffic.source={source} is simulated only: live, fec measures a TCP flow")
    with open_lab(config) as lab, OneWay(lab, port=iperf.PORT) as one_way:
        outcome = iperf.run_iperf(lab, config, report)
        row = _common_row(config, lab, outcome)
        bps = iperf.measured_bps(config, outcome)
        row |= {
            "trials": 1,
            "traffic_source": source,
            **lab.settings.protection.family.parameters(lab.settings.protection.value),
            "throughput_gbps": bps / 1e9,
            "residual_lost_packets": row["frames_unrecovered"],
            "residual_loss_rate": row["frames_unrecovered"] / max(row["host_frames"], 1),
            "packets_recovered": lab.settings.protection.family.recovered(*lab.guards()),
        }
        row |= validity(row, lab=lab)
        warmup, measured, _ = iperf.parts_seconds(config)
        row |= summary(one_way.finish(), since_s=warmup, until_s=warmup + measured)
    return _result(row, outcome)


def measure_mathis(config: dict[str, Any], report: Report) -> dict[str, Any]:
    """Measure one trial of the Mathis study."""
    with open_lab(config, largest_window_bytes=_MATHIS_WINDOW_BYTES) as lab:
        probes = ping_probes(lab, config)
        outcome = iperf.run_iperf(lab, config, report)
        row = _common_row(config, lab, outcome)
        bps = iperf.measured_bps(config, outcome)
        row |= {"measured_mbps": bps / 1e6, **law(row, bps), **probes}
        row |= validity(row, lab=lab)
    return {"row": row, "columns": {}, "interrupted": False}


def ping_probes(lab: Lab, config: dict[str, Any]) -> dict[str, Any]:
    """Ping before the flow, as the study does: 3/p probes, no more than two seconds of them."""
    ratio = config["loss"]["forward"].get("p") or 1e-2
    interval = 0.002
    count = max(10, min(round(3 / ratio), round(2.0 / interval)))
    ping = ["ping", "-q", "-i", str(interval), "-c", str(count), "-W", "1", H8.address]
    text = subprocess.run(lab.command("h4", ping), capture_output=True, text=True, check=False).stdout
    times = re.search(r"= ([\d.]+)/([\d.]+)/", text)
    loss = re.search(r"([\d.]+)% packet loss", text)
    return {
        "ping_rtt_ms_min": float(times[1]) if times else None,
        "ping_rtt_ms_mean": float(times[2]) if times else None,
        "ping_loss_percent": float(loss[1]) if loss else None,
    }


def _result(row: dict[str, Any], outcome: dict[str, Any]) -> dict[str, Any]:
    """Return the row, iperf3's intervals as columns, and iperf3's report as it was printed."""
    return {
        "row": row,
        "columns": {"intervals": iperf.intervals(outcome)},
        "files": {"iperf3.json": outcome["text"]},
        "interrupted": False,
    }


def _common_row(config: dict[str, Any], lab: Lab, outcome: dict[str, Any]) -> dict[str, Any]:
    """Return what TCP and the link tell, read once everything has been acknowledged.

    TCP's counts are of the whole flow: only over all of it must they agree with the link's.
    """
    iperf.wait_until_acknowledged(lab)
    seen = evidence(lab, outcome["before"])
    under_loss = outcome["under_loss"] or seen
    offered, lost = under_loss["link_frames"], under_loss["frames_lost"]
    warmup, measured, _ = iperf.parts_seconds(config)
    looks = [look for look in outcome["sockets"] if warmup <= look["elapsed"] <= warmup + measured]
    if not looks:
        raise RunError("ss did not see the flow")
    return {
        "congestion_control": config["transport"]["congestion_control"],
        "flows": (config.get("flow") or {}).get("count", 1),
        "mss_bytes": int(statistics.mode(look["mss"] for look in looks)),
        "rtt_mean_ms": statistics.fmean(look["rtt"] for look in looks),
        "rtt_min_ms": min(look["minrtt"] for look in looks),
        "cwnd_packets_mean": statistics.fmean(look["cwnd"] for look in looks),
        **_tcp_row(lab),
        "flow_retransmissions": sum(one["sender"]["retransmits"] for one in outcome["end"]["streams"]),
        "fairness": iperf.fairness(config, outcome),
        **seen,
        "host_frames": seen["frames_offered"],
        "frames_offered": offered,
        "frames_lost": lost,
        "realised_loss_ratio": lost / max(offered, 1),
        "duration_s": measured,
        "counted_seconds": measured,
        "simulated_seconds": None,
        "warmup_s": warmup,
    }


def _tcp_row(lab: Lab) -> dict[str, Any]:
    """Return what the sender's kernel has counted since the lab came up."""
    counters = tcp_counters(lab, "h4")
    return {
        "segments_sent": counters["OutSegs"] + counters["RetransSegs"],
        "retransmissions": counters["RetransSegs"],
        "dsacks": counters["TCPDSACKRecvSegs"],
        "timeouts": counters["TCPTimeouts"],
        "loss_probes": counters["TCPLossProbes"],
        "loss_events": sum(counters[name] for name in WINDOW_REDUCTIONS),
        "undo_events": sum(counters[name] for name in UNDOS),
        "reordering_seen": counters["TCPSACKReorder"] + counters["TCPTSReorder"],
    }


#: The experiments that are measured here.
MEASURES = {"throughput": measure_throughput, "fec": measure_fec, "mathis": measure_mathis}
