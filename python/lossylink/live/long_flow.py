"""Long TCP flows, live: iperf3 for the bytes, ``ss`` for what the sender's kernel thinks of the path."""

from __future__ import annotations

import json
import re
import shutil
import statistics
import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any

from lossylink.errors import RunError
from lossylink.lab import Lab
from lossylink.lab.hosts import H4, H8
from lossylink.live.bench import evidence, open_lab, validity
from lossylink.live.counters import WINDOW_REDUCTIONS, tcp_counters
from lossylink.live.stress import wait_for_guards

_PS_PER_SECOND = 10**12
#: Seconds between two looks at the socket, and between two reports of iperf3.
_LOOK_SECONDS, _INTERVAL_SECONDS = 0.25, 0.1
#: The longest run, warm-up included: that of the study's own trials.
_LONGEST_SECONDS = 240.0
#: A window that fills 3 Gb/s over 300 ms, the largest product of the Mathis study.
_MATHIS_WINDOW_BYTES = 128 * 2**20
#: iperf3 and its connections may take this much longer than the run.
_GRACE_SECONDS = 20.0

Report = Callable[[float, float], None]


def measure_throughput(config: dict[str, Any], report: Report) -> dict[str, Any]:
    """Measure the throughput of long flows in the part of the run that counts."""
    with open_lab(config) as lab:
        outcome = run_iperf(lab, config, report)
        row, seen = _common_row(config, lab, outcome)
        row["average_throughput_gbps"] = _measured_bps(config, outcome) / 1e9
        row |= {"duration_s": _seconds(config)[1], **seen}
        row |= validity(row, lab=lab)
    return {"row": row, "columns": {"intervals": _intervals(outcome)}, "interrupted": False}


def measure_mathis(config: dict[str, Any], report: Report) -> dict[str, Any]:
    """Measure one trial of the Mathis study."""
    with open_lab(config, largest_window_bytes=_MATHIS_WINDOW_BYTES) as lab:
        probes = ping_probes(lab, config)
        outcome = run_iperf(lab, config, report)
        row, seen = _common_row(config, lab, outcome)
        row |= {
            "measured_mbps": _measured_bps(config, outcome) / 1e6,
            "realised_loss_ratio": seen["frames_lost"] / max(seen["frames_offered"], 1),
            "duration_s": _seconds(config)[1],
            **probes,
            **seen,
        }
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


def run_iperf(lab: Lab, config: dict[str, Any], report: Report) -> dict[str, Any]:
    """Run iperf3 from h4 to h8 and return its report, with what ``ss`` saw and the link's counts before."""
    if shutil.which("iperf3") is None:
        raise RunError("long flows need iperf3: apt-get install iperf3")
    wait_for_guards(lab)
    warmup, measured, cooldown = _seconds(config)
    total = warmup + measured + cooldown
    server = lab.start("h8", ["iperf3", "-s", "-1", "--forceflush"])
    _wait_until_listening(server)
    lab.clear()
    before = evidence(lab)
    stop, looks = threading.Event(), list[dict[str, float]]()
    watcher = threading.Thread(target=_watch, args=(lab, stop, looks, total, report))
    watcher.start()
    try:
        text = lab.run("h4", _iperf_command(config, total), seconds=total + _GRACE_SECONDS)
    finally:
        stop.set()
        watcher.join()
        server.terminate()
        server.communicate()
    outcome: dict[str, Any] = json.loads(text)
    if "error" in outcome:
        raise RunError(f"iperf3: {outcome['error']}")
    outcome["sockets"] = looks
    outcome["before"] = before
    return outcome


def _wait_until_listening(server: subprocess.Popen[str]) -> None:
    for line in server.stdout or ():
        if "listening" in line:
            return
    raise RunError("iperf3's server did not start")


def _iperf_command(config: dict[str, Any], seconds: float) -> list[str]:
    transport, flow = config["transport"], config.get("flow") or {}
    return [
        *("iperf3", "-c", H8.address, "-B", H4.address, "-J", "-t", f"{seconds:.0f}"),
        *("-i", str(_INTERVAL_SECONDS), "-P", str(flow.get("count", 1))),
        *("-C", transport["congestion_control"], "-M", str(transport["mss_bytes"])),
    ]


