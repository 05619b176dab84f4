"""The stress test, live: numbered frames through both kernels, counted end to end."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from lossylink.declared.protections import Protection
from lossylink.errors import RunError
from lossylink.linux.lab import Lab
from lossylink.linux.lab.hosts import H4, H8, INTERFACE
from lossylink.running.backends.live.bench import evidence, open_lab, validity
from lossylink.scenario.loss import Loss

#: Hellos and acknowledgements must fit as well: the load stays this far below what the protection leaves.
_HEADROOM = 0.97
#: The most frames a second that one processor generates, checks and carries at the same time.
_FRAMES_PER_SECOND = 60_000
#: Octets around a frame on the wire: FCS, preamble, gap.
_AROUND_BYTES = 24
#: How long the last frames may take: a few waits for holes that were given up.
_SETTLE_MS = 800


def measure(config: dict[str, Any], report: Callable[[float, float], None]) -> dict[str, Any]:
    """Send the frames that a configuration asks for, as fast as link and machine allow."""
    traffic = config["traffic"]
    with open_lab(config) as lab:
        wait_for_guards(lab)
        lab.clear()
        rate = load_rate(
            lab.settings.protection,
            loss=lab.settings.loss_forward,
            link_bps=lab.settings.rate_bps,
            frame_bytes=traffic["frame_bytes"],
        )
        report(0.0, 1.0)
        outcome = run_load(lab, frames=traffic["packets"], frame_bytes=traffic["frame_bytes"], rate_bps=rate)
        row = _row(config, lab, outcome)
    report(1.0, 1.0)
    return {"row": row, "columns": {}, "interrupted": False}


def load_rate(protection: Protection, *, loss: Loss, link_bps: int, frame_bytes: int) -> int:
    """Return the load in bits per second on the wire: what link and machine carry beside the protection.

    Parameters
    ----------
    protection, loss
        Of the link: they decide what else it carries.
    link_bps
        The link's rate in bits per second.
    frame_bytes
        The frames' size without FCS.

    Examples
    --------
    >>> from lossylink.declared.protections import parse_protection
    >>> from lossylink.scenario.loss import parse_loss
    >>> for text in ("none", "fec:5/5"):
    ...     load_rate(parse_protection(text), loss=parse_loss("1%"), link_bps=10**9, frame_bytes=1514)
    738240000
    365319536
    """
    octets = frame_bytes + _AROUND_BYTES
    share = protection.family.load_share(
        protection.value, loss_ratio=loss.mean or 0.0, frame_wire_bytes=octets
    )
    # Whatever the protection adds, the machine must carry as well.
    return int(share * min(link_bps * _HEADROOM, _FRAMES_PER_SECOND * octets * 8))


def wait_for_guards(lab: Lab, *, seconds: float = 10.0) -> None:
    """Wait until both guards of a protected link know each other."""
    if not lab.settings.protection.family.protects:
        return
    deadline = time.monotonic() + seconds
    while any(guard.get("peer") != "agreed" for guard in lab.guards()):
        if time.monotonic() > deadline:
            raise RunError("the guards did not find each other")
        time.sleep(0.01)


def run_load(
    lab: Lab, *, frames: int, frame_bytes: int, rate_bps: int, settle_ms: int = _SETTLE_MS
) -> dict[str, Any]:
    """Send numbered frames from h4 to h8 and return their account."""
    process = start_load(lab, frames=frames, frame_bytes=frame_bytes, rate_bps=rate_bps, settle_ms=settle_ms)
    out, problem = process.communicate()
    if process.returncode != 0:
        raise RunError(f"the load failed: {problem.strip()}")
    outcome: dict[str, Any] = json.loads(out)
    return outcome


def start_load(
    lab: Lab, *, frames: int, frame_bytes: int, rate_bps: int, settle_ms: int = _SETTLE_MS
) -> subprocess.Popen[str]:
    """Start to send numbered frames from h4 to h8; ``settle_ms`` is the wait for the last of them."""
    prefix = lab.directory.prefix
    load = {
        "source": f"packet:{INTERFACE}@{prefix}h4",
        "sink": f"packet:{INTERFACE}@{prefix}h8",
        "addresses": [[int(byte, 16) for byte in host.mac.split(":")] for host in (H8, H4)],
        "frames": frames,
        "frame_bytes": frame_bytes,
        "rate_bps": rate_bps,
        "settle_ms": settle_ms,
    }
    config = {"mtu_bytes": lab.settings.mtu_bytes, "role": {"load": load}}
    return lab.start("wire", [sys.executable, "-m", "lossylink.linux.dataplane", json.dumps(config)])


def _row(config: dict[str, Any], lab: Lab, outcome: dict[str, Any]) -> dict[str, Any]:
    tally, seconds = outcome["tally"], outcome["seconds"]
    seen = evidence(lab)
    near, far = lab.guards()
    octets = config["traffic"]["frame_bytes"] + _AROUND_BYTES
    link = lab.link.counters()["directions"]["forward"]
    row = {
        "actual_loss_rate": link["frames_lost"] / max(link["frames_offered"], 1),
        "packets_sent": tally["sent"],
        "packets_delivered": tally["delivered"],
        "effective_lost_packets": tally["sent"] - tally["delivered"],
        "lost_by_batch": outcome["lost_by_batch"],
        "effective_loss_rate": 1 - tally["delivered"] / tally["sent"],
        "effective_link_speed_gbps": tally["delivered"] * octets * 8 / seconds / 1e9,
        **lab.settings.protection.family.stress_row(near, far),
        "reordered_packets": tally["reordered"],
        "duplicated_packets": tally["duplicated"],
        "altered_packets": tally["altered"],
        **seen,
    }
    return row | validity(row, lab=lab)


#: The experiments that are measured here.
MEASURES = {"stress": measure}
