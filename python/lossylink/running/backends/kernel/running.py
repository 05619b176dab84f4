"""One measurement in a guest: a server on one host, a client on the other, and what the guest tells of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from lossylink.errors import RunError
from lossylink.linux.guest import Finished, Guest, Plan, hosts
from lossylink.linux.kernel import require_kernel
from lossylink.linux.lab.hosts import H4, H8, Host
from lossylink.running.backends.live.counters import parse_counters

#: A guest's memory: the kernel's own, and so many times the buffers of a connection for each flow.
_KERNEL_BYTES, _BUFFER_SHARES = 2**30, 4
PROGRAMS = Path(__file__).parent / "programs"
#: Words of a guest's lines that are not for the user.
_COUNTERS = "counters"


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a measurement in a guest gave; its files stay as long as its context."""

    finished: Finished
    lines: Mapping[str, list[str]]
    """What the programs said, by the first word of each line."""
    kernel: str

    @property
    def report(self) -> Mapping[str, Any]:
        """The row of the path."""
        return self.finished.report

    @property
    def timeline(self) -> Mapping[str, list[float]]:
        """The bins of the path's time line, column by column; empty without one."""
        return self.finished.timeline

    @property
    def record(self) -> Path:
        """What passed at the near host, if it was recorded."""
        return self.finished.work / "record.pcap"

    @cached_property
    def counters(self) -> Mapping[str, int]:
        """The near host's TCP."""
        return parse_counters("\n".join(self.lines.get(_COUNTERS, [])))


@contextmanager
def measured(
    config: dict[str, Any],
    program: str,
    *,
    server: Mapping[str, Any],
    client: Mapping[str, Any],
    on_line: Callable[[str, str], None],
    records: bool = False,
) -> Iterator[Measured]:
    """Run a program as server on h8 and as client on h4, until the client is done.

    ``on_line`` gets the first word and the rest of each line that a program prints.

    Raises
    ------
    RunError
        The guest died, or a program in it failed.
    """
    hosts.check(config)
    plan = Plan(
        script=_script(config, program, server, client),
        path=path_of(config),
        seed=config["seed"],
        records=records,
        memory_bytes=_memory_bytes(config),
    )
    with carried_out(plan, on_line) as seen:
        yield seen


@contextmanager
def carried_out(plan: Plan, on_line: Callable[[str, str], None]) -> Iterator[Measured]:
    """Run a guest to its end; ``on_line`` is that of `measured`.

    Raises
    ------
    RunError
        The guest died, or its script failed.
    """
    kernel = require_kernel()
    lines: dict[str, list[str]] = {}
    problems: list[str] = []

    def read(line: str) -> None:
        word, _, rest = line.partition(" ")
        lines.setdefault(word, []).append(rest)
        on_line(word, rest)

    with Guest(kernel, plan) as guest:
        finished = guest.run(on_output=read, on_error=problems.append)
        if finished.status != 0:
            raise RunError(f"in the guest: {problems[-1] if problems else f'exit code {finished.status}'}")
        yield Measured(finished=finished, lines=lines, kernel=kernel.version)


def path_of(config: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration of the path: what the guest's programs do is not for the simulator."""
    return {
        name: value for name, value in config.items() if name not in ("pcap", "state_at_ps", "part", "parts")
    }


def _memory_bytes(config: dict[str, Any]) -> int:
    flows = (config.get("flow") or {}).get("count") or 1
    return _KERNEL_BYTES + _BUFFER_SHARES * flows * hosts.settings_of(config).largest_window_bytes


def _script(
    config: dict[str, Any], program: str, server: Mapping[str, Any], client: Mapping[str, Any]
) -> str:
    counters = hosts.on(H4, ["cat", "/proc/net/snmp", "/proc/net/netstat"])
    return "\n".join(
        [
            hosts.setup_script(config, is_measured=True),
            f"{_run(H8, program, 'server', server)} &",
            "sleep 1",
            _run(H4, program, "client", client),
            "wait",
            f"{counters} | sed 's/^/{_COUNTERS} /'",
        ]
    )


def _run(host: Host, program: str, side: str, told: Mapping[str, Any]) -> str:
    told = {"address": H8.address, **told}
    # Without site-packages, which take longer to find than most measurements.
    command = [sys.executable, "-S", "-E", str(PROGRAMS / f"{program}.py"), side, json.dumps(told)]
    return hosts.on(host, command)
