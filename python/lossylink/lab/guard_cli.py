"""``lossylink guard``: protects a link from this box, and what a guard that runs can be asked and told."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lossylink.lab.boxes import Control, configuration, quantity, require_interfaces, serve
from lossylink.protections import usages

if TYPE_CHECKING:
    from lossylink.lab.plane import PlaneClient

app = typer.Typer()

#: Counters of a guard that say why it dropped a frame, beside a full queue.
_DROPS = ("no_room", "reserved", "foreign", "other_seal", "other_version", "repeated")
_Which = Annotated[
    Path | None, typer.Option("--control", help="Control socket; that of the only guard when not given.")
]


@app.callback(invoke_without_command=True)
def guard(
    context: typer.Context,
    lan: Annotated[
        str | None, typer.Option(help="Interface of the protected network: eth1, or tap:NAME@NAMESPACE.")
    ] = None,
    link: Annotated[str | None, typer.Option(help="Interface of the link that corrupts.")] = None,
    protection: Annotated[
        str, typer.Option("--protection", "-p", help=f"{usages(live=True)}, with options.")
    ] = "lg",
    rate: Annotated[str | None, typer.Option(help="Rate of the link, so that its queue forms here.")] = None,
    queue: Annotated[str, typer.Option(help="Queue toward the link, drop-tail.")] = "560KB",
    mtu: Annotated[int, typer.Option(help="Largest IP packet of the LAN.")] = 1500,
    key_file: Annotated[
        Path | None, typer.Option(help="Secret of both guards, which seals their frames; mode 600.")
    ] = None,
    fifo: Annotated[bool, typer.Option("--fifo/--no-fifo", help="Real-time priority.")] = True,
    control: Control = None,
) -> None:
    """Protect the link between this box and another one that runs a guard as well.

    The link's interface gets an MTU large enough for the protection's headers while the guard runs.
    What happens is told on the standard error: the peer found and lost, corruption every ten seconds.
    SIGTERM and Ctrl-C drain what is held and put both interfaces back as they were. Without a guard at the
    far end frames pass unprotected, and the status says so. Without a key file, whoever can send on the link
    is trusted.

    Examples
    --------
        lossylink guard --lan eth1 --link eth2 --protection lg

        lossylink guard --lan eth1 --link eth2 --key-file /etc/lossylink/link.key

        lossylink guard status
    """
    if context.invoked_subcommand is not None:
        return
    from lossylink.errors import UserError
    from lossylink.lab.settings import read_protection
    from lossylink.units import parse_rate

    if lan is None or link is None:
        missing = " and ".join(name for name, value in (("--lan", lan), ("--link", link)) if value is None)
        raise UserError(f"a guard needs {missing}: lossylink guard --lan eth1 --link eth2")
    role = {
        "lan": lan,
        "link": link,
        "rate_bps": None if rate is None else quantity(parse_rate, rate),
        "protection": read_protection(protection).live_value,
    }
    require_interfaces({"--lan": lan, "--link": link})
    config = configuration("guard", role, queue=queue, mtu=mtu, fifo=fifo, control=control)
    if key_file is None:
        print("no --key-file: whoever can send on the link is trusted", file=sys.stderr)
    else:
        config["key_file"] = str(key_file)
    serve(config, [lan, link], tells=True)


@app.command("status")
def status(
    as_json: Annotated[bool, typer.Option("--json", help="Print every counter as one JSON object.")] = False,
    prometheus: Annotated[bool, typer.Option("--prometheus", help="Print Prometheus text.")] = False,
    control: _Which = None,
) -> None:
    """Show the peer, the protection, what the link has corrupted, and what was dropped.

    Examples
    --------
        lossylink guard status

        lossylink guard status --json
    """
    import json

    plane = _running(control)
    if prometheus:
        print(plane.prometheus(), end="")
    elif as_json:
        print(json.dumps(plane.counters()))
    else:
        print("\n".join(_described(plane.counters())))


@app.command("set")
def change(
    protection: Annotated[str, typer.Argument(help=f"{usages(live=True)}, with options; off for none.")],
    control: _Which = None,
) -> None:
    """Protect what this box sends by another protection from now on, while frames pass.

    The peer's direction is the peer's to choose.

    Examples
    --------
        lossylink guard set lg:copies=3
    """
    from lossylink.lab.settings import read_protection

    plane = _running(control)
    plane.ask("protect", protection=read_protection(protection).live_value)
    print(f"this end protects by {plane.counters()['guards']['guard']['protection']}")


def _running(control: Path | None) -> PlaneClient:
    """Return the guard of a socket, or the only one that runs.

    Raises
    ------
    UserError
        None runs, or several do.
    """
    from lossylink.errors import RunError, UserError
    from lossylink.lab.directory import runtime_directory
    from lossylink.lab.plane import PlaneClient

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


def _described(counters: dict[str, Any]) -> list[str]:
    """Return the state of a guard in words.

    Examples
    --------
    >>> report = {"peer": "agreed", "protection": "lg", "peer_protection": "lg", "loop_us": 80.0,
    ...           "sealed": True, "receiver": {"data": 980, "lost": 20, "given_up": 0},
    ...           "from_lan": 7, "to_link": 9, "from_link": 990, "to_lan": 1000, "queue_dropped": 0}
    >>> report |= dict.fromkeys(_DROPS, 0)
    >>> ports = {side: {"missed": 0, "send_refused": 0} for side in ("lan", "link")}
    >>> for line in _described({"uptime_seconds": 60.0, "scheduling": "fifo", "ports": ports,
    ...                         "guards": {"guard": report}}):
    ...     print(line)
    up 60 s, scheduling fifo, frames sealed
    peer: agreed; this end protects by lg, the peer by lg, round trip 80 us
    LAN to link: 7 frames taken, 9 sent with repetitions and control frames; 0 dropped at the queue
    link to LAN: 990 frames taken, 1,000 handed on
    corrupted: 20 of 1,000 frames in 60 s (2.00e-02, 95 % between 1.2e-02 and 3.1e-02); 20 recovered,
    0 given up
    dropped: none
    """
    from lossylink.lab.events import agreement, corruption

    report, seconds = counters["guards"]["guard"], counters["uptime_seconds"]
    trust = "frames sealed" if report["sealed"] else "link trusted"
    lost = list(corruption(None, report, seconds=seconds))
    return [
        f"up {seconds:.0f} s, scheduling {counters['scheduling']}, {trust}",
        f"peer: {report['peer']}; {agreement(report)}",
        f"LAN to link: {report['from_lan']:,} frames taken, {report['to_link']:,} sent with repetitions and "
        f"control frames; {report['queue_dropped']:,} dropped at the queue",
        f"link to LAN: {report['from_link']:,} frames taken, {report['to_lan']:,} handed on",
        *(lost or ["corrupted: nothing that this end knows of"]),
        f"dropped: {_drops(report, counters['ports']) or 'none'}",
    ]


def _drops(report: dict[str, Any], ports: dict[str, dict[str, int]]) -> str:
    """Return what was dropped beside the queue, by its counter; nothing that is zero."""
    counted = {name: report[name] for name in _DROPS}
    for name in ("missed", "send_refused"):
        counted |= {f"{name} at {side}": port[name] for side, port in ports.items()}
    return ", ".join(f"{number:,} {name}" for name, number in counted.items() if number)
