"""iperf3 from h4 to h8, with ``ss`` looking at its socket; the losses end before the flow does."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any

from lossylink.errors import RunError
from lossylink.linux.lab import Lab
from lossylink.linux.lab.hosts import H4, H8
from lossylink.running.backends.live.bench import evidence
from lossylink.running.backends.live.stress import wait_for_guards
from lossylink.statistics.fairness import jain

_PS_PER_SECOND = 10**12
#: The port of iperf3's server.
PORT = 5201
#: Seconds between two looks at the socket, and between two reports of iperf3.
_LOOK_SECONDS, _INTERVAL_SECONDS = 0.25, 0.1
#: The longest run, warm-up included: that of the study's own trials.
_LONGEST_SECONDS = 240.0
#: How long the flow goes on without loss: iperf3 resets its connections at the end, and what was lost within
#: the last round trips would never be repeated. At least so many seconds, and so many round trips.
_TAIL_SECONDS, _TAIL_ROUND_TRIPS = 2.0, 5
#: The control connection of iperf3 is a socket like the flow's; only parameters pass through it.
_CONTROL_BYTES = 8_192
#: iperf3 and its connections may take this much longer than the run.
_GRACE_SECONDS = 20.0

Report = Callable[[float, float], None]


def run_iperf(lab: Lab, config: dict[str, Any], report: Report) -> dict[str, Any]:
    """Run iperf3 from h4 to h8 and return its report, with what ``ss`` saw and the link's counts before."""
    if shutil.which("iperf3") is None:
        raise RunError("long flows need iperf3: apt-get install iperf3")
    wait_for_guards(lab)
    warmup, measured, cooldown = parts_seconds(config)
    total = warmup + measured + cooldown
    tail = math.ceil(max(_TAIL_SECONDS, _TAIL_ROUND_TRIPS * lab.settings.rtt_ps / _PS_PER_SECOND))
    server = lab.start("h8", ["iperf3", "-s", "-1", "--forceflush"])
    _wait_until_listening(server)
    lab.clear()
    before = evidence(lab)
    watcher = _Watcher(lab, total, report, before)
    watcher.start()
    try:
        text = lab.run("h4", _iperf_command(config, total + tail), seconds=total + tail + _GRACE_SECONDS)
    finally:
        watcher.finish()
        server.terminate()
        server.communicate()
    outcome: dict[str, Any] = json.loads(text)
    if "error" in outcome:
        raise RunError(f"iperf3: {outcome['error']}")
    return outcome | {
        "text": text,
        "sockets": watcher.looks,
        "before": before,
        "under_loss": watcher.under_loss,
    }


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


def parts_seconds(config: dict[str, Any]) -> tuple[float, float, float]:
    """Return the seconds of warm-up, measured part and cool-down; a run beyond the longest is cut."""
    run = config["run"]
    warmup, cooldown = ((run.get(key) or 0) / _PS_PER_SECOND for key in ("warmup_ps", "cooldown_ps"))
    total = min(run["duration_ps"] / _PS_PER_SECOND, _LONGEST_SECONDS)
    warmup = min(warmup, total / 4)
    # iperf3 counts whole seconds.
    return warmup, max(1.0, round(total) - warmup - cooldown), cooldown


def measured_bps(config: dict[str, Any], outcome: dict[str, Any]) -> float:
    """Average what was sent in the intervals that count; what is in flight at their ends cancels out."""
    counted = [interval["sum"] for interval in _counted(config, outcome)]
    span = sum(one["seconds"] for one in counted)
    if not counted or span <= 0:
        raise RunError("iperf3 reported no interval within the part of the run that counts")
    return float(sum(one["bytes"] for one in counted) * 8 / span)


def fairness(config: dict[str, Any], outcome: dict[str, Any]) -> float | None:
    """Return Jain's index of what each flow sent in the intervals that count; nothing if none sent anything.

    Examples
    --------
    >>> run = {"run": {"duration_ps": 8 * 10**12, "warmup_ps": 10**12}}
    >>> sent = [(0.0, (5, 0)), (1.0, (3, 1))]
    >>> intervals = [
    ...     {"sum": {"start": start, "end": start + 1.0}, "streams": [{"bytes": one} for one in flows]}
    ...     for start, flows in sent
    ... ]
    >>> fairness(run, {"intervals": intervals})
    0.8
    """
    streams = [[flow["bytes"] for flow in interval["streams"]] for interval in _counted(config, outcome)]
    return jain([sum(flow) for flow in zip(*streams, strict=True)])


