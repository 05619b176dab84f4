"""``lossylink guard``: protects a link from this box, and what a guard that runs can be asked and told."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from pathlib import Path

import click

from lossylink.cli.guards import service
from lossylink.cli.guards.boxes import configuration, control_option, quantity, require_interfaces, serve
from lossylink.cli.guards.file import take
from lossylink.cli.options.declaring import Group, argument, flag, option
from lossylink.cli.options.kinds import PATH, WHOLE, real, whole
from lossylink.declared.protections import usages
from lossylink.errors import RunError, UserError
from lossylink.linux.lab.automatic import Automatic
from lossylink.linux.lab.plane import PlaneClient
from lossylink.linux.service.metrics import read_address
from lossylink.units import parse_rate

_which_guard = option("--control", kind=PATH, help="Control socket; that of the only guard when not given.")


@click.group("guard", cls=Group, invoke_without_command=True)
@option("--lan", help="Interface of the protected network: eth1, or tap:NAME@NAMESPACE.")
@option("--link", help="Interface of the link that corrupts.")
@option("--protection", "-p", help=f"{usages(live=True)}, with options; lg if not given.")
@flag("--auto", help="Protect what is sent only while the link corrupts it and that is worth it.")
@option("--rate", help="Rate of the link, so that its queue forms here.")
@option("--queue", default="560KB", help="Queue toward the link, drop-tail.")
@option("--mtu", kind=WHOLE, help="Largest IP packet of the LAN; 1500 if not given, 1420 for a TUN.")
@option("--udp", help="PEER:PORT: protect the path to a guard that is no neighbour, in place of --link.")
@option("--tun", help="With --udp: the TUN interface of this host, in place of --lan.")
@option("--address", help="Address of the TUN, as in 10.9.0.1/30.")
@option("--key-file", kind=PATH, help="Secret of both guards, which seals their frames; mode 600.")
@flag("--fifo/--no-fifo", default=True, help="Real-time priority.")
@flag(
    "--offloads/--no-offloads",
    default=True,
    help="Exchange bursts of TCP with the LAN whole, as its interface's TSO and GRO do.",
)
@control_option
@option("--metrics", help="Serve Prometheus text at http://ADDRESS:PORT/metrics; a port alone: loopback.")
@option(
    "--config",
    kind=PATH,
    help="File with a table of these options for each guard.",
    is_eager=True,
    callback=take,
)
@option("--name", help="Which guard of the file; names its socket.", is_eager=True, callback=take)
@click.pass_context
def guard(
    context: click.Context,
    lan: str | None,
    link: str | None,
    protection: str | None,
    auto: bool,
    rate: str | None,
    queue: str,
    mtu: int | None,
    udp: str | None,
    tun: str | None,
    address: str | None,
    key_file: Path | None,
    fifo: bool,
    offloads: bool,
    control: Path | None,
    metrics: str | None,
    config: Path | None,
    name: str | None,
) -> None:
    """Protect the link between this box and another one that runs a guard as well.

    The link's interface gets an MTU large enough for the protection's headers while the guard runs.
    What happens is told on the standard error: the peer found and lost, corruption every ten seconds.
    SIGTERM and Ctrl-C drain what is held and put both interfaces back as they were. Without a guard at the
    far end frames pass unprotected, and the status says so. Without a key file, whoever can send on the link
    is trusted. Once its ports are open, the guard gives up all privileges but the one to put its
    interfaces back.

    With --udp the peer may be anywhere: frames travel as sealed datagrams, both guards need the same key, and
    each listens on the same PORT. The guard tunes itself. Without the peer nothing passes.

    With --config /etc/lossylink/guard.toml --name eth2 the options come from the table [eth2] of the file.
    An option on the command line goes before the same option in the file.

    Examples
    --------
        lossylink guard --lan eth1 --link eth2 --protection lg

        lossylink guard --lan eth1 --link eth2 --key-file /etc/lossylink/link.key

        lossylink guard --lan eth1 --link eth2 --auto

        lossylink guard --lan eth1 --udp 192.0.2.7:5000 --key-file link.key

        lossylink guard --tun over0 --address 10.9.0.1/30 --udp 192.0.2.7:5000 --key-file link.key

        lossylink guard status
    """
    del config  # what it holds has become the other options
    if context.invoked_subcommand is not None:
        return
    from lossylink.linux.lab.settings import read_protection
    from lossylink.linux.lab.tunnel import TUN_MTU, path_ports, path_protection, tunnel
    from lossylink.linux.service.company import accompanied

    if auto and protection is not None:
        raise UserError("--auto chooses the protection: leave --protection out")
    chosen = None
    if udp is not None:
        if link is not None or auto:
            raise UserError("a guard with --udp has no --link, and tunes itself without --auto")
        lan, link = path_ports(lan=lan, tun=tun, udp=udp, address=address, key_file=key_file)
        chosen = path_protection(protection)
    elif tun is not None or address is not None:
        raise UserError("--tun and --address need a path: give --udp PEER:PORT")
    if lan is None or link is None:
        missing = " and ".join(name for name, value in (("--lan", lan), ("--link", link)) if value is None)
        raise UserError(f"a guard needs {missing}: lossylink guard --lan eth1 --link eth2, or --config FILE")
    role = {
        "lan": lan,
        "link": link,
        "rate_bps": None if rate is None else quantity(parse_rate, rate),
        "protection": chosen or read_protection("off" if auto else protection or "lg").live_value,
    }
    metrics_at = None if metrics is None else read_address(metrics)
    require_interfaces({"--lan": lan, "--link": link})
    whole = [] if not offloads or lan.partition(":")[0] in ("xdp", "tun") else [lan]
    longest = mtu if mtu is not None else TUN_MTU if tun is not None else 1500
    told = configuration("guard", role, queue=queue, mtu=longest, fifo=fifo, control=control, name=name)
    told["super_frames"] = bool(whole)
    if key_file is None:
        print("no --key-file: whoever can send on the link is trusted", file=sys.stderr)
    else:
        told["key_file"] = str(key_file)
    beside = accompanied(Path(told["control"]), metrics_at, Automatic() if auto else None)
    with tunnel(tun, address, mtu=longest) if tun is not None else nullcontext():
        serve(told, [lan, link], beside, whole=whole)


guard.add_command(service.install)
guard.add_command(service.uninstall)
guard.add_command(service.dashboard)


@guard.command("status")
@flag("--json", "as_json", help="Print every counter as one JSON object.")
@flag("--prometheus", help="Print Prometheus text.")
@_which_guard
def status(as_json: bool, prometheus: bool, control: Path | None) -> None:
    """Show the peer, the protection, what the link has corrupted, and what was dropped.

    Examples
    --------
        lossylink guard status

        lossylink guard status --json
    """
    plane = _running(control)
    if prometheus:
        print(plane.prometheus(), end="")
    elif as_json:
        print(json.dumps(plane.counters()))
    else:
        from lossylink.linux.lab.guard_state import described

        print("\n".join(described(plane.counters())))


@guard.command("watch")
@option("--interval", kind=real(least=0.1), default=1.0, help="Seconds between two looks.")
@option("--rounds", kind=whole(least=1), help="Stop after so many looks.")
@_which_guard
def watch(interval: float, rounds: int | None, control: Path | None) -> None:
    """Show the state of a guard, refreshed in place, with rates of both directions.

    Examples
    --------
        lossylink guard watch
    """
    from lossylink.linux.lab.guard_state import watched

    watched(_running(control), interval_seconds=interval, rounds=rounds)


@guard.command("set")
@argument("protection", help=f"{usages(live=True)}, with options; off for none.")
@_which_guard
def change(protection: str, control: Path | None) -> None:
    """Protect what this box sends by another protection from now on, while frames pass.

    The peer's direction is the peer's to choose. A guard with --udp takes ``routed`` and ``off``.

    Examples
    --------
        lossylink guard set lg:copies=3
    """
    from lossylink.linux.lab.settings import read_protection
    from lossylink.linux.lab.tunnel import path_protection

    plane = _running(control)
    if plane.counters()["guards"]["guard"]["path"]:
        wanted: object = path_protection(protection)
    else:
        wanted = read_protection(protection).live_value
    plane.ask("protect", protection=wanted)
    print(f"this end protects by {plane.counters()['guards']['guard']['protection']}")


def _running(control: Path | None) -> PlaneClient:
    """Return the guard of a socket, or the only one that runs.

    Raises
    ------
    UserError
        None runs, or several do.
    """
    from lossylink.linux.lab.directory import runtime_directory

    if control is not None:
        return PlaneClient(control)
    found = []
    for path in sorted(runtime_directory().glob("guard-*.sock")):
        plane = PlaneClient(path)
        try:
            plane.counters()
        except RunError:
            continue  # it was killed
        found.append(plane)
    if not found:
        raise UserError("no guard runs here with a socket in the usual place: give --control")
    if len(found) > 1:
        sockets = ", ".join(str(plane.socket_path) for plane in found)
        raise UserError(f"several guards run: give --control, one of {sockets}")
    return found[0]
