"""``lossylink run``: its options and its help; `lossylink.cli.runs.running` carries it out."""

from __future__ import annotations

from typing import Any

import click

from lossylink.cli.options.declaring import Command, argument, flag, option
from lossylink.cli.options.kinds import PATH, WHOLE
from lossylink.cli.runs.running import carry_out
from lossylink.declared.backend import backend_names
from lossylink.declared.experiments import all_experiments
from lossylink.declared.protections import usages
from lossylink.scenario.packaged import packaged, title_of


def _experiments_and_scenarios() -> str:
    experiments = [f"`{one.name}`: {one.summary}" for one in all_experiments().values()]
    scenarios = [f"`{name}`: {title_of(path)}" for name, path in packaged().items()]
    return "\n\n".join(["Experiments:", *experiments, "Scenarios:", *scenarios])


@click.command("run", cls=Command, below=_experiments_and_scenarios)
@argument("experiment", help="An experiment (stress, tcp-fct, ...) or a scenario FILE.toml.")
@option(
    "--protection", "-p", multiple=True, help=f"{usages()}, with options as in lg:copies=3; repeat for more."
)
@option("--set", "-s", "settings", multiple=True, metavar="KEY=VALUE", help="Set a key; repeat for more.")
@option("--seed", kind=WHOLE, help="Decides every random draw.")
@flag("--json", "as_json", help="Print one JSON object and keep no files.")
@flag("--all", "every_key", help="Show every figure, by its key.")
@flag("--csv", "with_csv", help="Keep rows and tables as CSV, too.")
@option("--output", "-o", kind=PATH, help="Run directory; runs/EXPERIMENT-TIME-HASH when not given.")
@flag("--replace", help="Take the place of another result in --output; your own files stay.")
@flag("--strict", help="Fail when a methodology check fails.")
@option("--pcap", metavar="HOP=FILE", help="Record a hop, e.g. sw2-sw6=link.pcapng.")
@option(
    "--state-at",
    multiple=True,
    metavar="TIME",
    help="Show the state of the link's two ends at this simulated time; repeat for more.",
)
@option("--trap", help="mathis: percent, duration, queue, timestamps, mtu or offload, naive and corrected.")
@flag("--rare", help="stress: find losses too rare to count, by importance sampling.")
@option("--threads", kind=WHOLE, help="Threads; all cores when not given.")
@option("--backend", help=f"{' or '.join(backend_names())}.")
def command(experiment: str, **options: Any) -> None:
    """Run one experiment and show a row for each protection.

    Examples
    --------
        lossylink run stress --protection lg --set traffic.packets=1_000_000

        lossylink run tcp-fct -p none -p lg --set loss.forward=1% --set flow.trials=2000 --json

        lossylink run stress -p lg --set traffic.packets=100_000 --state-at 1ms --state-at 5ms

        lossylink run my-link.toml --seed 7 --output results/my-link

        lossylink run stress --rare -p lg -p lg-nb -p llr -p fec:25/5 --set loss=1e-3
    """
    carry_out(experiment, **options)
