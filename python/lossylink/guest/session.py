"""A user's own command between the two hosts of a guest."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from lossylink.guest import hosts
from lossylink.guest.machine import Finished, Guest, Plan
from lossylink.kernel import Kernel

#: Memory of a guest that runs programs that we do not know.
MEMORY_BYTES = 4 * 2**30
#: Where the commands named after the hosts are.
_COMMANDS = "/run/hosts"


def run_session(
    kernel: Kernel, config: dict[str, Any], words: Sequence[str], *, here: Path, to: TextIO
) -> Finished:
    """Run a command in the directory ``here`` of a guest with the hosts of a configuration.

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
        files={"hosts": "".join(f"{host.address} {host.name}\n" for host in hosts.HOSTS)},
    )
    with Guest(kernel, plan) as guest:
        return guest.run(
            on_output=lambda line: print(line, file=to, flush=True),
            on_error=lambda line: print(line, file=sys.stderr, flush=True),
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
    """Return the command, with a shell in front of a script that is not executable."""
    first = here / words[0]
    is_plain = "/" in words[0] and first.is_file() and not first.stat().st_mode & 0o111
    return ["sh", *words] if is_plain else list(words)