def _counted(config: dict[str, Any], outcome: dict[str, Any]) -> list[dict[str, Any]]:
    """Return iperf3's intervals whose middle lies within the part of the run that counts."""
    warmup, measured, _ = parts_seconds(config)
    return [
        interval
        for interval in outcome["intervals"]
        if warmup <= (interval["sum"]["start"] + interval["sum"]["end"]) / 2 <= warmup + measured
    ]


def intervals(outcome: dict[str, Any]) -> dict[str, list[float]]:
    """Return iperf3's intervals as columns; the time is their middle."""
    sums = [interval["sum"] for interval in outcome["intervals"]]
    return {
        "time_s": [(one["start"] + one["end"]) / 2 for one in sums],
        "throughput_gbps": [one["bits_per_second"] / 1e9 for one in sums],
        "retransmissions": [float(one.get("retransmits", 0)) for one in sums],
        "cwnd_bytes": [float(interval["streams"][0].get("snd_cwnd", 0)) for interval in outcome["intervals"]],
        "rtt_us": [float(interval["streams"][0].get("rtt", 0)) for interval in outcome["intervals"]],
    }


def wait_until_acknowledged(lab: Lab) -> None:
    """Wait until h4 has nothing unacknowledged: the last losses are repeated after the flow has ended."""
    deadline = time.monotonic() + _GRACE_SECONDS
    while time.monotonic() < deadline:
        time.sleep(2 * lab.settings.rtt_ps / _PS_PER_SECOND + 0.02)
        lines = lab.run("h4", ["ss", "-tanH", "dst", H8.address]).splitlines()
        if all(line.split()[2] == "0" for line in lines):
            return


class _Watcher(threading.Thread):
    """Looks at the flow's socket from time to time, and ends the link's losses when the run is over."""

    def __init__(self, lab: Lab, total: float, report: Report, before: dict[str, Any]) -> None:
        super().__init__()
        self._lab, self._total, self._report, self._before = lab, total, report, before
        self._over = threading.Event()
        self.looks: list[dict[str, float]] = []
        self.under_loss: dict[str, Any] | None = None
        """The link's counts at the end of the losses."""

    def run(self) -> None:
        """Look until told to stop."""
        # The flow begins some time after its command: the clock starts when its socket is seen.
        started = None
        while not self._over.wait(_LOOK_SECONDS):
            if started is None and self.looks:
                started = time.monotonic()
            elapsed = 0.0 if started is None else time.monotonic() - started
            if elapsed >= self._total:
                self._end_losses()
            else:
                self._look(elapsed)
            self._report(min(elapsed, self._total), self._total)

    def finish(self) -> None:
        """Stop looking."""
        self._over.set()
        self.join()

    def _end_losses(self) -> None:
        if self.under_loss is None:
            self.under_loss = evidence(self._lab, self._before)
            self._lab.set_loss(forward="none", reverse="none")

    def _look(self, elapsed: float) -> None:
        command = self._lab.command("h4", ["ss", "-tinH", "dst", H8.address, "dport", "=", str(PORT)])
        text = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        sockets = [parse_socket(line) for line in text.splitlines() if "mss:" in line]
        flows = [one for one in sockets if one.get("bytes_sent", 0.0) > _CONTROL_BYTES]
        if flows:
            self.looks.append(max(flows, key=lambda one: one["bytes_sent"]) | {"elapsed": elapsed})


def parse_socket(line: str) -> dict[str, float]:
    """Read the figures of one socket from ``ss -ti``.

    Examples
    --------
    >>> parse_socket("reno mss:1460 cwnd:10 bytes_sent:5 rtt:6.1/0.2 minrtt:6.05")["rtt"]
    6.1
    >>> parse_socket("bbr rtt:6.1/0.2 bbr:(bw:1bps,mrtt:5.9) rcv_rtt:7")["rtt"]
    6.1
    """
    pairs = re.findall(r"\b(mss|rtt|minrtt|cwnd|bytes_sent|lost|retrans):([\d.]+)", line)
    return {name: float(value) for name, value in pairs}
