"""Command lines that are carried out without Typer: the version, and a run that needs no help.

Typer and what it loads take longer than a short run. Python's argparse takes a tenth of that. Typer has the
help and the complaints: what argparse does not understand goes to Typer. A test holds the options of both
equal.
"""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, HelpFormatter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from lossylink import _native
from lossylink.cli.running import carry_out


def carried_out_quickly(arguments: Sequence[str]) -> bool:
    """Carry a command line out if it needs no help; tells whether it did."""
    match list(arguments):
        case ["--version"]:
            show_version()
        case ["run", *words] if (options := read(words)) is not None:
            carry_out(**options)
        case _:
            return False
    return True


def show_version() -> None:
    """Print the version, and the commit of the compiled simulator."""
    print(f"lossylink {_native.version()} ({_native.commit()})")


def read(words: Sequence[str]) -> dict[str, Any] | None:
    """Return what the words of ``lossylink run`` say, by the names that `carry_out` has; nothing for others.

    Examples
    --------
    >>> read(["stress", "-p", "lg", "--json"])
    {'experiment': 'stress', 'protection': ['lg'], 'as_json': True}
    >>> read(["stress", "--jsno"]) is None
    True
    """
    try:
        return vars(parser().parse_args(words))
    except _StrangeWordsError:
        return None


def parser() -> ArgumentParser:
    """Return the parser of what follows ``lossylink run``; an option that is not given leaves no name."""
    # With its width a formatter, which argparse makes for each option, does not look for a terminal.
    formatter = partial(HelpFormatter, width=80)
    run = _Parser(add_help=False, allow_abbrev=False, argument_default=SUPPRESS, formatter_class=formatter)
    run.add_argument("experiment")
    run.add_argument("--protection", "-p", action="append")
    run.add_argument("--set", "-s", action="append", dest="settings")
    run.add_argument("--seed", type=int)
    run.add_argument("--json", action="store_true", dest="as_json")
    run.add_argument("--all", action="store_true", dest="every_key")
    run.add_argument("--csv", action="store_true", dest="with_csv")
    run.add_argument("--output", "-o", type=Path)
    run.add_argument("--replace", action="store_true")
    run.add_argument("--strict", action="store_true")
    run.add_argument("--pcap")
    run.add_argument("--state-at", action="append")
    run.add_argument("--trap")
    run.add_argument("--rare", action="store_true")
    run.add_argument("--threads", type=int)
    run.add_argument("--backend")
    return run


class _StrangeWordsError(Exception):
    """Words that argparse does not understand; Typer says what is wrong with them."""


class _Parser(ArgumentParser):
    """Raises where argparse would print what is wrong and end the process."""

    def error(self, message: str) -> NoReturn:
        raise _StrangeWordsError(message)
