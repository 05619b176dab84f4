"""A guard over a routed path: what its options ask for, and the TUN interface of a whole host."""

from __future__ import annotations

import ipaddress
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lossylink.errors import RunError, UserError
from lossylink.linux.lab.settings import read_protection

#: Largest IP packet of a TUN: it fits paths of 1500 bytes over IPv6, and most that are somewhat narrower.
TUN_MTU = 1420


def path_protection(protection: str | None) -> dict[str, str]:
    """Return how a guard with ``--udp`` protects, in the data plane's words: by itself, or not at all.

    Raises
    ------
    UserError
        A protection for links was given.

    Examples
    --------
    >>> path_protection(None), path_protection("off")
    ({'family': 'routed'}, {'family': 'none'})
    """
    if protection is None or protection == "routed":
        return {"family": "routed"}
    if protection.strip().lower() in ("none", "off"):
        return {"family": "none"}
    mend = "leave --protection out, or give none to repair nothing"
    read_protection(protection)  # a word that is no protection is refused as such
    raise UserError(f"{protection} is for links, and a guard with --udp tunes itself: {mend}")


def path_ports(
    *, lan: str | None, tun: str | None, udp: str, address: str | None, key_file: Path | None
) -> tuple[str, str]:
    """Return the ports of a guard with ``--udp``, in the data plane's words.

    Raises
    ------
    UserError
        Something is missing, given twice, or wrong.

    Examples
    --------
    >>> path_ports(lan=None, tun="over0", udp="192.0.2.7:5000", address="10.9.0.1/30", key_file=Path("key"))
    ('tun:over0', 'udp:192.0.2.7:5000')
    """
    if key_file is None:
        raise UserError(
            "everybody can send datagrams to a guard with --udp: give both guards the same --key-file"
        )
    if (lan is None) == (tun is None):
        raise UserError("a guard with --udp protects a network or this host: give --lan eth1, or --tun over0")
    if tun is None and address is not None:
        raise UserError("--address is that of a TUN: give --tun over0 in place of --lan")
    if address is not None:
        _interface_address(address)
    if not udp.rpartition(":")[0]:
        raise UserError(f"'{udp}' is no peer: give an address and a port, as in --udp 192.0.2.7:5000")
    return lan if lan is not None else f"tun:{tun}", f"udp:{udp}"


def _interface_address(text: str) -> str:
    try:
        found = ipaddress.ip_interface(text)
    except ValueError:
        raise UserError(f"'{text}' is no address of an interface: write 10.9.0.1/30") from None
    return str(found)


@contextmanager
def tunnel(name: str, address: str | None, *, mtu: int) -> Iterator[None]:
    """Make a TUN interface, and remove it at the end.

    One that a killed guard has left is taken over. While nothing holds it, and while its guard has no peer,
    it has no carrier, and routes over it do not count.
    """
    if not Path(f"/sys/class/net/{name}").is_dir():
        _ip("tuntap", "add", "dev", name, "mode", "tun")
    elif not Path(f"/sys/class/net/{name}/tun_flags").exists():
        raise UserError(f"--tun {name}: there is an interface {name}, and it is no TUN; give another name")
    try:
        _leave_routes(name)
        _ip("link", "set", "dev", name, "mtu", str(mtu), "up")
        if address is not None:
            _ip("address", "replace", _interface_address(address), "dev", name)
        yield
    finally:
        # Somebody else may have removed it; nothing is left to be done then.
        with suppress(RunError):
            _ip("tuntap", "del", "dev", name, "mode", "tun")


def _leave_routes(name: str) -> None:
    """Let routes over an interface count only while it has a carrier."""
    for family in ("ipv4", "ipv6"):
        setting = Path(f"/proc/sys/net/{family}/conf/{name}/ignore_routes_with_linkdown")
        try:
            setting.write_text("1")
        except FileNotFoundError:
            continue  # this kernel or this namespace has no IPv6
        except OSError as error:
            mend = f"sysctl net.{family}.conf.{name}.ignore_routes_with_linkdown=1"
            lost = f"routes over {name} stay while the peer is away"
            print(f"warning: {setting} cannot be set ({error.strerror}), and {lost}: {mend}", file=sys.stderr)


def _ip(*words: str) -> None:
    try:
        subprocess.run(["ip", *words], capture_output=True, text=True, check=True)
    except FileNotFoundError:
        raise RunError("ip is missing: apt-get install iproute2") from None
    except subprocess.CalledProcessError as error:
        raise RunError(f"ip {' '.join(words)}: {error.stderr.strip()}") from None
