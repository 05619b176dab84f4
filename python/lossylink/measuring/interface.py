"""An interface of this machine as the kernel shows it: its speed and address, and what it counts."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lossylink.errors import UserError
from lossylink.linux.lab.tools import complete_path
from lossylink.measuring.exchange import Drops

VIRTUAL_DRIVERS: Final = frozenset(
    {"bonding", "bridge", "dummy", "ena", "gve", "hv_netvsc", "team", "tun", "veth", "virtio_net", "vmxnet3"}
)
"""Drivers of interfaces without a line of their own, by the name that ``ethtool -i`` gives: no check sequence
ever fails there."""

_SYSFS = Path("/sys/class/net")
_SOFTNET = Path("/proc/net/softnet_stat")


@dataclass(frozen=True)
class Interface:
    """An interface by its name."""

    name: str

    @classmethod
    def find(cls, name: str) -> Interface:
        """Return the interface; a `UserError` names those that are there."""
        there = sorted(path.name for path in _SYSFS.iterdir() if path.is_dir())
        if name not in there:
            raise UserError(
                f"--link {name}: there is no interface {name}; this machine has {', '.join(there)}"
            )
        return cls(name)

    def _read(self, name: str) -> str:
        return (_SYSFS / self.name / name).read_text().strip()

    @property
    def address(self) -> bytes:
        """The MAC address."""
        return bytes.fromhex(self._read("address").replace(":", ""))

    @property
    def mtu_bytes(self) -> int:
        """The largest IP packet."""
        return int(self._read("mtu"))

    @property
    def is_up(self) -> bool:
        """Whether frames pass."""
        return self._read("operstate") in {"up", "unknown"}

    @property
    def speed_bps(self) -> int | None:
        """The speed that the driver tells; nothing if it tells none."""
        try:
            megabits = int(self._read("speed"))
        except OSError:
            return None
        return megabits * 1_000_000 if megabits > 0 else None

    @property
    def driver(self) -> str:
        """The driver's name; empty if it has none or ``ethtool`` is missing."""
        lines = self.ethtool("-i").splitlines()
        return next((line.partition(":")[2].strip() for line in lines if line.startswith("driver:")), "")

    def statistics(self) -> dict[str, int]:
        """Return the kernel's counters: ``rx_packets``, ``rx_crc_errors`` and so on."""
        folder = _SYSFS / self.name / "statistics"
        return {path.name: int(path.read_text()) for path in folder.iterdir()}

    def fec_blocks(self) -> dict[str, int]:
        """Return the blocks that the line's own code has corrected and those that it could not.

        Keys are those of ``ethtool --json -I --show-fec``: ``corrected_blocks``, ``uncorrectable_blocks``.
        It is empty where the driver counts none.
        """
        try:
            (told,) = json.loads(self.ethtool("--json", "-I", "--show-fec") or "[{}]")
            counted: dict[str, Any] = told.get("statistics", {})
            return {name: int(one["total"]) for name, one in counted.items() if "total" in one}
        except (ValueError, TypeError, AttributeError):
            return {}

    def ethtool(self, *options: str) -> str:
        """Return what ``ethtool`` prints of the interface; nothing where it is missing or refuses."""
        complete_path()
        try:
            words = ["ethtool", *options, self.name]
            return subprocess.run(words, capture_output=True, text=True, check=False).stdout
        except FileNotFoundError:
            return ""


@dataclass(frozen=True)
class Losses:
    """What this machine has dropped so far, apart from its sockets."""

    ring: int
    """Frames that the card had no room for."""
    interface: int
    backlog: int
    sending: int

    @classmethod
    def look(cls, interface: Interface) -> Losses:
        """Read the counters."""
        counted = interface.statistics()
        lines = _SOFTNET.read_text().splitlines() if _SOFTNET.exists() else []
        return cls(
            ring=counted["rx_missed_errors"] + counted["rx_fifo_errors"],
            interface=counted["rx_dropped"],
            backlog=sum(int(line.split()[1], 16) for line in lines),
            sending=counted["tx_dropped"] + counted["tx_fifo_errors"],
        )

    def until(self, now: Losses, *, at_sockets: int, refused: int) -> Drops:
        """Return what was dropped from this look to a later one.

        An interface counts frames for nobody as dropped, too. A full backlog is counted by the machine and
        by the interface: the smaller of the two is what it can have taken of this interface. Frames that the
        interface refused were never sent.
        """
        backlog = min(now.interface - self.interface, now.backlog - self.backlog)
        receiving = now.ring - self.ring + max(0, backlog) + at_sockets
        return Drops(sending=max(0, now.sending - self.sending - refused), receiving=receiving)
