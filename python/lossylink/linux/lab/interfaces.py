"""What the interfaces of a guard were like, kept on disk for as long as it changes them.

One file for each interface, in the directory of the control sockets: written before the first change, and
removed when the interface is as before. Whoever finds the file of a dead process first puts back what that
process had found.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from lossylink.errors import RunError, UserError
from lossylink.linux.lab.directory import runtime_directory
from lossylink.linux.lab.process import Process, process_of

#: Offloads that would make one frame of many, or leave a checksum to hardware that is not there: what
#: ``ethtool -k`` and ``ethtool -K`` call them.
_OFFLOADS = {
    "generic-receive-offload": "gro",
    "large-receive-offload": "lro",
    "generic-segmentation-offload": "gso",
    "tcp-segmentation-offload": "tso",
    "tx-checksumming": "tx",
    "rx-checksumming": "rx",
}

#: The offload that joins frames which nobody can take apart again as they were.
_IRREVERSIBLE = "lro"


@dataclass(frozen=True)
class Interface:
    """An interface, by the words that a user has for it."""

    name: str
    #: The named network namespace that holds it; the process's own when there is none.
    namespace: str | None

    @classmethod
    def of_port(cls, port: str) -> Interface | None:
        """Return the interface of a port of the data plane whose settings a guard changes.

        A TAP is made by the data plane, a TUN has no offloads, and datagrams have no interface.

        Examples
        --------
        >>> Interface.of_port("xdp:eth1@box"), Interface.of_port("tap:eth0")
        (Interface(name='eth1', namespace='box'), None)
        >>> Interface.of_port("udp:[::1]:5000") is None
        True
        """
        if port.startswith(("tap:", "tun:", "udp:")):
            return None
        name, _, namespace = port.rpartition(":")[2].partition("@")
        return cls(name, namespace or None)

    @property
    def is_veth(self) -> bool:
        """Whether the interface is one end of a veth, which has no hardware."""
        found = self.run("ip", "-d", "-j", "link", "show", "dev", self.name)
        return bool(found.strip()) and json.loads(found)[0].get("linkinfo", {}).get("info_kind") == "veth"

    @property
    def network(self) -> int:
        """The number of the network namespace, as ``ls -i`` shows it."""
        return Path(f"/run/netns/{self.namespace}" if self.namespace else "/proc/self/ns/net").stat().st_ino

    def run(self, *command: str) -> str:
        """Run a command in the namespace of the interface and return what it printed."""
        words = [*(["ip", "netns", "exec", self.namespace] if self.namespace else []), *command]
        try:
            return subprocess.run(words, capture_output=True, text=True, check=False).stdout
        except FileNotFoundError:
            raise RunError(f"{words[0]} is missing: apt-get install iproute2 ethtool") from None

    def offloads_on(self) -> tuple[str, ...]:
        """Return those of the offloads that are on."""
        states = (line.split() for line in self.run("ethtool", "-k", self.name).splitlines())
        return tuple(
            short
            for words in states
            if len(words) > 1 and words[1] == "on" and (short := _OFFLOADS.get(words[0].removesuffix(":")))
        )

    def switch(self, offloads: Sequence[str], state: str) -> None:
        """Switch offloads ``on`` or ``off``; those that a driver fixes stay as they are."""
        if offloads:
            self.run("ethtool", "-K", self.name, *(word for name in offloads for word in (name, state)))


class Former(BaseModel):
    """What an interface was like, and which process has changed it since."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    namespace: str | None
    #: Of the network namespace and of the interface. Both numbers may come again for others; with the address
    #: and within one boot it is the same interface.
    network: int
    index: int
    address: str
    boot: str
    mtu_bytes: int
    offloads_on: tuple[str, ...]
    pid: int
    start_ticks: int

    @classmethod
    def look(cls, interface: Interface) -> Former:
        """Return what an interface is like now, before this process changes it."""
        found = interface.run("ip", "-j", "link", "show", "dev", interface.name)
        if not found.strip():
            where = f" in namespace {interface.namespace}" if interface.namespace else ""
            raise UserError(f"there is no interface {interface.name}{where}")
        link = json.loads(found)[0]
        myself = process_of(os.getpid())
        assert myself is not None
        return cls(
            name=interface.name,
            namespace=interface.namespace,
            network=interface.network,
            index=link["ifindex"],
            address=link.get("address", ""),
            boot=_boot(),
            mtu_bytes=link["mtu"],
            offloads_on=interface.offloads_on(),
            pid=myself.pid,
            start_ticks=myself.start_ticks,
        )

    @property
    def interface(self) -> Interface:
        """The interface, as whoever changed it called it."""
        return Interface(self.name, self.namespace)

    @property
    def file(self) -> Path:
        """Where this is kept."""
        return runtime_directory() / f"interface-{self.network}-{self.index}-{self.name}.json"

    def is_of(self, other: Former) -> bool:
        """Whether both are about the same interface, and not about one that has been made anew."""
        mine, others = ((one.network, one.index, one.address, one.boot) for one in (self, other))
        return mine == others

    def user(self) -> Process | None:
        """Return the process that has changed the interface, if it still runs."""
        process = process_of(self.pid)
        is_same = process is not None and process.start_ticks == self.start_ticks
        return process if is_same and self.boot == _boot() else None

    def put_back(self, interface: Interface) -> str:
        """Make the interface what it was, and return what has changed, in words."""
        present = Former.look(interface)
        if not present.is_of(self):
            return f"{self.name}: has been made anew, nothing to put back"
        missing = [name for name in self.offloads_on if name not in present.offloads_on]
        said = [f"{name} on" for name in missing]
        # A guard only raises. A smaller MTU is somebody else's, and meant.
        if present.mtu_bytes > self.mtu_bytes:
            interface.run("ip", "link", "set", "dev", self.name, "mtu", str(self.mtu_bytes))
            said.insert(0, f"MTU {present.mtu_bytes} to {self.mtu_bytes}")
        interface.switch(missing, "on")
        return f"{self.name}: {', '.join(said) or 'nothing had changed'}"


