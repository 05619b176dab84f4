"""What commands print and write: the JSON contract, run directories, help, and how heavy a start is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest

from lossylink.cli.exits import INTERRUPTED

from .conftest import Ended
from .fake_simulator import simulations_by

Command = Callable[..., Ended]
SMALL = ("--set", "traffic.packets=20_000", "--seed", "3")
#: What a short run does without.
HEAVY = {
    *("numpy", "matplotlib", "scipy", "polars", "jinja2", "email"),
    *("pydantic", "rich", "dataclasses", "importlib.metadata", "hashlib", "logging"),
    *("lossylink.cli.lab", "lossylink.cli.runs.sweep", "lossylink.planning.link"),
}


def test_json_is_one_object_with_the_keys_of_the_contract(command: Command, tmp_path: Path) -> None:
    ended = command("run", "stress", *SMALL, "--json", "--set", "loss=1e-3")
    assert ended.code == 0
    summary = json.loads(ended.out)
    assert ended.out.count("\n") == 1
    assert {"experiment", "backend", "version", "seed", "wall_seconds", "scenario", "rows"} <= summary.keys()
    assert (summary["experiment"], summary["backend"], summary["seed"]) == ("stress", "sim", 3)
    assert [row["protection"] for row in summary["rows"]] == ["lg", "lg-nb"]
    assert "loss 0.001 = 0.1 %" in ended.err
    assert not list(tmp_path.iterdir()), "--json keeps no files"


def test_the_run_directory_holds_everything(command: Command, tmp_path: Path) -> None:
    ended = command("run", "tcp-fct", "--set", "flow.trials=20", "--protection", "lg", "--output", "kept")
    assert ended.code == 0, ended.err
    kept = tmp_path / "kept"
    summary = json.loads((kept / "summary.json").read_text())
    manifest = json.loads((kept / "manifest.json").read_text())
    trials = polars.read_parquet(kept / "trials.parquet")
    assert summary["rows"][0]["trials"] == trials.height == 20
    assert set(trials["protection"]) == {"lg"}
    assert manifest["seed"] == summary["seed"]
    assert manifest["versions"]["lossylink"] == summary["version"]
    assert manifest["machine"]["cores"] >= 1
    assert "loss 0.0009994507 = 0.09994507 %" in ended.out
    again = command("run", str(kept / "scenario.toml"), "--json")
    assert _deterministic(json.loads(again.out)["rows"]) == _deterministic(summary["rows"])


def _deterministic(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    return [{key: value for key, value in row.items() if key != "packets_per_wall_second"} for row in rows]


def test_a_run_replaces_an_earlier_run_whole(command: Command, tmp_path: Path) -> None:
    assert command("run", "tcp-fct", "--set", "flow.trials=5", "-p", "lg", "--output", "kept").code == 0
    assert command("run", "stress", *SMALL, "-p", "lg", "--output", "kept", "--replace").code == 0
    assert json.loads((tmp_path / "kept" / "summary.json").read_text())["experiment"] == "stress"
    assert not (tmp_path / "kept" / "trials.parquet").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["kept"], "staging directories are gone"


def test_the_default_directory_names_the_experiment(command: Command, tmp_path: Path) -> None:
    assert command("run", "stress", *SMALL, "-p", "none").code == 0
    (directory,) = (tmp_path / "runs").iterdir()
    assert directory.name.startswith("stress-")


def test_a_failing_write_leaves_nothing(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("lossylink.results.directory.write_json", full)
    ended = command("run", "stress", *SMALL, "-p", "none", "--output", "kept")
    assert ended.code == 2
    assert "No space left on device" in ended.err
    assert not list(tmp_path.iterdir())


def test_version(command: Command) -> None:
    from lossylink import __version__, _native

    assert command("--version").out == f"lossylink {__version__} ({_native.commit()})\n"


def test_help_and_import_load_nothing_heavy() -> None:
    probe = (
        "import sys, lossylink\n"
        "from lossylink.cli import run_command_line\n"
        "run_command_line(['run', '--help'])\n"
        "heavy = {'polars', 'numpy', 'matplotlib', 'scipy', 'jinja2'} & sys.modules.keys()\n"
        "sys.exit(f'imported {sorted(heavy)}' if heavy else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_keeps_what_had_finished(asked: signal.Signals, tmp_path: Path) -> None:
    """A real process gets a signal in a simulation that is far too long to end."""
    words = ["run", "stress", "-p", "lg", "--set", "traffic.packets=1_000_000_000_000", "--output", "kept"]
    with subprocess.Popen(
        [sys.executable, "-m", "lossylink", *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
        # A shell that runs the tests in the background has them ignore SIGINT, and so would the process.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith("stress: link 100Gbps")
        time.sleep(0.5)
        process.send_signal(asked)
        assert process.wait(timeout=30) == INTERRUPTED
        errors = process.stderr.read()
    assert "interrupted: kept what had finished in kept: lg (" in errors
    assert "Traceback" not in errors
    summary = json.loads((tmp_path / "kept" / "summary.json").read_text())
    assert summary["interrupted"] is True
    assert 0 < summary["rows"][0]["packets_sent"] < 10**12


def test_doctor_finds_something_to_say(command: Command) -> None:
    findings = json.loads(command("doctor", "--json").out)["findings"]
    assert {"what", "state", "found", "mend"} == findings[0].keys()
    assert all(finding["mend"] for finding in findings if finding["state"] == "missing")
    assert "simulator" in command("doctor").out


@pytest.mark.parametrize(
    ("experiment", "settings"),
    [
        ("stress", ["traffic.packets=1000"]),
        # Long enough: to say how long a run has to last takes numpy.
        ("throughput", ["run.duration=0.2s", "run.warmup=0s", "run.cooldown=0s", "loss=1%"]),
        ("tcp-fct", ["flow.trials=100"]),
        ("rdma-fct", ["flow.trials=100"]),
        ("workload", ["flow.trials=100"]),
    ],
)
def test_a_run_loads_little(experiment: str, settings: list[str], tmp_path: Path) -> None:
    """Numpy, scipy and polars take half a second, more than such a run itself; nor do other commands load.

    Garbage is not looked for.
    """
    set_words = [word for setting in settings for word in ("--set", setting)]
    words = ["lossylink", "run", experiment, *set_words, "--output", str(tmp_path / "run")]
    probe = (
        "import gc, sys\n"
        "from lossylink.__main__ import main\n"
        f"sys.argv = {words!r}\n"
        "before = [one['collections'] for one in gc.get_stats()]\n"
        "code = main()\n"
        "collections = [one['collections'] for one in gc.get_stats()]\n"
        "own = [name for name in sys.modules if name.startswith('lossylink')]\n"
        f"heavy = sorted({HEAVY!r} & sys.modules.keys())\n"
        "wrong = code or heavy or collections != before or len(own) > 108 or len(sys.modules) > 276\n"
        "words = f'imported {heavy}, {len(own)} and {len(sys.modules)} modules; collected {collections}'\n"
        "sys.exit(f'{code}: {words}' if wrong else 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_a_run_in_which_nothing_finished_leaves_nothing(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C before the first row: one line, the exit code of an interrupt, no directory."""

    def stopped(*_: object) -> dict[str, Any]:
        raise KeyboardInterrupt

    monkeypatch.setattr("lossylink._native.Simulation", simulations_by(stopped))
    ended = command("run", "tcp-fct", "--set", "flow.trials=10", "--output", "kept")
    assert ended.code == INTERRUPTED
    assert "interrupted" in ended.err
    assert not list(tmp_path.iterdir())
