"""``lossylink list``, ``keys`` and ``explain``: what there is, and what a word means."""

from __future__ import annotations

from collections.abc import Iterable

import click
from rich.console import Console

from lossylink.cli.options.declaring import Command, argument
from lossylink.declared.experiments import all_experiments, experiment_named
from lossylink.declared.protections import spellings
from lossylink.results.drawn import Drawn, new_console, show
from lossylink.results.screen import Grid
from lossylink.scenario.explaining import explain as meanings_of
from lossylink.scenario.keys import keys_of
from lossylink.scenario.loss import USAGES
from lossylink.scenario.models import SECTIONS
from lossylink.scenario.packaged import packaged, title_of
from lossylink.scenario.section import keys_in


@click.command("list", cls=Command)
def listing() -> None:
    """List the experiments, the scenarios that come with lossylink, the protections and the loss models.

    Examples
    --------
        lossylink list
    """
    _group("Experiments: lossylink run NAME", ((one.name, one.summary) for one in all_experiments().values()))
    _group("Scenarios: lossylink run NAME", ((name, title_of(path)) for name, path in packaged().items()))
    _group("Protections: --protection NAME", ((one.usage, one.meaning) for _, one in spellings()))
    _group("Loss models: --set loss.forward=...", USAGES.items())


@click.command("keys", cls=Command)
@argument("experiment", default="", help="Only those that it takes.")
def keys(experiment: str) -> None:
    """List the keys of a scenario: what --set, --grid and a scenario file take.

    Examples
    --------
        lossylink keys

        lossylink keys tcp-fct
    """
    taken = keys_of(experiment_named(experiment)) if experiment else None
    for section, model in SECTIONS.items():
        fields = [
            (f"{section}.{name}", key.meaning)
            for name, key in keys_in(model).items()
            if taken is None or f"{section}.{name}" in taken
        ]
        if fields:
            _group(f"[{section}]", fields)


@click.command("explain", cls=Command)
@argument("word", help="A protection, a key, an experiment, a check, a verdict, a term.")
def explain(word: str) -> None:
    """Say what a word means, wherever it is used.

    Examples
    --------
        lossylink explain lg-nb

        lossylink explain fct_us_p99_9

        lossylink explain ackNoTimeout
    """
    console = Console(highlight=False, soft_wrap=True)
    for meaning in meanings_of(word):
        console.print(f"[bold]{meaning.word}[/bold] ({meaning.of}): {meaning.text}", markup=True)
        for line in meaning.more:
            console.print(f"    {line}", markup=False)


def _group(title: str, pairs: Iterable[tuple[str, str]]) -> None:
    lines = list(pairs)
    styles = dict.fromkeys((name for name, _ in lines), "bold")
    show(new_console(), title, Drawn(Grid([], lines, has_sentences=True, styles=styles)), "")
