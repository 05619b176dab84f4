"""The lab as one object: up, commands to its parts, down."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lossylink.declared.protections import takes_option
from lossylink.errors import LossylinkError, RunError, UserError
from lossylink.linux.bmv2.common import check_losses
from lossylink.linux.lab import switches, topology, xdp
from lossylink.linux.lab.directory import LabDirectory, runtime_directory
from lossylink.linux.lab.enclave import (
    Enclave,
    close_enclave,
    find_enclave,
    is_private,
    open_enclave,
    require_tools,
)
from lossylink.linux.lab.hosts import H8, HOSTS
from lossylink.linux.lab.plane import PlaneClient
from lossylink.linux.lab.process import end, process_of
from lossylink.linux.lab.settings import LabSettings, read_loss, read_protection, spelled_protection

#: The artifact's connectivity check: five pings, 0.2 s apart there, 0.05 s here to be back in a breath.
PING_CHECK = ("-c", "5", "-i", "0.05")


@dataclass(frozen=True)
class Copies:
    """How often a guard sends what must not be lost."""

    frames: int
    """Copies of each retransmission."""
    control: int
    """Copies of each loss notification, pause and resume about what the other guard sends (G-26)."""


def _copies_of(guard: dict[str, Any]) -> Copies:
    return Copies(frames=guard["sender"]["copies"], control=guard["receiver"]["control_copies"])


class Lab:
    """A lab that is up. It is a context manager: leaving it takes the lab down."""

    def __init__(self, directory: LabDirectory, enclave: Enclave, settings: LabSettings) -> None:
        self.directory = directory
        self.enclave = enclave
        self.settings = settings

    @classmethod
    def up(cls, settings: LabSettings, *, name: str = "", replace: bool = False, owned: bool = False) -> Lab:
        """Build a lab; one that is ``owned`` is an orphan when this process ends without taking it down.

        Raises
        ------
        UserError
            When a lab of this name is up, or is being built or removed by somebody else.
        RunError
            When the system refuses something; what was made until then is taken down again.
        """
        require_tools()
        _require_port(settings)
        if settings.dataplane == "bmv2":
            switches.require(settings)
        directory = LabDirectory(name)
        with directory.locked(wait=False):
            if _exists(directory):
                if not replace:
                    mend = f"`lossylink lab down{directory.option}` first, or `lab up --replace`"
                    raise UserError(f"a lab is up already: {mend}")
                _remove(directory)
            settings = settings.model_copy(update={"wire_processor": _wire_processor(settings)})
            directory.make(settings, owner=process_of(os.getpid()) if owned else None)
            try:
                enclave = open_enclave(directory.path)
                topology.build(enclave, directory, settings)
            except BaseException:
                _remove(directory)
                raise
        return cls(directory, enclave, settings)

    @classmethod
    def find(cls, name: str = "") -> Lab:
        """Return the lab that is up.

        Raises
        ------
        UserError
            When there is none.
        """
        directory = LabDirectory(name)
        settings = directory.settings()
        enclave = find_enclave(directory.path) if settings else None
        if settings is None or enclave is None:
            raise UserError("no lab is up: `lossylink lab up` first")
        return cls(directory, enclave, settings)

    def __enter__(self) -> Lab:
        return self

    def __exit__(self, *_: object) -> None:
        take_down(self.directory.name)

    def plane(self, name: str) -> PlaneClient:
        """Return one of the data planes, by its name."""
        return PlaneClient(self.directory.control(name))

    def planes(self) -> dict[str, PlaneClient]:
        """Return every data plane."""
        return {name: self.plane(name) for name in self._parts.planes}

    @property
    def _parts(self) -> topology.Parts:
        return topology.parts(self.settings)

    @property
    def link(self) -> PlaneClient | switches.SwitchLink:
        """What corrupts frames: the data plane that emulates the link, or the two switches."""
        if self._parts.link is None:
            near, far = (self.plane(plane) for plane, _ in self._parts.guards)
            return switches.SwitchLink(near, far)
        return self.plane(self._parts.link)

    def guards(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the counters of the near and of the far guard."""
        near, far = self._parts.guards
        return _guard_counters(self.plane(near[0]), near[1]), _guard_counters(self.plane(far[0]), far[1])

    def copies(self) -> tuple[Copies, Copies] | None:
        """Return how often each guard sends a retransmission, or nothing where the protection sends none."""
        near, far = self.guards()
        if not takes_option(near.get("protection", "none"), "copies"):
            return None
        return _copies_of(near), _copies_of(far)

    def host_port(self) -> dict[str, Any]:
        """Return the counters of the port toward h4."""
        near, _ = self._parts.guards
        ports: dict[str, dict[str, Any]] = self.plane(near[0]).counters()["ports"]
        return ports[self._parts.host_port]

    def ports(self) -> list[dict[str, Any]]:
        """Return the counters of every port of every data plane."""
        return [port for plane in self.planes().values() for port in plane.counters()["ports"].values()]

    def set_loss(self, *, forward: str | None = None, reverse: str | None = None) -> None:
        """Corrupt frames by other models from now on; an absent direction stays as it is."""
        texts = {"forward": forward, "reverse": reverse}
        given = {name: read_loss(text) for name, text in texts.items() if text is not None}
        losses = {name: loss.native_at(self.settings.rate_bps) for name, loss in given.items()}
        if self.settings.dataplane == "bmv2":
            check_losses(losses.values())
        self.link.ask("loss", **losses)

    def protect(self, protection: str) -> None:
        """Protect the link by another protection from now on, in both directions."""
        if self.settings.dataplane == "bmv2":
            ends = [self.plane(plane) for plane, _ in self._parts.guards]
            switches.protect(ends, self.settings, spelled_protection(protection))
            return
        value = read_protection(protection).live_value
        for name in dict.fromkeys(place for place, _ in self._parts.guards):
            self.plane(name).ask("protect", protection=value)

    def clear(self) -> None:
        """Forget the lateness recorded so far, at the start of a measurement."""
        for plane in self.planes().values():
            plane.ask("clear")

    def command(self, host: str, command: Sequence[str]) -> list[str]:
        """Return the full command that runs ``command`` on a host or in a box of the lab."""
        known = [*(member.name for member in HOSTS), *self._parts.boxes]
        if host not in known:
            raise UserError(f"'{host}' is not in the lab; it has {', '.join(known)}")
        return self.enclave.inside(self.directory.prefix + host, [*self._processors(), *command])

    def _processors(self) -> list[str]:
        """Return what keeps a command off the processor of the emulated link.

        A command that the link's thread pushes aside in the middle of a system call holds its socket's lock,
        and then neither data nor ACKs pass until the kernel finds another processor for it.
        """
        alone = self.settings.wire_processor
        others = [] if alone is None else sorted(os.sched_getaffinity(0) - {alone})
        return ["taskset", "-c", ",".join(map(str, others))] if others else []

    def run(self, host: str, command: Sequence[str], *, seconds: float | None = None) -> str:
        """Run a command on a host and return what it printed."""
        try:
            done = subprocess.run(
                self.command(host, command), capture_output=True, text=True, timeout=seconds, check=False
            )
        except subprocess.TimeoutExpired:
            raise RunError(f"{host}: {' '.join(command)} took more than {seconds} s") from None
        if done.returncode != 0:
            raise RunError(f"{host}: {' '.join(command)}: {(done.stderr or done.stdout).strip()}")
        return done.stdout

    def start(self, host: str, command: Sequence[str]) -> subprocess.Popen[str]:
        """Start a command on a host and return at once."""
        return subprocess.Popen(
            self.command(host, command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def ping_check(self) -> str:
        """Ping h8 from h4 as the artifact does at the end of its set-up."""
        return self.run("h4", ["ping", *PING_CHECK, H8.address], seconds=10)


def _require_port(settings: LabSettings) -> None:
    """Refuse a lab on XDP ports where they do not work, saying why not."""
    if settings.port != "xdp":
        return
    if settings.offloads:
        raise UserError(
            "--offloads does not work with --port xdp, which takes frames alone: use tap or packet"
        )
    reason = "a private lab may load no XDP program" if is_private() else xdp.obstacle()
    if reason is not None:
        raise UserError(f"--port xdp does not work here: {reason}; use tap or packet")


def _wire_processor(settings: LabSettings) -> int | None:
    """Choose a processor for the emulated link alone: the last one, if there is another for everything else.

    Two links at a real-time priority must not share one, so only the first lab of a machine has it.
    """
    processors = sorted(os.sched_getaffinity(0))
    if not settings.fifo or settings.split or is_private() or len(processors) < 2:
        return None
    base = runtime_directory()
    labs = [LabDirectory(path.name) for path in base.iterdir() if path.is_dir()] if base.is_dir() else []
    taken = [found.wire_processor for lab in labs if (found := lab.settings()) is not None]
    return processors[-1] if processors[-1] not in taken else None


def sweep_orphans() -> None:
    """Take down the labs of measurements whose process was killed before it could do so itself."""
    base = runtime_directory()
    for path in sorted(base.iterdir()) if base.is_dir() else ():
        owner = LabDirectory(path.name).owner() if path.is_dir() and path.name != "lab" else None
        if owner is not None and not owner.is_alive():
            take_down(path.name)


def _guard_counters(plane: PlaneClient, name: str) -> dict[str, Any]:
    counters: dict[str, Any] = plane.counters()["guards"][name]
    return counters


def _exists(directory: LabDirectory) -> bool:
    enclave = find_enclave(directory.path)
    return directory.path.exists() or (enclave is not None and bool(_own_namespaces(enclave, directory)))


def _own_namespaces(enclave: Enclave, directory: LabDirectory) -> list[str]:
    """Return the namespaces of this lab; the unnamed lab's names have no second dash."""
    found = enclave.namespaces(directory.prefix)
    return [name for name in found if "-" not in name.removeprefix(directory.prefix)]


def take_down(name: str = "") -> bool:
    """Remove everything that a lab has made, whatever became of it; return whether there was anything.

    A lab that is being built is waited for.
    """
    directory = LabDirectory(name)
    with directory.locked(wait=True):
        return _remove(directory)


def _remove(directory: LabDirectory) -> bool:
    """Remove a lab that is locked.

    The kernel is asked what is there, not our notes: a lab that was killed half-way goes like any other.
    """
    enclave = find_enclave(directory.path)
    found = directory.path.exists()
    try:
        if enclave is not None:
            namespaces = _own_namespaces(enclave, directory)
            found = found or bool(namespaces)
            end(process for namespace in namespaces for process in enclave.processes(namespace))
            enclave.ip(*(f"netns delete {namespace}" for namespace in namespaces))
        close_enclave(directory.path)
    except (OSError, LossylinkError) as error:
        raise RunError(f"the lab is not quite gone: {error}") from None
    directory.remove()
    return found
