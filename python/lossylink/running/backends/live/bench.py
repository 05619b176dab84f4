"""A lab for one measurement: built from the simulator's words, taken down at the end, judged for validity."""

from __future__ import annotations

import itertools
import os
from typing import Any

from lossylink.declared.protections import Protection
from lossylink.errors import UserError
from lossylink.linux.lab import Lab, LabSettings
from lossylink.linux.lab.settings import lab_settings
from lossylink.scenario.loss import Loss

#: Beyond this rate a two-core machine no longer emulates the link.
MAX_RATE_BPS = 2_500_000_000
#: Round trip when the scenario leaves it open: the lab's own.
DEFAULT_RTT_PS = 200 * 10**6
#: How late the 99th percentile of the frames may leave, as a share of the round trip.
LATENESS_SHARE = 0.05
#: A window's segments fit into a buffer of so many windows, with the kernel's bookkeeping.
_BUFFER_WINDOWS = 2
_numbers = itertools.count()


def open_lab(config: dict[str, Any], **changes: Any) -> Lab:
    """Build the lab that a configuration describes, under a name of its own.

    Raises
    ------
    UserError
        The machine cannot emulate what is asked for; the message says what to set.
    """
    name = f"run{os.getpid() % 10**6:x}{next(_numbers):x}"
    return Lab.up(settings_of(config, **changes), name=name, owned=True)


def settings_of(config: dict[str, Any], **changes: Any) -> LabSettings:
    """Return the lab's settings for a configuration in the simulator's words.

    Examples
    --------
    >>> link = {"rate_bps": 10**9, "mtu_bytes": 1500}
    >>> settings_of({"link": link, "loss": {"forward": {"model": "none"}}}).rtt_ps
    200000000
    """
    link, transport, switch = config["link"], config.get("transport") or {}, config.get("switch") or {}
    if link["rate_bps"] > MAX_RATE_BPS:
        raise UserError(
            f"the live lab emulates up to {MAX_RATE_BPS / 1e9:g} Gb/s, not {link['rate_bps'] / 1e9:g}: "
            "--set link.rate=1Gbps"
        )
    control = transport.get("congestion_control", "cubic")
    available = available_congestion_controls()
    if control not in available:
        raise UserError(
            f"this kernel has no congestion control '{control}': "
            f"--set transport.congestion_control={available[0]}"
        )
    chosen: dict[str, Any] = {
        "rate_bps": link["rate_bps"],
        "rtt_ps": (config.get("path") or {}).get("rtt_ps")
        or 2 * link.get("propagation_ps", 0)
        or DEFAULT_RTT_PS,
        "mtu_bytes": link["mtu_bytes"],
        "queue_bytes": switch.get("queue_bytes", LabSettings().queue_bytes),
        "loss_forward": Loss.of(config["loss"]["forward"]),
        "loss_reverse": Loss.of(config["loss"].get("reverse", {"model": "none"})),
        "protection": Protection.of(config.get("protection") or {"family": "none"}),
        "seed": config.get("seed", 1),
        "congestion_control": control,
        "timestamps": transport.get("timestamps", False),
        "rto_min_ps": transport.get("rto_min_ps"),
        "initial_window": transport.get("initial_window"),
    }
    if window := transport.get("receive_window_bytes"):
        chosen |= {"window_bytes": window, "largest_window_bytes": _BUFFER_WINDOWS * window}
    return lab_settings(**(chosen | changes))


def available_congestion_controls() -> list[str]:
    """Return the kernel's congestion controls."""
    with open("/proc/sys/net/ipv4/tcp_available_congestion_control") as file:
        return file.read().split()


def evidence(lab: Lab, before: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return what every live row tells about the link: frames, drops, lateness.

    Parameters
    ----------
    before
        What this function returned at the start of the measurement: counts are those since then.
    """
    link = lab.link.counters()
    near, far = lab.guards()
    forward, late = link["directions"]["forward"], link["lateness"]
    worst = max(late.values(), key=lambda direction: direction["p99_us"])
    counts = {
        "frames_offered": near["to_link_first"],
        "link_frames": forward["frames_offered"],
        "frames_lost": forward["frames_lost"],
        "segments_lost": forward["segments_lost"],
        "frames_unrecovered": near["to_link_first"] - far["to_lan"],
        "queue_drops": near["queue_dropped"],
        "port_drops": sum(port["missed"] + port["send_refused"] for port in lab.ports())
        + near["reserved"]
        + far["reserved"],
    }
    return {name: count - (before or {}).get(name, 0) for name, count in counts.items()} | {
        # As the host sent it: protections make frames longer, and that is no offload.
        "largest_frame_bytes": lab.host_port().get("longest_received_bytes", 0),
        "queue_bytes_max": near["queue_longest_bytes"],
        "scheduling": link["scheduling"],
        "lateness_us_p50": worst["p50_us"],
        "lateness_us_p99": worst["p99_us"],
        "lateness_us_max": worst["max_us"],
    }


def validity(row: dict[str, Any], *, lab: Lab) -> dict[str, Any]:
    """Judge a run: punctual enough, and every retransmission of TCP accounted for.

    Returns
    -------
    dict
        ``valid`` and, when it is not, ``invalid_because`` in words.
    """
    # On a plain link the segments that were corrupted are known one by one; what a protection could not
    # bring back is known by its number.
    lost = row["frames_unrecovered" if lab.settings.protection.family.protects else "segments_lost"]
    reasons = judge(row, rtt_ps=lab.settings.rtt_ps, lost=lost)
    return {"valid": not reasons, "invalid_because": "; ".join(reasons) or None}


def judge(row: dict[str, Any], *, rtt_ps: int, lost: int) -> list[str]:
    """Return what is wrong with a run, in words.

    A segment that TCP sent again although it had arrived is not the link's doing: the receiver says so by a
    duplicate SACK. A tail loss probe is such a segment when the queue has grown since TCP last measured.

    Examples
    --------
    >>> row = {"lateness_us_p99": 4.0, "port_drops": 0, "queue_drops": 1, "retransmissions": 6, "dsacks": 2}
    >>> judge(row, rtt_ps=200 * 10**6, lost=3)
    []
    >>> judge(row | {"dsacks": 0}, rtt_ps=200 * 10**6, lost=3)
    ['TCP sent 6 segments again, 0 needlessly, but the link lost 3 for good and its queue dropped 1']
    """
    reasons = []
    late, limit = row["lateness_us_p99"], LATENESS_SHARE * rtt_ps / 1e6
    if late > limit:
        reasons.append(f"1 % of the frames left {late:.0f} us late or more, over {limit:.0f} us")
    if row["port_drops"]:
        reasons.append(f"{row['port_drops']} frames were dropped between the kernel and the lab")
    if "dsacks" in row:
        again, needless, dropped = row["retransmissions"], row["dsacks"], row["queue_drops"]
        if again - needless != lost + dropped:
            reasons.append(
                f"TCP sent {again} segments again, {needless} needlessly, but the link lost {lost} for good "
                f"and its queue dropped {dropped}"
            )
    return reasons
