"""A software switch on a bench: each of its ports has a cable, whose other end is a socket of ours.

Run what uses it as root inside ``unshare --net``: the interfaces vanish with the namespace.
"""

from __future__ import annotations

import select
import socket
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType

from lossylink.errors import RunError, UserError
from lossylink.linux.bmv2.sources import constants
from lossylink.linux.bmv2.switch import Switch
from lossylink.linux.bmv2.tools import compiled

#: asm-generic/socket.h: buffers beyond what the machine allows an ordinary user.
_SO_SNDBUFFORCE = 32
_SO_RCVBUFFORCE = 33
#: linux/if_ether.h and linux/if_packet.h: every protocol, and not what we send ourselves.
_ETH_P_ALL = 3
_SOL_PACKET = 263
_PACKET_IGNORE_OUTGOING = 23
#: Room for a full frame and every header that a program adds.
_MTU_BYTES = 1600
_SOCKET_BYTES = 8_000_000
#: A switch's cable holds as many frames as libpcap's ring has places, 32, until the switch takes them in.
_BURST_FRAMES = 16
#: How long it may take to take in a burst.
_BURST_SECONDS = 0.004
#: How long a frame may take through a switch on a busy machine.
_PATIENCE_SECONDS = 5.0
#: After so long without a frame nothing is under way any more.
_QUIET_SECONDS = 0.02


class DifferenceError(AssertionError):
    """The switch did something else than expected; the message is one line."""


class Socket:
    """The far end of a cable: sends and takes whole frames."""

    def __init__(self, interface: str) -> None:
        self.interface = interface
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        # What an ordinary buffer drops would be taken for a decision of the switch.
        # Root of a namespace alone may ask for no more than everybody.
        for forced, plain in ((_SO_RCVBUFFORCE, socket.SO_RCVBUF), (_SO_SNDBUFFORCE, socket.SO_SNDBUF)):
            try:
                self._socket.setsockopt(socket.SOL_SOCKET, forced, _SOCKET_BYTES)
            except PermissionError:
                self._socket.setsockopt(socket.SOL_SOCKET, plain, _SOCKET_BYTES)
        self._socket.setsockopt(_SOL_PACKET, _PACKET_IGNORE_OUTGOING, 1)
        self._socket.bind((interface, _ETH_P_ALL))

    def fileno(self) -> int:
        """Return the descriptor, for select(2)."""
        return self._socket.fileno()

    def send(self, frame: bytes) -> None:
        """Send a frame."""
        self._socket.send(frame)

    def take(self) -> bytes:
        """Take a frame that has arrived."""
        return self._socket.recv(1 << 16)

    def close(self) -> None:
        """Let the interface go."""
        self._socket.close()


