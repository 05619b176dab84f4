"""The two hosts: a namespace each, whose one interface is a TAP or a cable that the data plane opens."""

from __future__ import annotations

from dataclasses import dataclass

from lossylink.linux.lab.enclave import Enclave
from lossylink.linux.lab.settings import LabSettings

#: Name of a host's interface.
INTERFACE = "eth0"
#: The hosts' network.
NETWORK = "10.2.2.0/24"


@dataclass(frozen=True)
class Host:
    """A host of the lab."""

    name: str
    address: str
    mac: str


H4 = Host("h4", "10.2.2.1", "02:00:00:00:00:04")
H8 = Host("h8", "10.2.2.2", "02:00:00:00:00:08")
#: The hosts, near end first.
HOSTS = (H4, H8)


def creation(prefix: str, host: Host) -> list[str]:
    """Return the ``ip`` commands that make a host's namespace."""
    return [f"netns add {prefix}{host.name}"]


def interface(host: Host, settings: LabSettings) -> list[str]:
    """Return the ``ip`` commands, to be run in the host's namespace, that give it its interface and its peer.

    The neighbour is permanent: on a link that loses frames ARP would be an experiment of its own.
    """
    peer = H8 if host == H4 else H4
    return [
        "link set lo up",
        *([f"tuntap add dev {INTERFACE} mode tap"] if settings.port == "tap" else []),
        f"link set {INTERFACE} address {host.mac} mtu {settings.mtu_bytes} txqueuelen 20000 up",
        f"address add {host.address}/24 dev {INTERFACE}",
        f"neighbour add {peer.address} lladdr {peer.mac} dev {INTERFACE} nud permanent",
        f"route replace {route(host, settings)}",
    ]


def route(host: Host, settings: LabSettings) -> str:
    """Return the route between the hosts, which carries what TCP takes from routes.

    Examples
    --------
    >>> route(H4, LabSettings(rto_min_ps=10**9))
    '10.2.2.0/24 dev eth0 src 10.2.2.1 congctl cubic rto_min 1ms'
    >>> route(H8, LabSettings(window_bytes=150_000)).rpartition("cubic ")[2]
    'window 150000'
    """
    # The kernel counts this in jiffies, and iproute2 takes no finer unit than milliseconds.
    rto = f" rto_min {max(1, round(settings.rto_min_ps / 10**9))}ms" if settings.rto_min_ps else ""
    window = f" window {settings.window_bytes}" if settings.window_bytes else ""
    initial = f" initcwnd {settings.initial_window}" if settings.initial_window else ""
    options = f"congctl {settings.congestion_control}{rto}{window}{initial}"
    return f"{NETWORK} dev {INTERFACE} src {host.address} {options}"


def sysctls(settings: LabSettings) -> dict[str, str]:
    """Return what experiments depend on and a machine may have set otherwise, for one host's namespace."""
    first = 131072 if settings.window_bytes is None else 2 * settings.largest_window_bytes
    return {
        "net/ipv6/conf/all/disable_ipv6": "1",
        "net/ipv4/tcp_timestamps": str(int(settings.timestamps)),
        "net/ipv4/tcp_ecn": str(int(settings.ecn)),
        "net/ipv4/tcp_sack": "1",
        "net/ipv4/tcp_dsack": "1",
        "net/ipv4/tcp_no_metrics_save": "1",
        "net/ipv4/tcp_slow_start_after_idle": "1",
        # A receiver that tunes its buffer also forgets the window that its route sets.
        "net/ipv4/tcp_moderate_rcvbuf": str(int(settings.window_bytes is None)),
        # The receiver's buffer counts bookkeeping as well as data: twice the window is room for both.
        "net/ipv4/tcp_rmem": f"4096 {first} {2 * settings.largest_window_bytes}",
        "net/ipv4/tcp_wmem": f"4096 65536 {settings.largest_window_bytes}",
    }


#: What a cable needs beside a TAP's settings: a queue that holds frames back while the far end's ring of 256
#: is full, VLAN tags left in the frames, and one processor to receive on, so that frames keep their order.
_CABLE = f"""
tc qdisc replace dev {INTERFACE} root pfifo limit 20000
ethtool -K {INTERFACE} txvlan off rxvlan off || true
for queue in /sys/class/net/{INTERFACE}/queues/rx-*; do
    (echo 1 > "$queue/rps_cpus") 2> /dev/null || true
done
"""

#: Offloads that make one packet of many frames, or leave a checksum to hardware that is not there.
_OFFLOADS = ("gro", "gso", "tso", "tx", "rx", "sg")


def configure(enclave: Enclave, namespace: str, host: Host, settings: LabSettings) -> None:
    """Give a host its interface, its sysctls and its route, and switch its offloads."""
    writes = [f"echo '{value}' > /proc/sys/{name}" for name, value in sysctls(settings).items()]
    batch = "\\n".join(interface(host, settings))
    switches = " ".join(f"{name} {'on' if settings.super_frames else 'off'}" for name in _OFFLOADS)
    # ethtool complains about offloads that a kernel fixes; the data plane counts frames that show their work.
    script = [
        "set -e",
        *writes,
        f"printf '{batch}\\n' | ip -batch -",
        f"ethtool -K {INTERFACE} {switches} || true",
        *([] if settings.port == "tap" else [_CABLE]),
    ]
    enclave.run(["ip", "netns", "exec", namespace, "sh", "-c", "\n".join(script)])
