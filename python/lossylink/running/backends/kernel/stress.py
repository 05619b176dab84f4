"""The stress test in a guest: numbered frames through both kernels at line rate, counted at the far host.

The link is the simulator's. The near host's interface takes the place of its source: it sends frame behind
frame, so that one always waits in front of the link, or each time that the switch's packet generator would.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lossylink.declared.protections import Protection
from lossylink.errors import RunError, UserError
from lossylink.linux.guest import Plan, hosts
from lossylink.linux.guest.compiling import compiled
from lossylink.linux.kernel.cache import cache_folder
from lossylink.linux.lab.hosts import H4, H8, INTERFACE, Host
from lossylink.running.backends.kernel.running import carried_out, path_of
from lossylink.scenario.profiles import load_profile

_SOURCE = Path(__file__).parent / "programs" / "stress.c"
#: The program's name in the guest.
_PROGRAM = "stress"
_PS_PER_SECOND = 10**12
#: Octets around a frame on the wire: FCS, preamble, gap; and the least of a frame without them.
_AROUND_BYTES, _LEAST_FRAME_BYTES = 24, 60
#: What a frame takes from either end of the link to its host, and what a protection may hold it up.
_LEG_PS, _HOLD_PS = 10 * 10**6, 200 * 10**6
#: The kernel hands arrivals over in blocks of so many, at the latest after so long (see the program).
_BLOCK_FRAMES, _BLOCK_PS = 64, 2 * 10**9
#: The window may come out at a quarter of the line's rate, which a code may leave, before it counts as lost.
_SLOWEST = 4
#: How long the last frames may take, beyond that.
_SETTLE_MS = 100
#: Memory of a guest: the kernel's own, and what a frame under way takes with all its bookkeeping.
_KERNEL_BYTES, _FRAME_MEMORY_BYTES = 2**30, 2**14


@dataclass(frozen=True, kw_only=True)
class Load:
    """What the program of a stress test is told.

    Attributes
    ----------
    interface_bps
        Rate of the near host's interface, which spaces the frames.
    window_frames
        Frames beyond the last arrival that may be under way: enough for one always to wait at the link.
    stall_ms
        So long without an arrival means that all of a window is lost.
    """

    frames: int
    frame_bytes: int
    interface_bps: int
    window_frames: int
    stall_ms: int

    @property
    def octets(self) -> int:
        """Octets that a frame takes on the wire."""
        return _octets(self.frame_bytes)


def load_of(config: Mapping[str, Any]) -> Load:
    """Return the load of a configuration.

    Raises
    ------
    UserError
        The configuration asks for what cannot be counted.
    """
    _refuse(config)
    traffic, link = config["traffic"], config["link"]
    octets = _octets(traffic["frame_bytes"])
    bps = _interface_bps(config, octets)
    frame_ps = octets * 8 * _PS_PER_SECOND / bps
    held_ps = 4 * link["propagation_ps"] + 2 * _LEG_PS + _HOLD_PS
    window = math.ceil(held_ps / frame_ps) + min(2 * _BLOCK_FRAMES, math.ceil(_BLOCK_PS / frame_ps) + 2)
    return Load(
        frames=traffic["packets"],
        frame_bytes=traffic["frame_bytes"],
        interface_bps=bps,
        window_frames=window,
        stall_ms=math.ceil((_SLOWEST * window * frame_ps + held_ps + _BLOCK_PS) / 10**9),
    )


def _refuse(config: Mapping[str, Any]) -> None:
    if config.get("rare") is not None:
        raise UserError(
            "run.rare steers the simulator's losses, and a kernel counts those that happen: "
            "leave it out and raise traffic.packets, or --set run.backend=sim"
        )


def _interface_bps(config: Mapping[str, Any], octets: int) -> int:
    """Return the rate of the interface: enough for the link never to be idle."""
    protection = Protection.of(config["protection"])
    try:
        share = protection.family.source_share(protection.value, frame_wire_bytes=octets)
    except ValueError as why:
        raise UserError(f"{why}: leave it out, or --set run.backend=sim") from None
    bps: int = math.ceil(config["link"]["rate_bps"] * share)
    if config["traffic"]["source"] == "generator":
        # The largest rate whose frames take the generator's period, to the picosecond.
        bps = min(bps, octets * 8 * _PS_PER_SECOND // config["switch"]["generator_period_ps"])
    return bps


def measure(config: dict[str, Any], report: Callable[[float, float], None]) -> dict[str, Any]:
    """Send the frames that a configuration asks for, and count what arrives."""
    load = load_of(config)

    def tell(word: str, rest: str) -> None:
        if word == "sent":
            report(min(int(rest), load.frames), load.frames)

    plan = Plan(
        script=_script(config, load),
        path=_path(config, load),
        seed=config["seed"],
        programs={_PROGRAM: compiled(_SOURCE.read_text(), _PROGRAM, cache_folder(), ["-O2"])},
        memory_bytes=_KERNEL_BYTES + _FRAME_MEMORY_BYTES * load.window_frames,
    )
    with carried_out(plan, tell) as seen:
        row = _row(load, seen.report, json.loads(seen.lines["account"][0])) | {"guest_kernel": seen.kernel}
    return {"row": row, "columns": {}}


def _octets(frame_bytes: int) -> int:
    return max(frame_bytes, _LEAST_FRAME_BYTES) + _AROUND_BYTES


def _script(config: Mapping[str, Any], load: Load) -> str:
    def place(host: Host) -> str:
        return f"{host.name},{INTERFACE},{host.mac}"

    told = (load.frames, load.frame_bytes, load.window_frames, load.stall_ms, load.stall_ms + _SETTLE_MS)
    numbers = " ".join(str(number) for number in told)
    return "\n".join(
        [
            hosts.bare_script(config["link"]["mtu_bytes"]),
            f'"$LOSSYLINK_WORK/{_PROGRAM}" {place(H4)} {place(H8)} {numbers}',
        ]
    )


def _path(config: dict[str, Any], load: Load) -> dict[str, Any]:
    """Return a path that is nothing but an interface, the link, and as short a way to either host."""
    flight_ps = config["link"]["propagation_ps"] + math.ceil(config["switch"]["data_pipeline_ns"] * 1e3)
    return {
        **path_of(config),
        "host": load_profile("host", "ideal") | {"nic_rate_bps": load.interface_bps},
        "path": {"rtt_ps": 2 * (flight_ps + _LEG_PS)},
    }


def _row(load: Load, report: Mapping[str, Any], account: Mapping[str, Any]) -> dict[str, Any]:
    if account["missed"]:
        raise RunError(
            f"the far host's socket had no room for {account['missed']} frames: report this as an error"
        )
    sent, delivered = report["frames_offered"], account["delivered"]
    octets, span_ns = (delivered - 1) * load.octets, account["span_ns"]
    return {
        **report,
        "packets_sent": sent,
        "packets_delivered": delivered,
        "effective_lost_packets": sent - delivered,
        "lost_by_batch": account["lost_by_batch"],
        "effective_loss_rate": (sent - delivered) / sent if sent else 0.0,
        "effective_link_speed_gbps": octets * 8 / span_ns if delivered > 1 and span_ns else None,
        "reordered_packets": account["reordered"],
        "duplicates_delivered": account["duplicated"],
        "altered_packets": account["altered"],
        "source_stalls": account["stalls"],
    }


#: The experiments that are measured here.
MEASURES = {"stress": measure}
