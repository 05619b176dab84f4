"""``lossylink guard install``, ``uninstall`` and ``dashboard``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lossylink._package.resources import DASHBOARD
from lossylink.declared.protections import usages
from lossylink.errors import UserError

_Prefix = Annotated[Path, typer.Option(help="Folder in place of /, for packages and images.")]


def install(
    lan: Annotated[str | None, typer.Option(help="Interface of the protected network.")] = None,
    link: Annotated[str | None, typer.Option(help="Interface of the link that corrupts.")] = None,
    udp: Annotated[
        str | None, typer.Option(help="The guard at the far end of a path, PEER:PORT, in place of --link.")
    ] = None,
    tun: Annotated[str | None, typer.Option(help="Guard this host by a TUN, in place of --lan.")] = None,
    address: Annotated[str | None, typer.Option(help="Address of the TUN: 10.9.0.1/30.")] = None,
    protection: Annotated[
        str | None, typer.Option("--protection", "-p", help=f"{usages(live=True)}, with options.")
    ] = None,
    auto: Annotated[
        bool, typer.Option("--auto", help="Protect only while the link corrupts frames and that is worth it.")
    ] = False,
    rate: Annotated[str | None, typer.Option(help="Rate of the link.")] = None,
    mtu: Annotated[int | None, typer.Option(help="Largest IP packet of the LAN.")] = None,
    key_file: Annotated[Path | None, typer.Option(help="Secret of both guards; mode 600.")] = None,
    metrics: Annotated[str | None, typer.Option(help="Serve Prometheus text at ADDRESS:PORT.")] = None,
    name: Annotated[
        str | None, typer.Option(help="Name of the guard; its link, TUN or LAN if not given.")
    ] = None,
    prefix: _Prefix = Path("/"),
    shown: Annotated[bool, typer.Option("--print", help="Show the files and write nothing.")] = False,
) -> None:
    """Let systemd run guards: write the unit, and the configuration if there is none.

    A file that somebody has changed stays as it is, and what differs is shown. A unit that an earlier version
    wrote is renewed. The last lines are the commands that start the guard.

    Examples
    --------
        lossylink guard install --lan eth1 --link eth2 -p lg

        lossylink guard install --lan eth1 --link eth2 --auto

        lossylink guard install --tun over0 --address 10.9.0.1/30 --udp 192.0.2.7:5000 --key-file link.key

        lossylink guard install --print
    """
    from lossylink.linux.service.installing import Wanted, install_files, show_files

    if auto and protection is not None:
        raise UserError("--auto chooses the protection: leave --protection out")
    values = {
        "lan": lan,
        "link": link,
        "udp": udp,
        "tun": tun,
        "address": address,
        "protection": protection,
        "auto": auto or None,
        "rate": rate,
        "mtu": mtu,
        "key_file": None if key_file is None else str(key_file.absolute()),
        "metrics": metrics,
    }
    wanted = Wanted.of(name, {key: value for key, value in values.items() if value is not None})
    for line in (show_files if shown else install_files)(wanted, prefix):
        print(line)


def uninstall(prefix: _Prefix = Path("/")) -> None:
    """Remove what ``install`` wrote; a file that somebody has changed stays.

    Examples
    --------
        lossylink guard uninstall
    """
    from lossylink.linux.service.installing import uninstall_files

    for line in uninstall_files(prefix):
        print(line)


def dashboard() -> None:
    """Print a dashboard of guards that Prometheus scrapes, for Grafana to import.

    Examples
    --------
        lossylink guard dashboard
    """
    print(DASHBOARD.read_text(encoding="utf-8"), end="")
