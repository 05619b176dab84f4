"""Whether the port ``xdp`` works on this machine, found out by opening one on a cable of its own."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys

#: How long the attempt may take.
_PROBE_SECONDS = 10.0
#: Opens a cable's end as an XDP port in a network namespace that goes with the process.
_PROBE = """
ip link add probe type veth peer name other && exec "$0" -m lossylink.linux.dataplane "$1"
"""


@functools.cache
def obstacle() -> str | None:
    """Return why the port ``xdp`` does not work here, in one line; nothing when it works.

    Examples
    --------
    >>> reason = obstacle()
    >>> reason is None or len(reason.splitlines()) == 1
    True
    """
    if os.geteuid() != 0:
        return "an XDP program can be loaded by root only"
    # A load of one frame that nobody receives: opening its ports is what is tried.
    load = {
        "source": "xdp:probe",
        "sink": "xdp:other",
        "addresses": [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]],
        "frames": 1,
        "frame_bytes": 60,
        "rate_bps": 10**9,
        "settle_ms": 1,
    }
    config = json.dumps({"mtu_bytes": 1500, "role": {"load": load}})
    command = ["unshare", "--net", "sh", "-c", _PROBE, sys.executable, config]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PROBE_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"the attempt failed: {error}"
    if done.returncode == 0:
        return None
    lines = done.stderr.strip().splitlines()
    return lines[-1].removeprefix("error: ") if lines else f"exit code {done.returncode}"
