"""TCP flow completion times, live: flows one after another, timed from a capture at the sender."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lossylink.errors import RunError
from lossylink.linux.lab import Lab
from lossylink.linux.lab.hosts import H8, INTERFACE
from lossylink.linux.lab.sniffer import sniffer_command
from lossylink.running.backends._completion_times import completion_times
from lossylink.running.backends.live import flows
from lossylink.running.backends.live.bench import evidence, open_lab, validity
from lossylink.running.backends.live.capture import (
    completion_times_us,
    wait_until_listening,
    wait_until_written,
)
from lossylink.running.backends.live.counters import tcp_counters
from lossylink.running.backends.live.stress import wait_for_guards

#: Bytes of each packet that the capture needs: Ethernet, IP and TCP headers with options.
_SNAPSHOT_BYTES = 128


def measure(config: dict[str, Any], report: Callable[[float, float], None]) -> dict[str, Any]:
    """Run the flows that a configuration asks for."""
    with open_lab(config) as lab, tempfile.TemporaryDirectory(prefix="lossylink-") as folder:
        wait_for_guards(lab)
        lab.clear()
        capture = Path(folder) / "h4.pcap"
        run_flows(lab, config, capture, report)
        size = config["flow"]["size_bytes"]
        times = completion_times_us(capture, server_port=flows.PORT, size_bytes=size)
        row = _row(config, lab, times)
    columns = {"fct_us": [time for time, _ in times], "sent_again": [float(again) for _, again in times]}
    return {"row": row, "columns": {"trials": columns}, "interrupted": False}


def run_flows(
    lab: Lab, config: dict[str, Any], capture: Path, report: Callable[[float, float], None]
) -> None:
    """Run all flows while a capture runs at h4."""
    size, trials = config["flow"]["size_bytes"], config["flow"]["trials"]
    transport = config["transport"]
    module = [sys.executable, "-m", "lossylink.running.backends.live.flows"]
    shape = [str(size), str(trials)]
    listen = sniffer_command(
        INTERFACE, str(capture), snapshot_bytes=_SNAPSHOT_BYTES, expression=f"tcp port {flows.PORT}"
    )
    sniffer = lab.start("h4", listen)
    server = lab.start("h8", [*module, "server", H8.address, *shape])
    _wait_for_line(server, "listening")
    wait_until_listening(sniffer)
    control = [transport["congestion_control"], str(transport["mss_bytes"])]
    client = lab.start("h4", [*module, "client", H8.address, *shape, *control])
    for line in client.stdout or ():
        report(float(line), trials)
    _, problem = client.communicate(timeout=30)
    server.terminate()
    wait_until_written(capture)
    sniffer.send_signal(signal.SIGINT)
    for process in (sniffer, server):
        process.communicate(timeout=30)
    if client.returncode != 0:
        raise RunError(f"the flows failed: {problem.strip()}")


def _wait_for_line(process: subprocess.Popen[str], word: str) -> None:
    line = process.stdout.readline() if process.stdout else ""
    if word not in line:
        problem = process.stderr.read() if process.stderr else ""
        raise RunError(f"the server of the flows did not start: {problem.strip()}")


def _row(config: dict[str, Any], lab: Lab, times: list[tuple[float, int]]) -> dict[str, Any]:
    if not times:
        raise RunError("the capture holds no completed flow")
    counters = tcp_counters(lab, "h4")
    seen = evidence(lab)
    row = {
        "congestion_control": config["transport"]["congestion_control"],
        "flow_bytes": config["flow"]["size_bytes"],
        **completion_times([time for time, _ in times]),
        "flows_hit": sum(again > 0 for _, again in times),
        "retransmissions": counters["RetransSegs"],
        "dsacks": counters["TCPDSACKRecvSegs"],
        "timeouts": counters["TCPTimeouts"],
        "loss_probes": counters["TCPLossProbes"],
        "mss_bytes": config["transport"]["mss_bytes"],
        "rtt_us": lab.settings.rtt_ps / 1e6,
        **seen,
    }
    row |= validity(row, lab=lab)
    missing = config["flow"]["trials"] - len(times)
    if missing > 0:
        reason = f"{missing} flows are missing from the capture"
        row |= {"valid": False, "invalid_because": "; ".join(filter(None, (row["invalid_because"], reason)))}
    return row


#: The experiments that are measured here.
MEASURES = {"tcp-fct": measure}
