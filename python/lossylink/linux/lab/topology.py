"""Which namespaces, cables and data planes a lab has: one process for the path, or one for each part."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from lossylink.linux.lab import switches
from lossylink.linux.lab.directory import LabDirectory
from lossylink.linux.lab.enclave import Enclave, is_private
from lossylink.linux.lab.hosts import H4, H8, HOSTS, INTERFACE, Host, configure, creation
from lossylink.linux.lab.plane import DATAPLANE, PlaneClient, start_plane
from lossylink.linux.lab.settings import HEADROOM_BYTES, LabSettings

#: The namespace of the emulated link.
WIRE = "wire"
#: Namespaces of the guards when they run apart, with the host that each protects: the artifact's switches.
GUARDS = {"sw2": H4, "sw6": H8}
#: A guard waits for nothing but its pacing: it ranks below the wire and never spins.
_GUARD_PRIORITY = 30
_GUARD_SPIN_US = 0
#: Without root a veth cannot be told to queue on one processor: then its senders stay on one each.
_PROCESSORS = {"sw2": 0, WIRE: 1, "sw6": 0}
#: The ends of the hosts' cables, where the hosts have no TAP: in a guard's box, or in that of the fused path.
_LAN = "lan"
#: The wire leaves a processor to the guards.
_SPLIT_WIRE_SPIN_US = 15


@dataclass(frozen=True)
class Parts:
    """What a lab has between its hosts, by name."""

    boxes: tuple[str, ...]
    """Namespaces."""
    planes: tuple[str, ...]
    """Data planes, each behind a control socket of its name."""
    guards: tuple[tuple[str, str], tuple[str, str]]
    """For the near and the far guard, the data plane that holds it and its name there."""
    link: str | None
    """The data plane that emulates the link; none where switches corrupt frames themselves."""
    host_port: str
    """The near guard's port toward h4."""


def parts(settings: LabSettings) -> Parts:
    """Return what a lab has between its hosts.

    Examples
    --------
    >>> parts(LabSettings()).planes, parts(LabSettings(split=True)).planes
    (('path',), ('sw2', 'wire', 'sw6'))
    >>> parts(LabSettings(dataplane="bmv2")).boxes
    ('sw2', 'sw6')
    """
    apart = (("sw2", "guard"), ("sw6", "guard"))
    if settings.dataplane == "bmv2":
        return Parts(tuple(GUARDS), tuple(GUARDS), apart, None, _LAN)
    if settings.split:
        return Parts((WIRE, *GUARDS), ("sw2", WIRE, "sw6"), apart, WIRE, _LAN)
    return Parts((WIRE,), ("path",), (("path", "near"), ("path", "far")), "path", "near")


def build(enclave: Enclave, directory: LabDirectory, settings: LabSettings) -> dict[str, PlaneClient]:
    """Make everything and return the running data planes."""
    prefix = directory.prefix
    boxes = parts(settings).boxes
    enclave.ip(
        *(line for host in HOSTS for line in creation(prefix, host)),
        *(f"netns add {prefix}{box}" for box in boxes),
    )
    is_switched = settings.dataplane == "bmv2"
    trunks = switches.cables(prefix) if is_switched else _trunks(prefix) if settings.split else ()
    cables = [*_host_cables(prefix, settings), *trunks]
    if cables:
        enclave.ip(*cables)
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda host: configure(enclave, prefix + host.name, host, settings), HOSTS))
        if cables:
            list(pool.map(lambda box: _prepare_box(enclave, prefix + box, settings), boxes))
        if is_switched:
            configs = switches.configurations(directory, settings)
        elif settings.split:
            configs = _split_configs(directory, settings)
        else:
            configs = _fused_config(directory, settings)
        module = switches.MODULE if is_switched else DATAPLANE
        started = pool.map(lambda item: _start(enclave, directory, module, *item), configs.items())
        return dict(zip(configs, started, strict=True))


def _start(
    enclave: Enclave, directory: LabDirectory, module: str, plane: str, config: dict[str, Any]
) -> PlaneClient:
    namespace = directory.prefix + (plane if plane in GUARDS else WIRE)
    return start_plane(enclave, namespace, config, directory.log(plane), module=module)


def _path_role(near: str, far: str, settings: LabSettings) -> dict[str, Any]:
    return {
        "near": near,
        "far": far,
        "rate_bps": settings.rate_bps,
        "propagation_ps": settings.propagation_ps,
        "loss_forward": settings.loss_forward.native_at(settings.rate_bps),
        "loss_reverse": settings.loss_reverse.native_at(settings.rate_bps),
    }


