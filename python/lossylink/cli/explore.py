"""``lossylink explore``: the simulator in a browser, served to this machine alone."""

from __future__ import annotations

import threading
import webbrowser
from collections.abc import Sequence
from typing import Any

import click

from lossylink._package.resources import PAGE
from lossylink.cli.options.declaring import Command, argument, flag, option
from lossylink.cli.options.kinds import whole
from lossylink.cli.runs.running import parse_settings
from lossylink.errors import UserError
from lossylink.planning.explorer.catalogue import as_text, catalogue
from lossylink.planning.explorer.given import Given
from lossylink.planning.explorer.serving import PageServer, require_page


@click.command("explore", cls=Command)
@argument(
    "scenario",
    default=None,
    help="An experiment (tcp-fct, stress, ...) or a scenario FILE.toml, from which the knobs start.",
)
@option("--set", "-s", "settings", multiple=True, metavar="KEY=VALUE", help="As in run; repeat for more.")
@option("--port", kind=whole(least=0, most=65_535), default=0, help="Port to serve at; 0 takes a free one.")
@flag("--no-browser", help="Print the address and open nothing.")
@flag("--folder", "shows_folder", help="Print where the page lies, and end: it needs no server.")
def command(
    scenario: str | None, settings: Sequence[str], port: int, no_browser: bool, shows_folder: bool
) -> None:
    """Move a link, its loss and its protections in a browser, and see what becomes of the flows.

    The simulator runs in the page. Nothing leaves this machine: the page is served at 127.0.0.1 until Ctrl-C.

    What a scenario sets and no knob of the page moves stays in force.

    Examples
    --------
        lossylink explore

        lossylink explore my-link.toml --port 8000 --no-browser

        lossylink explore tcp-fct --set link.rate=25G --set host.profile=ideal

        lossylink explore --folder
    """
    if shows_folder:
        print(require_page(PAGE))
        return
    if settings and scenario is None:
        raise UserError(
            "--set changes a scenario; name one, for instance lossylink explore tcp-fct --set ..."
        )
    require_page(PAGE)
    served = as_text(None if scenario is None else _catalogue(scenario, parse_settings(settings)))
    with PageServer(PAGE, port=port, made={"catalogue.json": served}) as server:
        print(f"the explorer is at {server.address} until Ctrl-C", flush=True)
        if not no_browser:
            # A browser of the terminal takes the call until it ends.
            threading.Thread(target=webbrowser.open, args=(server.address,), daemon=True).start()
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print("the explorer is closed")


def _catalogue(scenario: str, settings: dict[str, str]) -> dict[str, Any]:
    """Return the catalogue with a scenario under its knobs."""
    return catalogue(Given.of(scenario, settings), planned=())