@contextmanager
def borrowed(ports: Sequence[str], *, whole: Collection[str] = ()) -> Iterator[None]:
    """Switch the offloads of the interfaces of ports off, and put back at the end what they were.

    The ports of ``whole`` cut and join super-frames themselves: theirs stay on, except for that which nobody
    can undo.
    """
    interfaces = {port: interface for port in ports if (interface := Interface.of_port(port)) is not None}
    taken: list[Former] = []
    try:
        for port, interface in interfaces.items():
            taken.append(_take(interface))
            off = [name for name in taken[-1].offloads_on if port not in whole or name == _IRREVERSIBLE]
            interface.switch(off, "off")
        yield
    finally:
        for former in taken:
            # An interface that is gone needs nothing, and a file that could not be written is not there.
            with suppress(UserError):
                former.put_back(former.interface)
            with suppress(OSError):
                former.file.unlink()


def privileges(ports: Sequence[str]) -> list[str]:
    """Return the capabilities by which the interfaces of ports are put back, in the data plane's words.

    Examples
    --------
    >>> privileges(["eth1", "tap:eth0@box"]), privileges(["eth1", "xdp:eth2@box"])
    (['net_admin'], ['net_admin', 'sys_admin'])
    """
    elsewhere = [one for port in ports if (one := Interface.of_port(port)) is not None and one.namespace]
    return ["net_admin", *(["sys_admin"] if elsewhere else [])]


def restore() -> list[str]:
    """Put back what dead processes have left of the interfaces of this namespace; a line for each says so."""
    told = []
    with _alone():
        for file in sorted(runtime_directory().glob("interface-*.json")):
            former = _read(file)
            if former is None:
                continue
            try:
                told.append(_restore(former))
            except (UserError, OSError):
                file.unlink()
                told.append(f"{former.name}: is gone, and its file too")
    return told


def _restore(former: Former) -> str:
    """Put one interface back, unless somebody uses it or it is not in reach."""
    if (user := former.user()) is not None:
        return f"{former.name}: in use by process {user.pid}"
    own = Interface(former.name, None)
    interface = own if own.network == former.network else former.interface
    if interface.network != former.network:
        return f"{former.name}: in another network namespace, run `lossylink restore` there"
    done = former.put_back(interface)
    former.file.unlink()
    return done


def _take(interface: Interface) -> Former:
    """Note what an interface is like, after putting back what a dead process has left of it."""
    present = Former.look(interface)
    try:
        runtime_directory().mkdir(parents=True, exist_ok=True, mode=0o700)
        with _alone():
            before = _read(present.file)
            if before is not None and (user := before.user()) is not None:
                mend = "end it first, or name another interface"
                raise UserError(f"{interface.name} is in use by process {user.pid}: {mend}")
            if before is not None:
                before.put_back(interface)
                present = Former.look(interface)
            _write(present)
    except OSError as error:
        lost = "a guard that is killed leaves MTU and offloads changed"
        print(f"warning: {present.file} cannot be written ({error.strerror}): {lost}", file=sys.stderr)
    return present


def warn_of_checksums(ports: Sequence[str]) -> None:
    """Say which ports cannot finish what the far end of a veth leaves undone: XDP does not tell them what."""
    for port in ports:
        interface = Interface.of_port(port)
        if port.startswith("xdp:") and interface is not None and interface.is_veth:
            undone = f"{port} is a veth, and XDP does not say which checksums its far end leaves undone"
            mend = f"run `ethtool -K FAR-END tx off` there, or use packet:{port.removeprefix('xdp:')}"
            print(f"warning: {undone}: {mend}", file=sys.stderr)


@contextmanager
def _alone() -> Iterator[None]:
    """Keep others from taking or restoring interfaces at the same time."""
    folder = runtime_directory()
    if not folder.is_dir():
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _boot() -> str:
    """Return what changes with every start of the machine, which forgets what files may survive."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _read(file: Path) -> Former | None:
    """Return what a file keeps; nothing when there is none. One that makes no sense is said and ignored."""
    try:
        return Former.model_validate_json(file.read_text())
    except FileNotFoundError:
        return None
    except (ValidationError, UnicodeDecodeError):
        print(f"warning: {file} makes no sense and is ignored", file=sys.stderr)
        return None


def _write(former: Former) -> None:
    """Keep what an interface was like: the whole of it or nothing."""
    draft = former.file.with_suffix(f".{os.getpid()}")
    with draft.open("w") as file:
        file.write(former.model_dump_json())
        file.flush()
        os.fsync(file.fileno())
    draft.replace(former.file)