def _fused_config(directory: LabDirectory, settings: LabSettings) -> dict[str, dict[str, Any]]:
    near, far = (host_port(directory, host, settings) for host in HOSTS)
    role = _path_role(near, far, settings)
    # Without a protection it is a plain wire, which has no guards; `none` is guards that protect nothing.
    role["protection"] = settings.protection.value
    processor = {} if settings.wire_processor is None else {"processor": settings.wire_processor}
    path = settings.common(directory.control("path")) | processor
    return {"path": path | {"super_frames": settings.super_frames, "role": {"path": role}}}


def host_port(directory: LabDirectory, host: Host, settings: LabSettings) -> str:
    """Return the data plane's word for its port toward a host.

    Examples
    --------
    >>> host_port(LabDirectory(), H4, LabSettings())
    'tap:eth0@lossylink-h4'
    >>> host_port(LabDirectory(), H4, LabSettings(port="xdp")), host_port(
    ...     LabDirectory(), H4, LabSettings(port="xdp", split=True))
    ('xdp:h4', 'xdp:lan')
    """
    if settings.port == "tap":
        return f"tap:{INTERFACE}@{directory.prefix}{host.name}"
    return f"{settings.port}:{_LAN if settings.split else host.name}"


def _split_configs(directory: LabDirectory, settings: LabSettings) -> dict[str, dict[str, Any]]:
    def common(plane: str, spin_us: int) -> dict[str, Any]:
        processor = {"processor": _PROCESSORS[plane]} if is_private() else {}
        spin = {"spin_us": spin_us if settings.spins else 0}
        return settings.common(directory.control(plane)) | spin | processor

    cable = "packet" if settings.port == "tap" else settings.port

    def guard(box: str) -> dict[str, Any]:
        role = {
            "lan": host_port(directory, GUARDS[box], settings),
            "link": f"{cable}:trunk",
            "rate_bps": settings.rate_bps,
            "protection": settings.protection.live_value,
        }
        config = common(box, _GUARD_SPIN_US) | {
            "super_frames": settings.super_frames,
            "role": {"guard": role},
        }
        return config | ({"fifo_priority": _GUARD_PRIORITY} if settings.fifo else {})

    # A plain wire knows nothing of guards: it carries longer frames and has no protection of its own.
    wire = common(WIRE, _SPLIT_WIRE_SPIN_US) | {
        "mtu_bytes": settings.mtu_bytes + HEADROOM_BYTES,
        "role": {"path": _path_role(f"{cable}:near", f"{cable}:far", settings)},
    }
    return {"sw2": guard("sw2"), WIRE: wire, "sw6": guard("sw6")}


def _host_cables(prefix: str, settings: LabSettings) -> Iterable[str]:
    if settings.port == "tap":
        return
    boxes = {host: box for box, host in GUARDS.items()}
    is_fused = parts(settings).boxes == (WIRE,)
    for host in HOSTS:
        box, end = (WIRE, host.name) if is_fused else (boxes[host], _LAN)
        yield (
            f"link add name {INTERFACE} netns {prefix}{host.name} "
            f"type veth peer name {end} netns {prefix}{box}"
        )


def _trunks(prefix: str) -> Iterable[str]:
    for box, end in zip(GUARDS, ("near", "far"), strict=True):
        yield f"link add name trunk netns {prefix}{box} type veth peer name {end} netns {prefix}{WIRE}"


def _prepare_box(enclave: Enclave, namespace: str, settings: LabSettings) -> None:
    """Set the cables up: room for the protection's headers, one processor so that frames keep their order."""
    mtu = settings.mtu_bytes + HEADROOM_BYTES
    # Only hosts send and receive bursts whole; what crosses the link is frame by frame.
    whole = f"{_LAN} {H4.name} {H8.name}" if settings.super_frames else ""
    script = f"""
        echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6
        ip link set lo up
        for device in $(ls /sys/class/net); do
            [ "$device" = lo ] && continue
            ip link set "$device" mtu {mtu} up
            case " {whole} " in
                *" $device "*) ;;
                *) ethtool -K "$device" gro off gso off tso off tx off rx off sg off || true ;;
            esac
            for queue in /sys/class/net/"$device"/queues/rx-*; do
                (echo 1 > "$queue/rps_cpus") 2> /dev/null || true
            done
        done
    """
    enclave.run(["ip", "netns", "exec", namespace, "sh", "-c", script])
