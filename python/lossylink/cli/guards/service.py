"""``lossylink guard install``, ``uninstall`` and ``dashboard``."""

from __future__ import annotations

from pathlib import Path

import click

from lossylink._package.resources import DASHBOARD
from lossylink.cli.options.declaring import Command, flag, option
from lossylink.cli.options.kinds import PATH, WHOLE
from lossylink.declared.protections import usages
from lossylink.errors import UserError

_prefix_option = option(
    "--prefix", kind=PATH, default=Path("/"), help="Folder in place of /, for packages and images."
)


@click.command("install", cls=Command)
@option("--lan", help="Interface of the protected network.")
@option("--link", help="Interface of the link that corrupts.")
@option("--udp", help="The guard at the far end of a path, PEER:PORT, in place of --link.")
@option("--tun", help="Guard this host by a TUN, in place of --lan.")
@option("--address", help="Address of the TUN: 10.9.0.1/30.")
@option("--protection", "-p", help=f"{usages(live=True)}, with options.")
@flag("--auto", help="Protect only while the link corrupts frames and that is worth it.")
@option("--rate", help="Rate of the link.")
@option("--mtu", kind=WHOLE, help="Largest IP packet of the LAN.")
@option("--key-file", kind=PATH, help="Secret of both guards; mode 600.")
@option("--metrics", help="Serve Prometheus text at ADDRESS:PORT.")
@option("--name", help="Name of the guard; its link, TUN or LAN if not given.")
@_prefix_option
@flag("--print", "shown", help="Show the files and write nothing.")
def install(
    lan: str | None,
    link: str | None,
    udp: str | None,
    tun: str | None,
    address: str | None,
    protection: str | None,
    auto: bool,
    rate: str | None,
    mtu: int | None,
    key_file: Path | None,
    metrics: str | None,
    name: str | None,
    prefix: Path,
    shown: bool,
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


@click.command("uninstall", cls=Command)
@_prefix_option
def uninstall(prefix: Path) -> None:
    """Remove what ``install`` wrote; a file that somebody has changed stays.

    Examples
    --------
        lossylink guard uninstall
    """
    from lossylink.linux.service.installing import uninstall_files

    for line in uninstall_files(prefix):
        print(line)


@click.command("dashboard", cls=Command)
def dashboard() -> None:
    """Print a dashboard of guards that Prometheus scrapes, for Grafana to import.

    Examples
    --------
        lossylink guard dashboard
    """
    print(DASHBOARD.read_text(encoding="utf-8"), end="")
