"""Declarations of commands: which words mean what, bounds of numbers, and that no other command is loaded."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from lossylink.cli.app import app
from lossylink.cli.options.declaring import Command, Homes, argument, flag, option
from lossylink.cli.options.kinds import real, whole

from .conftest import Ended

Run = Callable[..., Ended]

#: The options of ``lossylink run``, none of them given.
NOT_GIVEN: dict[str, Any] = (
    dict.fromkeys(("protection", "settings", "state_at"), ())
    | dict.fromkeys(("as_json", "every_key", "with_csv", "replace", "strict", "rare"), False)
    | dict.fromkeys(("seed", "output", "pcap", "trap", "threads", "backend"))
)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (
            "stress -p lg -plg-nb --set loss=1e-3 --set=seed=2 --seed 7 --json",
            {"protection": ("lg", "lg-nb"), "settings": ("loss=1e-3", "seed=2"), "seed": 7, "as_json": True},
        ),
        (
            "--rare stress --threads=2 --output kept --state-at 1ms --state-at 5ms",
            {"rare": True, "threads": 2, "output": Path("kept"), "state_at": ("1ms", "5ms")},
        ),
        (
            "stress --trap queue --backend sim --all --csv --strict --pcap a=b",
            {
                "trap": "queue",
                "backend": "sim",
                "every_key": True,
                "with_csv": True,
                "strict": True,
                "pcap": "a=b",
            },
        ),
        ("--json -- stress", {"as_json": True}),
        ("stress --seed 1.0", {"seed": 1}),
    ],
)
def test_words_of_run_mean_options(
    words: str, meant: dict[str, Any], command: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[dict[str, Any]] = []

    def hear(experiment: str, **options: Any) -> None:
        heard.append({"experiment": experiment} | options)

    monkeypatch.setattr("lossylink.cli.runs.run.carry_out", hear)
    assert command("run", *words.split()).code == 0
    assert heard == [{"experiment": "stress"} | NOT_GIVEN | meant]


@pytest.mark.parametrize(
    "words", ["stress --sed 1", "stress --see 1", "stress more", "stress --json=yes", "stress --seed", ""]
)
def test_strange_words_of_run_are_refused(words: str, command: Run) -> None:
    ended = command("run", *words.split())
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert "see `lossylink" in ended.err


@pytest.mark.parametrize(
    ("kind", "text", "found"),
    [
        (whole(least=1, most=3), "1", 1),
        (whole(least=1, most=3), "3", 3),
        (whole(), "1_000", 1000),
        (whole(), "2.00", 2),
        (real(least=0.1), "0.1", 0.1),
    ],
)
def test_a_number_within_its_bounds_is_taken(kind: click.ParamType[Any], text: str, found: float) -> None:
    assert kind.convert(text, None, None) == found


@pytest.mark.parametrize(
    ("kind", "text", "mistake"),
    [
        (whole(), "1.5", "Input should be a valid integer, unable to parse string as an integer"),
        (whole(), "1e3", "Input should be a valid integer, unable to parse string as an integer"),
        (whole(least=1, most=3), "0", "Input should be greater than or equal to 1"),
        (whole(least=1, most=3), "4", "Input should be less than or equal to 3"),
        (real(), "x", "Input should be a valid number, unable to parse string as a number"),
        (real(least=1e-9), "0", "Input should be greater than or equal to 0.000000001"),
        (real(least=0.1), "nan", "Input should be greater than or equal to 0.1"),
    ],
)
def test_another_number_is_refused(kind: click.ParamType[Any], text: str, mistake: str) -> None:
    with pytest.raises(click.BadParameter) as refused:
        kind.convert(text, None, None)
    assert refused.value.message == mistake


def test_a_page_of_help_shows_kinds_bounds_values_and_what_has_to_be_given() -> None:
    @click.command("try", cls=Command, below=lambda: "Stands `below`.")
    @argument("place", help="Where.")
    @option("--count", "-c", kind=whole(least=1, most=9), default=3, help="How many.")
    @option("--word", multiple=True, help="Which.")
    @option("--level", kind=click.Choice(["low", "high"]), help="How high.")
    @flag("--tidy/--no-tidy", default=True, help="Whether.")
    @option("--secret", hidden=True)
    def attempt(**_: object) -> None:
        """Try something."""

    page = attempt.get_help(click.Context(attempt, info_name="try"))
    lines = [" ".join(line.strip("│ ").split()) for line in page.splitlines()]
    for line in (
        *("Usage: try [OPTIONS] {place}", "Try something.", "* place <str> Where.", "[required]"),
        *("--count -c <int range> [1<=x<=9] How many.", "[default: 3]", "--word <list[str]> Which."),
        *(
            "--level <low|high> How high.",
            "--tidy --no-tidy <bool> Whether.",
            "[default: tidy]",
            "Stands below.",
        ),
    ):
        assert line in lines
    assert "secret" not in page


def test_a_command_is_imported_when_it_is_asked_for() -> None:
    homes = Homes({"decoder": "json:JSONDecoder", "absent": "nowhere:nothing"})
    assert list(homes) == ["decoder", "absent"]
    assert homes["decoder"].__module__ == "json.decoder"
    with pytest.raises(ModuleNotFoundError):
        homes["absent"]


def test_no_other_command_is_loaded() -> None:
    probe = (
        "import sys\n"
        "from lossylink.cli import run_command_line\n"
        "code = run_command_line(['keys', 'stress'])\n"
        "names = ('lab', 'guard', 'sweep', 'plan', 'run')\n"
        "others = {f'lossylink.cli.{name}' for name in names} & sys.modules.keys()\n"
        "sys.exit(f'{code}: imported {sorted(others)}' if code or others else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_command_has_the_name_under_which_it_is_found() -> None:
    assert [one.name for one in app.commands.values()] == list(app.commands)