class Bench:
    """One switch between sockets; a context manager that ends it.

    Parameters
    ----------
    family
        The program. Of each port ``host`` the switch has the interface ``host0``, we ``host1``.
    """

    def __init__(self, family: str) -> None:
        require_own_namespace()
        numbers = constants(family)
        self.host, self.link, self.control = (numbers[f"PORT_{name}"] for name in ("HOST", "LINK", "CONTROL"))
        names = {self.host: "host", self.link: "link", self.control: "control"}
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lossylink-bench-")))
            for name in names.values():
                stack.enter_context(cable(f"{name}0", f"{name}1"))
            self._sockets = {port: Socket(f"{name}1") for port, name in names.items()}
            for end in self._sockets.values():
                stack.callback(end.close)
            self.switch = stack.enter_context(
                Switch(
                    compiled(family), {port: f"{name}0" for port, name in names.items()},
                    log=folder / "switch.log",
                )
            )  # fmt: skip
            self._stack = stack.pop_all()
        self.runtime = self.switch.runtime
        self._sent: dict[int, deque[float]] = {port: deque(maxlen=_BURST_FRAMES) for port in names}
        self._arrived: dict[int, deque[bytes]] = {port: deque() for port in names}

    def send(self, port: int, frame: bytes) -> None:
        """Send a frame into a port of the switch; after a burst, wait until it was taken in."""
        sent = self._sent[port]
        if len(sent) == _BURST_FRAMES:
            time.sleep(max(0.0, sent[0] + _BURST_SECONDS - time.monotonic()))
        sent.append(time.monotonic())
        self._sockets[port].send(frame)

    def feed(self, port: int, frames: Iterable[bytes], taken: Callable[[], int]) -> None:
        """Send frames, never more than a burst ahead of what the switch counts as taken in.

        Raises
        ------
        DifferenceError
            The switch does not take in what was sent.
        """
        before, sent = taken(), 0
        for frame in frames:
            self._sockets[port].send(frame)
            sent += 1
            if sent % _BURST_FRAMES == 0:
                self._await(lambda: taken() - before, sent)
        self._await(lambda: taken() - before, sent)

    def _await(self, taken: Callable[[], int], sent: int) -> None:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while (count := taken()) < sent:
            if time.monotonic() > deadline:
                raise DifferenceError(f"the switch took in {count} frames of {sent}")

    def expect(self, port: int, count: int = 1, *, seconds: float = _PATIENCE_SECONDS) -> list[bytes]:
        """Return the next frames that leave a port.

        Raises
        ------
        DifferenceError
            Fewer leave.
        """
        arrived = self._arrived[port]
        deadline = time.monotonic() + seconds
        while len(arrived) < count:
            if not self._gather(deadline - time.monotonic()):
                raise DifferenceError(
                    f"port {port}: {len(arrived)} frames of {count} left within {seconds} s"
                )
        return [arrived.popleft() for _ in range(count)]

    def quiet(self, *, seconds: float = _QUIET_SECONDS) -> None:
        """Wait until nothing moves any more.

        Raises
        ------
        DifferenceError
            A frame leaves, or has left, that nobody expected.
        """
        while self._gather(seconds):
            pass
        for port, arrived in self._arrived.items():
            if arrived:
                first = arrived[0]
                arrived.clear()
                raise DifferenceError(f"port {port}: a frame of {len(first)} B too many: {first[:32].hex()}")

    def take(self, port: int, *, seconds: float = _QUIET_SECONDS) -> list[bytes]:
        """Return all frames that have left a port, when nothing moves any more."""
        while self._gather(seconds):
            pass
        arrived = list(self._arrived[port])
        self._arrived[port].clear()
        return arrived

    def clear(self) -> None:
        """Forget what has arrived."""
        for port in self._arrived:
            self.take(port)

    def _gather(self, seconds: float) -> bool:
        """Take what arrives within a time; false when nothing did, or the switch has ended."""
        if not self.switch.is_alive():
            raise RunError("the switch has ended")
        ports = {end.fileno(): port for port, end in self._sockets.items()}
        readable, _, _ = select.select(list(ports), [], [], max(0.0, seconds))
        for descriptor in readable:
            port = ports[descriptor]
            self._arrived[port].append(self._sockets[port].take())
        return bool(readable)

    def __enter__(self) -> Bench:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()


def require_own_namespace() -> None:
    """Refuse to make interfaces in the machine's own network: a namespace of ours has no route."""
    if len(Path("/proc/self/net/route").read_text(encoding="ascii").splitlines()) > 1:
        raise UserError("a bench makes interfaces: run this as root inside `unshare --net`")
    _run("ip", "link", "set", "lo", "up")


@contextmanager
def cable(near: str, far: str) -> Iterator[None]:
    """Join two new interfaces: neither says a word of its own, and frames arrive as they were sent."""
    _run("ip", "link", "add", near, "type", "veth", "peer", "name", far)
    try:
        for name in (near, far):
            Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1", encoding="ascii")
            _run("ethtool", "-K", name, "tx", "off", "rxvlan", "off", "txvlan", "off")
            _run("ip", "link", "set", name, "mtu", str(_MTU_BYTES), "up")
        yield
    finally:
        _run("ip", "link", "delete", near)


def drain(end: Socket, *, seconds: float = 0.0) -> list[bytes]:
    """Take what has arrived at a socket, and what arrives until there was nothing for a time."""
    frames = []
    while select.select([end], [], [], seconds)[0]:
        frames.append(end.take())
    return frames


@contextmanager
def told_apart(place: str) -> Iterator[None]:
    """Say where a difference is."""
    try:
        yield
    except DifferenceError as difference:
        raise DifferenceError(f"{place}: {difference}") from None


def compare(what: str, seen: Iterable[object], expected: Iterable[object]) -> None:
    """Raise a `DifferenceError` that names the first place at which two sequences differ."""
    here, there = list(seen), list(expected)
    for place, (one, other) in enumerate(zip(here, there, strict=False)):
        if one != other:
            raise DifferenceError(f"{what} {place}: {_short(one)}, expected {_short(other)}")
    if len(here) != len(there):
        raise DifferenceError(f"{what}: {len(here)}, expected {len(there)}")


def _short(value: object) -> str:
    return f"{len(value)} B {value[:40].hex()}" if isinstance(value, bytes) else str(value)


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunError(f"{' '.join(command)}: {done.stderr.strip()}")
