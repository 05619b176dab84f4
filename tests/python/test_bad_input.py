"""A user's mistakes on the command line: one line on stderr, exit code 2, nothing half-written."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lossylink.cli.exits import FAILED, MISTAKE

from .conftest import Ended

Command = Callable[..., Ended]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("run", "stess"), "did you mean 'stress'"),
        (("run", "fct"), "did you mean 'tcp-fct'?"),
        (
            ("run", "stress", "-p", "lg,none"),
            "'lg,none' names 2 protections; write one at a time: -p lg -p none",
        ),
        (
            ("run", "stress", "-p", "lg,tail=off"),
            "'lg,tail=off' has an option outside a protection; options follow a colon",
        ),
        (
            ("sweep", "stress", "-g", "protection=none,lg:copies=3,tail=off"),
            "'tail=off' has an option outside a protection",
        ),
        (("run", "stress", "--loss", "1e-3"), "No such option: --loss; write --set loss=VALUE"),
        (("run", "stress", "--nothing"), "see `lossylink run --help`"),
        (("run", "nowhere.toml"), "cannot read nowhere.toml: No such file"),
        (("run", "stress", "--protection", "lq"), "unknown protection 'lq'; did you mean 'lg'"),
        (
            ("run", "stress", "--protection", "linkguardian"),
            "unknown protection 'linkguardian'; did you mean 'lg'?",
        ),
        (("run", "stress", "--protection", "LinkGaurdian:copies=2"), "did you mean 'lg'?"),
        (("run", "stress", "--protection", "linkguardian-nb"), "did you mean 'lg-nb'?"),
        (("run", "stress", "--protection", "reed-solomon:25/5"), "did you mean 'fec'?"),
        (("run", "stress", "--protection", "link-level-retry"), "did you mean 'llr'?"),
        (("run", "stress", "--protection", "off"), "did you mean 'none'?"),
        (("plan", "--switch", "tofino"), "did you mean 'tofino1'?"),
        (("reproduce", "--only", "figure11"), "for 'figure11' write --only tcp-fct,rdma-fct"),
        (("reproduce", "--only", "Fig. 14"), "for 'Fig. 14' write --only stress"),
        (("reproduce", "--only", "table3"), "for 'table3' write --only throughput"),
        (("reproduce", "--only", "figure99"), "unknown published experiment"),
        (("sweep", "stress", "-g", "losss=1e-3"), "unknown key 'losss'; did you mean 'loss'?"),
        (("sweep", "stress", "-g", "protections=lg,none"), "did you mean 'protection'?"),
        (("run", "stress", "--set", "seeds=3"), "did you mean 'seed'?"),
        (("run", "stress", "--backend", "simulator"), "did you mean 'sim'?"),
        (("run", "tcp-fct", "--set", "congestion_control=bbrv3"), "did you mean 'bbr3'?"),
        (("virtual", "--control", "newreno", "--", "true"), "did you mean 'reno'?"),
        (("run", "stress", "--set", "traffic.source=saturate"), "did you mean 'saturated'?"),
        (("run", "mathis", "--trap", "percents"), "unknown trap 'percents'; did you mean 'percent'?"),
        (("run", "stress", "--protection", "fec:0/1"), "1 to 128 data frames"),
        (("run", "stress", "--set", "link.rat=10G"), "did you mean 'link.rate'"),
        (("run", "stress", "--set", "flow.size=10"), "stress does not use 'flow.size'"),
        (("run", "stress", "--set", "link.rate=10parsec"), "unknown unit 'parsec'"),
        (("run", "stress", "--set", "link.rate"), "write KEY=VALUE"),
        (("run", "stress", "--set", "=1"), "write KEY=VALUE"),
        (("run", "stress", "--set", "rate=1G", "--set", "rate=2G"), "given twice"),
        (("run", "stress", "--set", "rate=1G", "--set", "link.rate=2G"), "set twice"),
        (("run", "stress", "--set", "loss.forward=1.5"), "% or a ratio?"),
        (("run", "stress", "--set", "loss=15.66"), "15.66 % or a ratio?"),
        (("run", "stress", "--set", "loss=at:1\n2"), "'1 2' is no frame index"),
        (("run", "stress", "--set", "loss.forward=-0.1"), "is negative"),
        (("run", "stress", "--set", "loss.forward=nan"), "not a loss ratio"),
        (("run", "stress", "--set", "loss.reverse=inf"), "not a loss ratio"),
        (("run", "tcp-fct", "--set", "flow.trials=0"), "is zero"),
        (("run", "stress", "--set", "traffic.frame=9000"), "larger than the MTU allows"),
        (("run", "tcp-fct", "--set", "congestion_control=vegas"), "valid: 'reno', 'cubic', 'dctcp'"),
        (("run", "rdma-fct", "--set", "transport.mtu=1000"), "RDMA has no MTU '1000'; valid: 256, 512, 1024"),
        (("run", "throughput", "--set", "congestion_control=vegas"), "'bbr', 'bbr3'"),
        (("run", "rdma-fct", "--set", "transport.recovery=magic"), "valid: 'go-back-n', 'selective-repeat'"),
        (
            ("run", "stress", "--set", "switch.resume=50KB", "--set", "switch.pause=40KB"),
            "switch: resume at 50000 B is not below pause at 40000 B; lower it",
        ),
        (("run", "timeline", "--set", "timeline.protection=0.5s"), "comes before timeline.corruption"),
        (
            ("run", "timeline", "--set", "timeline.corruption_end=1s"),
            "does not come after timeline.corruption",
        ),
        (("run", "timeline", "--set", "timeline.protection=soon"), "timeline.protection"),
        (
            ("run", "timeline", "--set", "timeline.protection=auto", "--set", "monitor.window=1000"),
            "monitor: a window of 1000 frames can never show a loss below 5e-6",
        ),
        (("run", "stress", "--set", "switch.marking_min=300KB"), "is not below switch.marking_max 240000 B"),
        (("run", "workload", "--pcap", "sw2-sw6=x.pcapng", "-p", "lg"), "take one of stress, tcp-fct"),
        (("run", "stress", "--seed", "-1"), "seed = -1"),
        (("run", "stress", "--seed", "1.5"), "should be a valid integer"),
        (("run", "stress", "--threads", "0"), "is zero"),
        (("run", "stress", "--backend", "moon"), "valid: kernel, live, sim"),
        (("run", "stress", "--pcap", "link.pcapng", "-p", "lg"), "write HOP=FILE"),
        (("run", "stress", "--pcap", "sw2-sw6=x.pcapng"), "choose one protection"),
        (
            ("run", "stress", "--pcap", "sw2-sw6=/nowhere/x.pcapng", "-p", "lg"),
            "cannot write /nowhere/x.pcapng",
        ),
        (("run", "stress", "--output", "/proc/nowhere"), "cannot write to /proc/nowhere"),
        (("run", "stress", "--sed", "1"), "No such option: --sed"),
        (("run",), "Missing argument"),
        (("rnu",), "Did you mean 'run'"),
        (("sweep", "stress", "--grid", "loss.forward"), "write KEY=A,B"),
        (("sweep", "stress", "--grid", "loss=,"), "write KEY=A,B"),
        (("sweep", "stress", "--grid", "loss=1e-3,2"), "2 % or a ratio?"),
        (("sweep", "stress", "--grid", "seed=1,x"), "not a whole number"),
        (("sweep", "stress", "--grid", "loss=1e-3", "--output", "/proc/nowhere"), "cannot write to"),
        (("sweep", "stress"), "write --grid KEY=A,B"),
        (("sweep", "stress", "--zip", "loss=1e-3,1e-2", "--zip", "seed=1,2,3"), "seed has 3"),
        (
            ("sweep", "stress", "--grid", "seed=1", "--zip", "seed=1"),
            "the key seed is in the grid and zipped",
        ),
        (("sweep", "stress", "--grid", "seed=9..1"), "counts whole numbers upward"),
        (("sweep", "stress", "--grid", "loss=1e-6..1e-2:lag9"), "log or lin, not lag"),
        (("sweep", "stress", "--grid", "loss=0..1e-2:log9"), "are above 0"),
        (("sweep", "stress", "--grid", "link.rate=25G..100M:lin4"), "the same unit"),
        (("sweep", "stress", "--grid", "loss=@nowhere"), "cannot read nowhere: No such file"),
        (("sweep", "stress", "--grid", "loss=1e-3", "--executor", "dusk"), "did you mean 'dask'?"),
        (
            ("sweep", "stress", "--grid", "loss=1e-3", "--scheduler", "tcp://x"),
            "--scheduler is of --executor dask",
        ),
        (("sweep", "stress", "--grid", "loss=1e-3", "--slurm", "name=x"), "--slurm is of --executor slurm"),
        (
            ("sweep", "stress", "--grid", "loss=1e-3", "--executor", "slurm", "--slurm", "x"),
            "--slurm timeout_min=60",
        ),
        (("sweep", "stress", "--grid", "loss=1e-3", "--until", "10%"), "write rel=10%@95%"),
        (("sweep", "stress", "--grid", "loss=1e-3", "--until", "rel=10%@95%,mex=3"), "did you mean 'max'?"),
        (
            ("sweep", "stress", "--grid", "loss=1e-3", "--until", "rel=10%@95%,max=3"),
            "is less than traffic.packets",
        ),
        (
            ("sweep", "stress", "--grid", "loss=1e-3", "--until", "rel=10%@95%,column=x"),
            "effective_loss_rate",
        ),
        (
            ("sweep", "throughput", "--grid", "loss=1e-3", "--until", "rel=10%@95%"),
            "figures of rdma-fct, stress",
        ),
        (("reproduce", "--executor", "dusk"), "did you mean 'dask'?"),
        (("kernel", "build", "--version", "6.2"), "unknown series of Linux '6.2'; did you mean '6.12'?"),
        (("kernel", "build", "--source", "nowhere"), "nowhere holds no source of a kernel"),
        (("kernel", "build", "--source", ".", "--version", "6.1"), "leave --version out"),
        (("kernel", "build", "--jobs", "0"), "should be greater than or equal to 1"),
        (("kernel", "biuld"), "No such command 'biuld'"),
    ],
)
def test_one_line_and_exit_code_2(
    command: Command, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    ended = command(*arguments)
    assert ended.code == MISTAKE, ended.err
    assert ended.err.startswith("error: ")
    assert ended.err.count("\n") == 1
    assert says in ended.err
    assert "Traceback" not in ended.err
    assert not [path for path in tmp_path.rglob("*") if path.is_file()], "something was half-written"


def test_a_slip_in_a_file_names_the_line_and_the_nearest_key(command: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('experiment = "stress"\n[traffic]\npackts = 10\n')
    ended = command("run", "mine.toml")
    assert ended.code == MISTAKE
    assert "mine.toml:3: unknown key 'traffic.packts'; did you mean 'traffic.packets'" in ended.err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[loss]\nforward = bernoulli", 'mine.toml:3: words are written in quotes: forward = "bernoulli"'),
        ("[link]\nrate = 25G # of the link", 'mine.toml:3: words are written in quotes: rate = "25G"'),
        ("[run]\nrare = True", "mine.toml:3: TOML writes truth in small letters: rare = true"),
        ("[loss]\nforward = 1%", 'mine.toml:3: words are written in quotes: forward = "1%"'),
        (
            "protection = [lg, fec:25/5]",
            'mine.toml:2: words are written in quotes: protection = ["lg", "fec:25/5"]',
        ),
        ("[link]\nrate = ", "mine.toml:3: Invalid value"),
        ("[link\nrate = 25", "mine.toml:2: Expected"),
        ('[link]\nrate = "25G', "mine.toml:3: "),
    ],
)
def test_words_without_quotes_are_shown_with_them(
    command: Command, tmp_path: Path, text: str, says: str
) -> None:
    (tmp_path / "mine.toml").write_text(f'experiment = "stress"\n{text}\n')
    ended = command("run", "mine.toml")
    assert ended.code == MISTAKE
    assert ended.err.startswith(f"error: {says}"), ended.err
    assert ended.err.count("\n") == 1


def test_a_file_that_is_not_there_names_the_one_that_was_meant(command: Command, tmp_path: Path) -> None:
    (tmp_path / "my-link.toml").write_text('experiment = "stress"\n')
    ended = command("run", "my-lnik.toml")
    assert ended.code == MISTAKE
    assert "cannot read my-lnik.toml: No such file or directory; did you mean 'my-link.toml'?" in ended.err


def test_a_directory_with_other_things_in_it_is_not_replaced(command: Command, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis.tex").write_text("years of work")
    ended = command("run", "stress", "--output", "precious")
    assert ended.code == MISTAKE
    assert "is not empty and holds no run" in ended.err
    assert (tmp_path / "precious" / "thesis.tex").read_text() == "years of work"


def test_a_file_is_not_taken_for_a_directory(command: Command, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    ended = command("run", "stress", "--output", "taken")
    assert ended.code == MISTAKE
    assert "is not a directory" in ended.err


def test_an_unforeseen_error_is_one_line_too(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise ZeroDivisionError("no such luck")

    monkeypatch.setattr("lossylink.cli.doctor.examine", broken)
    monkeypatch.delenv("LOSSYLINK_DEBUG", raising=False)
    ended = command("doctor")
    assert ended.code == FAILED
    assert ended.err == "error: unexpected ZeroDivisionError: no such luck; LOSSYLINK_DEBUG=1 shows where\n"
    monkeypatch.setitem(os.environ, "LOSSYLINK_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        command("doctor")
