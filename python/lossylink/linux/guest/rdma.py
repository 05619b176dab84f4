"""The two RDMA interfaces of a guest: the kernel's own, in software (rxe), at the ends of the simulated path.

rxe sends and receives in the initial network namespace only (6.1 and 6.12). Both interfaces are there, and
rules of routing see to it that packets from one to the other cross the path between them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lossylink.errors import UserError
from lossylink.linux.guest.hosts import DEVICES, HOSTS, TICK_US

#: The RDMA interfaces, the near host's first.
INTERFACES = ("rxe0", "rxe1")
#: Unit of InfiniBand's timers, and the largest exponent of two that their five bits have.
_TIMER_UNIT_US, _LARGEST_EXPONENT = 4.096, 31
#: rxe takes seven retries, the most that three bits hold, for retries without end.
_MOST_RETRIES = 6
#: rxe leaves more room for headers than a write has: an interface takes so many bytes more than the payload.
_HEADER_BYTES = 128
#: What programs with verbs need, and the Debian package that holds each.
NEEDED_FILES = {
    Path("/usr/include/infiniband/verbs.h"): "libibverbs-dev",
    Path("/etc/libibverbs.d/rxe.driver"): "ibverbs-providers",
}
#: Routes to each host by the interface that leads there.
_TABLE = 100


def check(config: dict[str, Any]) -> None:
    """Refuse what the kernel's RDMA is not.

    Raises
    ------
    UserError
        One line with the mend.
    """
    transport, host = config["transport"], config["host"]
    if transport["recovery"] != "go-back-n":
        raise UserError(
            f"the kernel's RDMA goes back and knows no {transport['recovery']}: "
            "--set transport.recovery=go-back-n"
        )
    if transport["dcqcn"]:
        raise UserError("the kernel's RDMA has no DCQCN: --set transport.dcqcn=off")
    if host["tick_us"] != TICK_US:
        raise UserError(
            f"the guest's kernel ticks every {TICK_US} us, and the profile '{host['name']}' every "
            f"{host['tick_us']} us: --set host.profile=ideal"
        )
    if host["rdma_retry_count"] > _MOST_RETRIES:
        raise UserError(
            f"rdma_retry_count = {host['rdma_retry_count']}: the kernel's RDMA retries at most "
            f"{_MOST_RETRIES} times or for ever; lower it in the profile '{host['name']}'"
        )


def require_verbs(needed: Mapping[Path, str] = NEEDED_FILES) -> None:
    """Insist on what is needed to compile and run a program with verbs.

    Raises
    ------
    UserError
        Something is missing; the message says how to get it.
    """
    if missing := missing_files(needed):
        names = ", ".join(map(str, missing))
        raise UserError(f"RDMA in a guest needs {names}; run {install_line(missing)}")


def missing_files(needed: Mapping[Path, str] = NEEDED_FILES) -> dict[Path, str]:
    """Return what programs with verbs need and is not here, with the package of each file."""
    return {path: package for path, package in needed.items() if not path.exists()}


def install_line(missing: Mapping[Path, str]) -> str:
    """Return the command that installs missing files.

    Examples
    --------
    >>> install_line({Path("/etc/libibverbs.d/rxe.driver"): "ibverbs-providers"})
    'apt-get install ibverbs-providers'
    """
    return f"apt-get install {' '.join(sorted(set(missing.values())))}"


def timer_exponent(timeout_us: float) -> int:
    """Return the exponent of InfiniBand's timer that is nearest to a time, by ratio.

    Examples
    --------
    >>> timer_exponent(1049), timer_exponent(1070), timer_exponent(67_000)
    (8, 8, 14)
    """
    exponent = round(math.log2(timeout_us / _TIMER_UNIT_US))
    return min(max(exponent, 1), _LARGEST_EXPONENT)


def timer_us(exponent: int) -> float:
    """Return the time of InfiniBand's timer with an exponent.

    Examples
    --------
    >>> timer_us(8)
    1048.576
    """
    return _TIMER_UNIT_US * 2.0**exponent


def between_interfaces(config: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration of the path between RDMA interfaces: no host handles what goes up."""
    host = config["host"]
    nothing = [[0.0, 0.0], [1.0, 0.0]]
    interfaces = {
        "network_one_way_ns": host["rdma_one_way_ns"],
        "receive_latency": nothing,
        "moderation_latency": nothing,
        "receive_segment_ns": 0,
        "generic_receive_offload": False,
    }
    return {**config, "host": {**host, **interfaces}}


def setup_script(config: dict[str, Any]) -> str:
    """Return the shell commands that make the interfaces."""
    mtu = config["transport"]["mtu_bytes"] + _HEADER_BYTES
    lines = [
        "set -e",
        "cd /proc/sys/net/ipv4/conf",
        "for name in all default; do echo 0 > $name/rp_filter; echo 1 > $name/accept_local; done",
        "echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6",
        "cd /",
    ]
    near, far = HOSTS
    for device, host, peer in zip(DEVICES, HOSTS, (far, near), strict=True):
        lines += [
            f"ip link set {device} address {host.mac} mtu {mtu} txqueuelen 20000 up",
            f"ip address add {host.address}/32 dev {device}",
            f"ip neighbour add {peer.address} lladdr {peer.mac} dev {device} nud permanent",
            f"ip route add {peer.address} dev {device} src {host.address} table {_TABLE}",
            # What comes in is for this machine; what goes out leaves by the interface that leads there.
            f"ip rule add iif {device} lookup local priority 1",
        ]
    lines += [
        f"ip rule add lookup {_TABLE} priority 2",
        "ip rule add lookup local priority 3",
        "ip rule del priority 0",
        *(
            f"rdma link add {name} type rxe netdev {device}"
            for name, device in zip(INTERFACES, DEVICES, strict=True)
        ),
    ]
    return "\n".join(lines)


def counters_script(word: str) -> str:
    """Return the shell commands that print what the interfaces counted: ``word``, interface, name, value."""
    folder = "/sys/class/infiniband/$name/ports/1/hw_counters"
    return "\n".join(
        [
            f"for name in {' '.join(INTERFACES)}; do",
            # Counters that were read are the same for so many milliseconds.
            f"    echo 0 > {folder}/lifespan",
            f'    for file in {folder}/*; do echo "{word} $name ${{file##*/}} $(cat "$file")"; done',
            "done",
        ]
    )