def _seconds(config: dict[str, Any]) -> tuple[float, float, float]:
    """Return warm-up, measured part and cool-down; a run beyond the longest is cut, and its row says so."""
    run = config["run"]
    warmup, cooldown = ((run.get(key) or 0) / _PS_PER_SECOND for key in ("warmup_ps", "cooldown_ps"))
    total = min(run["duration_ps"] / _PS_PER_SECOND, _LONGEST_SECONDS)
    warmup = min(warmup, total / 4)
    # iperf3 counts whole seconds.
    return warmup, max(1.0, round(total) - warmup - cooldown), cooldown


def _measured_bps(config: dict[str, Any], outcome: dict[str, Any]) -> float:
    """Average what was sent in the intervals that count; what is in flight at their ends cancels out."""
    warmup, measured, _ = _seconds(config)
    counted = [
        interval["sum"]
        for interval in outcome["intervals"]
        if warmup <= (interval["sum"]["start"] + interval["sum"]["end"]) / 2 <= warmup + measured
    ]
    span = sum(one["seconds"] for one in counted)
    if not counted or span <= 0:
        raise RunError("iperf3 reported no interval within the part of the run that counts")
    return float(sum(one["bytes"] for one in counted) * 8 / span)


def _intervals(outcome: dict[str, Any]) -> dict[str, list[float]]:
    """Return iperf3's intervals as columns; the time is their middle."""
    sums = [interval["sum"] for interval in outcome["intervals"]]
    return {
        "time_s": [(one["start"] + one["end"]) / 2 for one in sums],
        "throughput_gbps": [one["bits_per_second"] / 1e9 for one in sums],
        "retransmissions": [float(one.get("retransmits", 0)) for one in sums],
        "cwnd_bytes": [float(interval["streams"][0].get("snd_cwnd", 0)) for interval in outcome["intervals"]],
        "rtt_us": [float(interval["streams"][0].get("rtt", 0)) for interval in outcome["intervals"]],
    }


def _common_row(
    config: dict[str, Any], lab: Lab, outcome: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what TCP tells, and what the link tells, read once the flow is over."""
    time.sleep(2 * lab.settings.rtt_ps / _PS_PER_SECOND + 0.05)
    counters, seen = tcp_counters(lab, "h4"), evidence(lab, outcome["before"])
    looks = [look for look in outcome["sockets"] if look.get("mss")]
    if not looks:
        raise RunError("ss did not see the flow")
    row = {
        "congestion_control": config["transport"]["congestion_control"],
        "mss_bytes": int(statistics.mode(look["mss"] for look in looks)),
        "rtt_mean_ms": statistics.fmean(look["rtt"] for look in looks),
        "rtt_min_ms": min(look["minrtt"] for look in looks),
        "retransmissions": counters["RetransSegs"],
        "timeouts": counters["TCPTimeouts"],
        "loss_events": sum(counters[name] for name in WINDOW_REDUCTIONS),
        "dsacks": counters["TCPDSACKRecv"],
        "reordering_seen": counters["TCPSACKReorder"] + counters["TCPTSReorder"],
    }
    return row, seen


def _watch(
    lab: Lab, stop: threading.Event, looks: list[dict[str, float]], total: float, report: Report
) -> None:
    """Look at the flow's socket from time to time."""
    started = time.monotonic()
    command = lab.command("h4", ["ss", "-tinH", "dst", H8.address, "dport", "=", "5201"])
    while not stop.wait(_LOOK_SECONDS):
        text = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        # The control connection of iperf3 is the other socket: hardly a byte passes through it.
        sockets = [parse_socket(line) for line in text.splitlines() if "mss:" in line]
        if sockets:
            looks.append(max(sockets, key=lambda one: one.get("bytes_sent", 0.0)))
        report(min(time.monotonic() - started, total), total)


def parse_socket(line: str) -> dict[str, float]:
    """Read the figures of one socket from ``ss -ti``.

    Examples
    --------
    >>> parse_socket("reno mss:1460 cwnd:10 bytes_sent:5 rtt:6.1/0.2 minrtt:6.05")["rtt"]
    6.1
    """
    pairs = re.findall(r"(mss|rtt|minrtt|cwnd|bytes_sent|lost|retrans):([\d.]+)", line)
    return {name: float(value) for name, value in pairs}
