"""``lossylink wire``, and what it shares with ``guard``: one data plane between two interfaces."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Collection
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import click

from lossylink import _native
from lossylink.cli.exits import leave
from lossylink.cli.options.declaring import Command, flag, option
from lossylink.cli.options.kinds import PATH, WHOLE
from lossylink.errors import UserError
from lossylink.linux import signals
from lossylink.units import parse_rate, parse_size, parse_time

control_option = option("--control", kind=PATH, help="Control socket; in the lab's directory when not given.")


@click.command("wire", cls=Command)
@option("--near", required=True, help="Interface at the near end.")
@option("--far", required=True, help="Interface at the far end.")
@option("--rate", default="1Gbps", help="Rate of the link.")
@option("--rtt", default="200us", help="Round trip: both directions' propagation.")
@option("--loss", default="none", help="Loss from near to far.")
@option("--loss-reverse", default="none", help="Loss from far to near.")
@option("--queue", default="560KB", help="Queue of each direction, drop-tail.")
@option("--ecn-threshold", help="Mark CE from this much waiting on.")
@option("--mtu", kind=WHOLE, default=1546, help="Largest IP packet, headroom of guards included.")
@option("--seed", kind=WHOLE, default=1, help="Decides every loss.")
@flag("--fifo/--no-fifo", default=True, help="Real-time priority.")
@control_option
def wire(
    near: str,
    far: str,
    rate: str,
    rtt: str,
    loss: str,
    loss_reverse: str,
    queue: str,
    ecn_threshold: str | None,
    mtu: int,
    seed: int,
    fifo: bool,
    control: Path | None,
) -> None:
    """Emulate a link between two interfaces: exact rate, delay, queue and loss.

    Examples
    --------
        lossylink wire --near eth1 --far eth2 --rate 100Mbps --rtt 6ms --loss 1e-3
    """
    from lossylink.linux.lab.settings import read_loss

    rate_bps = quantity(parse_rate, rate)
    role = {
        "near": near,
        "far": far,
        "rate_bps": rate_bps,
        "propagation_ps": quantity(parse_time, rtt) // 2,
        "loss_forward": read_loss(loss).native_at(rate_bps),
        "loss_reverse": read_loss(loss_reverse).native_at(rate_bps),
    }
    require_interfaces({"--near": near, "--far": far})
    config = configuration("path", role, queue=queue, mtu=mtu, fifo=fifo, control=control) | {"seed": seed}
    if ecn_threshold is not None:
        config["queue"]["mark_from_bytes"] = quantity(parse_size, ecn_threshold)
    serve(config, [near, far])


def require_interfaces(ports: dict[str, str]) -> None:
    """Refuse an interface that is not there, or is named twice, before anything is made."""
    there = sorted(path.name for path in Path("/sys/class/net").iterdir() if path.is_dir())
    for word, port in ports.items():
        name = port.partition(":")[2] or port
        if port.startswith(("tap:", "tun:", "udp:")) or "@" in port or name in there:
            continue
        raise UserError(f"{word} {port}: there is no interface {name}; this machine has {', '.join(there)}")
    names = [port.removeprefix("packet:").removeprefix("xdp:") for port in ports.values()]
    if len(set(names)) < len(names):
        options = " and ".join(ports)
        raise UserError(f"{options} are both {names[0]}: frames cross between two interfaces; name two")


def quantity(parse: Any, text: str) -> int:
    """Read a quantity; a mistake is one line."""
    try:
        return int(parse(text))
    except ValueError as error:
        raise UserError(str(error)) from None


def configuration(
    kind: str,
    role: dict[str, Any],
    *,
    queue: str,
    mtu: int,
    fifo: bool,
    control: Path | None,
    name: str | None = None,
) -> dict[str, Any]:
    """Return what a data plane is told.

    Its control socket is in the usual place if none is given, called after it or after its process.
    """
    from lossylink.linux.lab.directory import runtime_directory
    from lossylink.linux.lab.settings import WIRE_PRIORITY

    if control is None:
        folder = runtime_directory()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        control = folder / f"{kind}-{name or os.getpid()}.sock"
    return {
        "mtu_bytes": mtu,
        "control": str(control),
        "fifo_priority": WIRE_PRIORITY if fifo else None,
        "queue": {"bytes": quantity(parse_size, queue)},
        "role": {kind: role},
    }


@click.command("restore", cls=Command)
def restore() -> None:
    """Put back what guards and wires that were killed have left of the interfaces of this machine.

    MTU and offloads become what they were before the first of them started. Interfaces that a guard or a wire
    uses at present stay as they are.

    Examples
    --------
        lossylink restore
    """
    from lossylink.linux.lab import interfaces

    for line in interfaces.restore() or ["nothing to put back"]:
        print(line)


def serve(
    config: dict[str, Any],
    ports: list[str],
    beside: AbstractContextManager[None] | None = None,
    *,
    whole: Collection[str] = (),
) -> None:
    """Run the data plane in this process, with what is to go on ``beside`` it.

    The ports of ``whole`` exchange many frames as one packet with their networks.

    Its interfaces are as before when it ends. Once its ports are open, it keeps the privileges for that
    alone.
    """
    from lossylink.linux.lab.interfaces import borrowed, privileges, warn_of_checksums

    warn_of_checksums(ports)
    told = json.dumps(config | {"keeps": privileges(ports)})
    signals.leave_to_data_plane()
    with borrowed(ports, whole=whole), beside or nullcontext():
        print(f"control socket: {config['control']}", file=sys.stderr)
        code = _native.live_main([told])
    leave(code)
