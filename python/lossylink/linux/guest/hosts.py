"""The two hosts of a guest: namespaces whose interfaces the simulated path connects."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from lossylink.errors import UserError
from lossylink.linux.lab.hosts import H4, H8, HOSTS, INTERFACE, Host, interface, sysctls
from lossylink.linux.lab.settings import LabSettings

#: What the kernel's driver calls the interfaces, the near host's first.
DEVICES = ("lossy0", "lossy1")
#: Congestion controls that the kernel is built with.
CONGESTION_CONTROLS = ("bbr", "cubic", "dctcp", "reno")
#: The kernel's timers tick a thousand times a second.
TICK_US = 1000
#: What the simulator's receivers offer at most unless the scenario says otherwise: half of Linux's buffer.
USUAL_WINDOW_BYTES = 3 * 2**20
#: A window's segments fit into a buffer of so many windows, with the kernel's bookkeeping.
_BUFFER_WINDOWS, _LEAST_BUFFER_BYTES = 4, 16 * 2**20
_PS_PER_SECOND = 10**12
#: More pages of memory than a guest has.
_ALL_PAGES = 2**30


def check(config: dict[str, Any]) -> None:
    """Refuse what the hosts of a guest cannot be.

    Raises
    ------
    UserError
        One line with the mend.
    """
    transport, host = config["transport"], config["host"]
    control = transport["congestion_control"]
    if control not in CONGESTION_CONTROLS:
        raise UserError(
            f"the guest's kernel has no congestion control '{control}': "
            f"--set transport.congestion_control={CONGESTION_CONTROLS[1]}"
        )
    if host["tick_us"] != TICK_US:
        raise UserError(
            f"the guest's kernel ticks every {TICK_US} us, and the profile '{host['name']}' every "
            f"{host['tick_us']} us: --set host.profile=ideal"
        )
    if transport["delayed_ack"] != 2:
        raise UserError(
            f"Linux acknowledges every second segment, not every {transport['delayed_ack']}: "
            "--set transport.delayed_ack=2"
        )


def settings_of(config: dict[str, Any]) -> LabSettings:
    """Return the hosts' settings for a configuration in the simulator's words."""
    transport, link = config["transport"], config["link"]
    control = transport["congestion_control"]
    return LabSettings(
        port="packet",
        rate_bps=link["rate_bps"],
        mtu_bytes=link["mtu_bytes"],
        congestion_control=control,
        timestamps=transport["timestamps"],
        ecn=control == "dctcp",
        rto_min_ps=transport["rto_min_ps"],
        initial_window=transport["initial_window"],
        largest_window_bytes=max(_LEAST_BUFFER_BYTES, _BUFFER_WINDOWS * window_bytes(config)),
    )


def round_trip_seconds(config: dict[str, Any]) -> float:
    """Return the round trip of the path without queues, near enough."""
    rtt = (config.get("path") or {}).get("rtt_ps")
    return float(rtt / _PS_PER_SECOND if rtt else 2 * config["host"]["network_one_way_ns"] / 1e9)


def window_bytes(config: dict[str, Any]) -> int:
    """Return the most that a receiver offers, as the simulator's do."""
    return config["transport"].get("receive_window_bytes") or USUAL_WINDOW_BYTES


def setup_script(config: dict[str, Any], *, is_measured: bool) -> str:
    """Return the shell commands that make the hosts.

    Hosts that are measured offer the simulator's window from the first segment on: how a receiver tunes its
    buffer is not what is measured. Other hosts have the buffers of Linux.
    """
    settings = settings_of(config)
    if is_measured or config["transport"].get("receive_window_bytes"):
        settings = settings.model_copy(update={"window_bytes": window_bytes(config)})
    # Short of memory for all of TCP, a receiver offers four segments: no guest is to run into that.
    lines = ["set -e", f"echo '{_ALL_PAGES} {_ALL_PAGES} {_ALL_PAGES}' > /proc/sys/net/ipv4/tcp_mem"]
    for host, device in zip(HOSTS, DEVICES, strict=True):
        lines += [f"ip netns add {host.name}", f"ip link set {device} netns {host.name} name {INTERFACE}"]
        lines += [on(host, ["sh", "-ec", "\n".join(_configuration(host, settings, config, is_measured))])]
    return "\n".join(lines)


def bare_script(mtu_bytes: int) -> str:
    """Return the shell commands that make hosts without addresses: they send nothing by themselves."""
    lines = ["set -e"]
    for host, device in zip(HOSTS, DEVICES, strict=True):
        lines += [
            f"ip netns add {host.name}",
            on(host, ["sh", "-c", "echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6"]),
            f"ip link set {device} netns {host.name} name {INTERFACE}",
            on(host, ["ip", "link", "set", INTERFACE, "address", host.mac, "mtu", str(mtu_bytes), "up"]),
        ]
    return "\n".join(lines)


def _configuration(host: Host, settings: LabSettings, config: dict[str, Any], is_measured: bool) -> list[str]:
    buffer = settings.largest_window_bytes
    chosen = sysctls(settings)
    if is_measured:
        chosen |= {f"net/ipv4/tcp_{name}": f"4096 {buffer} {buffer}" for name in ("rmem", "wmem")}
    batch = "\\n".join(interface(host, settings))
    merges, bursts = config["host"]["generic_receive_offload"], config["host"]["segmentation_offload"]
    return [
        *(f"echo '{value}' > /proc/sys/{name}" for name, value in chosen.items()),
        f"printf '{batch}\\n' | ip -batch -",
        f"ethtool -K {INTERFACE} gro {'on' if merges else 'off'}",
        # TCP makes bursts on any interface, but for one that takes no two segments at once.
        *([] if bursts else [f"ip link set {INTERFACE} gso_max_segs 1"]),
    ]


def on(host: Host, command: Sequence[str]) -> str:
    """Return the shell command that runs ``command`` on a host.

    Examples
    --------
    >>> on(H8, ["echo", "a b"])
    "ip netns exec h8 echo 'a b'"
    """
    return shlex.join(["ip", "netns", "exec", host.name, *command])


__all__ = [
    "H4",
    "H8",
    "HOSTS",
    "bare_script",
    "check",
    "on",
    "round_trip_seconds",
    "settings_of",
    "setup_script",
    "window_bytes",
]
