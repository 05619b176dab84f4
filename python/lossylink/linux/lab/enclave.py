"""Where the lab's namespaces live: the machine itself for root, a user namespace of its own for others."""

from __future__ import annotations

import os
import shutil
import subprocess
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lossylink.errors import RunError
from lossylink.linux.lab.process import Process, end, process_of, start_daemon

#: A private user, mount and network namespace, and a private /run, in which the lab's own directory stays
#: visible: iproute2 keeps its named namespaces there. It waits to be ended; all inside vanishes with it.
_KEEPER = """
set -e
mount --bind "$1" /mnt
mount -t tmpfs tmpfs /run
mkdir -p "$1" /run/netns
mount --move /mnt "$1"
echo $$ > "$1/keeper"
exec sleep infinity
"""
#: How long a private namespace may take to come up.
_KEEPER_SECONDS = 15.0
#: How much of a refused command is shown.
_SHOWN = 80
#: Tools without which nothing works, and the Debian package of each.
_TOOLS = {"ip": "iproute2", "nsenter": "util-linux", "ethtool": "ethtool"}


@dataclass(frozen=True)
class Enclave:
    """A place for network namespaces, and the words to put in front of a command that is to run there."""

    prefix: tuple[str, ...] = ()

    def run(self, command: Sequence[str], *, text_in: str | None = None, check: bool = True) -> str:
        """Run a command to its end and return what it printed."""
        done = subprocess.run(
            [*self.prefix, *command], input=text_in, capture_output=True, text=True, check=False
        )
        if check and done.returncode != 0:
            what = textwrap.shorten(" ".join(command), _SHOWN, placeholder=" ...")
            raise RunError(f"{what}: {done.stderr.strip() or f'exit code {done.returncode}'}")
        return done.stdout

    def ip(self, *commands: str) -> None:
        """Run several ``ip`` commands in one process; the first that fails ends it."""
        self.run(["ip", "-batch", "-"], text_in="\n".join(commands) + "\n")

    def inside(self, namespace: str, command: Sequence[str]) -> list[str]:
        """Return the full command that runs ``command`` in a network namespace, with its own /sys."""
        return [*self.prefix, "ip", "netns", "exec", namespace, *command]

    def namespaces(self, prefix: str) -> list[str]:
        """Return the network namespaces whose names begin so."""
        lines = self.run(["ip", "netns", "list"]).splitlines()
        return [line.split()[0] for line in lines if line.startswith(prefix)]

    def processes(self, namespace: str) -> list[Process]:
        """Return the processes that are in a network namespace."""
        pids = self.run(["ip", "netns", "pids", namespace], check=False).split()
        return [process for pid in pids if (process := process_of(int(pid))) is not None]


def require_tools() -> None:
    """Refuse to begin without the system's tools, naming what to install."""
    missing = {tool: package for tool, package in _TOOLS.items() if shutil.which(tool) is None}
    if missing:
        packages = " ".join(sorted(missing.values()))
        raise RunError(f"the lab needs {', '.join(sorted(missing))}: apt-get install {packages}")
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        raise RunError("the lab needs /dev/net/tun, readable and writable: modprobe tun, or run as root")


def is_private() -> bool:
    """Whether the lab hides in a user namespace: always without root, and with LOSSYLINK_PRIVATE set."""
    return os.geteuid() != 0 or bool(os.environ.get("LOSSYLINK_PRIVATE"))


def open_enclave(directory: Path) -> Enclave:
    """Return the place for new namespaces: the machine for root, a private namespace otherwise."""
    if not is_private():
        return Enclave()
    keeper = _keeper(directory) or _start_keeper(directory)
    return Enclave(_entering(keeper))


def find_enclave(directory: Path) -> Enclave | None:
    """Return the place in which an earlier command has put namespaces; nothing if it is gone."""
    if not is_private():
        return Enclave()
    keeper = _keeper(directory)
    return Enclave(_entering(keeper)) if keeper else None


def close_enclave(directory: Path) -> None:
    """End the private namespace, if there is one."""
    if keeper := _keeper(directory):
        end([keeper])
    (directory / "keeper").unlink(missing_ok=True)


def _entering(keeper: Process) -> tuple[str, ...]:
    return ("nsenter", f"--target={keeper.pid}", "--user", "--mount", "--net", "--preserve-credentials", "--")


def _keeper(directory: Path) -> Process | None:
    """Return the process that keeps the private namespace, if it lives and is what it was."""
    try:
        process = process_of(int((directory / "keeper").read_text()))
    except (FileNotFoundError, ValueError):
        return None
    return process if process and process.command == "sleep" else None


def _start_keeper(directory: Path) -> Process:
    command = [
        "unshare",
        "--user",
        "--map-root-user",
        "--mount",
        "--net",
        "sh",
        "-c",
        _KEEPER,
        "sh",
        str(directory),
    ]
    log = directory / "keeper.log"
    try:
        start_daemon(
            command, log, is_up=lambda: _keeper(directory) is not None, patience_seconds=_KEEPER_SECONDS
        )
    except RunError as error:
        raise RunError(f"without root the lab needs a user namespace of its own: {error}") from None
    if (keeper := _keeper(directory)) is None:
        raise RunError("the private namespace of the lab is gone as soon as it came up")
    return keeper
