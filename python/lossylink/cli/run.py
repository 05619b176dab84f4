"""``lossylink run`` as Typer knows it: the options and the help; `lossylink.cli.running` carries it out."""

from pathlib import Path
from typing import Annotated

import typer  # reads annotations as they stand: postponed ones would be compiled anew for each parameter

from lossylink.cli.running import carry_out
from lossylink.declared.backend import backend_names
from lossylink.declared.protections import usages


def command(
    experiment: Annotated[
        str, typer.Argument(help="An experiment (stress, tcp-fct, ...) or a scenario FILE.toml.")
    ],
    protection: Annotated[
        list[str] | None,
        typer.Option(
            "--protection", "-p", help=f"{usages()}, with options as in lg:copies=3; repeat for more."
        ),
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", "-s", metavar="KEY=VALUE", help="Set a key; repeat for more.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Decides every random draw.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and keep no files.")] = False,
    every_key: Annotated[bool, typer.Option("--all", help="Show every figure, by its key.")] = False,
    with_csv: Annotated[bool, typer.Option("--csv", help="Keep rows and tables as CSV, too.")] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Run directory; runs/EXPERIMENT-TIME-HASH when not given."),
    ] = None,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Take the place of another result in --output; your own files stay."),
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Fail when a methodology check fails.")] = False,
    pcap: Annotated[
        str | None, typer.Option(metavar="HOP=FILE", help="Record a hop, e.g. sw2-sw6=link.pcapng.")
    ] = None,
    state_at: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TIME",
            help="Show the state of the link's two ends at this simulated time; repeat for more.",
        ),
    ] = None,
    trap: Annotated[
        str | None,
        typer.Option(
            help="mathis: percent, duration, queue, timestamps, mtu or offload, naive and corrected."
        ),
    ] = None,
    rare: Annotated[
        bool, typer.Option("--rare", help="stress: find losses too rare to count, by importance sampling.")
    ] = False,
    threads: Annotated[int | None, typer.Option(help="Threads; all cores when not given.")] = None,
    backend: Annotated[str | None, typer.Option(help=f"{' or '.join(backend_names())}.")] = None,
) -> None:
    """Run one experiment and show a row for each protection.

    Examples
    --------
        lossylink run stress --protection lg --set traffic.packets=1_000_000

        lossylink run tcp-fct -p none -p lg --set loss.forward=1% --set flow.trials=2000 --json

        lossylink run stress -p lg --set traffic.packets=100_000 --state-at 1ms --state-at 5ms

        lossylink run my-link.toml --seed 7 --output results/my-link

        lossylink run stress --rare -p lg -p lg-nb -p llr -p fec:25/5 --set loss=1e-3
    """
    carry_out(
        experiment,
        protection=protection,
        settings=settings,
        seed=seed,
        as_json=as_json,
        every_key=every_key,
        with_csv=with_csv,
        output=output,
        replace=replace,
        strict=strict,
        pcap=pcap,
        state_at=state_at,
        trap=trap,
        rare=rare,
        threads=threads,
        backend=backend,
    )
