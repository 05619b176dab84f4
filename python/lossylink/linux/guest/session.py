"""A user's own command between the two hosts of a guest."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from lossylink.linux.guest import hosts
from lossylink.linux.guest.machine import Finished, Guest, Plan, TellTime
from lossylink.linux.kernel import Kernel

#: Memory of a guest that runs programs that we do not know.
MEMORY_BYTES = 4 * 2**30
#: Where the commands named after the hosts are.
_COMMANDS = "/run/hosts"


def run_session(
    kernel: Kernel,
    config: dict[str, Any],
    words: Sequence[str],
    *,
    here: Path,
    to: TextIO,
    on_time: TellTime | None = None,
) -> Finished:
    """Run a command in the directory ``here`` of a guest with the hosts of a configuration.

    ``on_time`` is that of `Guest.run`.

    Raises
    ------
    UserError
        The hosts cannot be what the configuration asks for.
    RunError
        The guest died, or lets no time pass.
    """
    hosts.check(config)
    plan = Plan(
        script=_script(config, words, here),
        path=config,
        seed=config["seed"],
        memory_bytes=MEMORY_BYTES,
        here=here,
        sees=[(here / word).absolute() for word in words if "/" in word and (here / word).is_file()],
        files={"hosts": "".join(f"{host.address} {host.name}\n" for host in hosts.HOSTS)},
    )
    with Guest(kernel, plan) as guest:
        return guest.run(
            on_output=lambda line: print(line, file=to, flush=True),
            on_error=lambda line: print(line, file=sys.stderr, flush=True),
            on_time=on_time,
        )


def _script(config: dict[str, Any], words: Sequence[str], here: Path) -> str:
    lines = [hosts.setup_script(config, is_measured=False), f"mkdir {_COMMANDS}"]
    for host in hosts.HOSTS:
        file = f"{_COMMANDS}/{host.name}"
        lines += [
            f"""printf '#!/bin/sh\\nexec ip netns exec {host.name} "$@"\\n' > {file}""",
            f"chmod +x {file}",
        ]
    return "\n".join(
        [
            *lines,
            f"export PATH={_COMMANDS}:$PATH",
            'cat "$LOSSYLINK_WORK/hosts" >> /run/names && cat /etc/hosts >> /run/names',
            "mount --bind /run/names /etc/hosts",
            f"cd {shlex.quote(str(here))}",
            "set +e",
            shlex.join(_command(words, here)),
        ]
    )


def _command(words: Sequence[str], here: Path) -> list[str]:
    """Return the command, with a shell in front of a script that is not executable.

    A bare name that is no program is a file where the user is. Hosts' names are programs of a guest.
    """
    name = words[0]
    is_program = name in {host.name for host in hosts.HOSTS} or shutil.which(name) is not None
    if "/" not in name and not is_program and (here / name).is_file():
        name = f"./{name}"
    first = here / name
    is_plain = "/" in name and first.is_file() and not first.stat().st_mode & 0o111
    return ["sh", name, *words[1:]] if is_plain else [name, *words[1:]]
