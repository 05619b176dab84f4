"""Real Linux hosts in virtual time: exact, the same every time, and beside the simulator."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from lossylink.declared.protections import parse_protection
from lossylink.errors import RunError
from lossylink.linux.guest import Guest, Plan, hosts, machine, stubs
from lossylink.linux.guest.session import run_session
from lossylink.scenario.native import configuration
from lossylink.scenario.resolving import resolve

from .kernel_support import guest_of_nobody, needed_kernel, public_folder, row_of

KERNEL = needed_kernel()
#: A kernel counts whole nanoseconds, and to read the clock takes one. The bound is the issue's for one frame.
PUNCTUALITY_NS = 10.0
ROUNDING_US = PUNCTUALITY_NS / 1e3


def configured(protection: str = "none", **settings: Any) -> dict[str, Any]:
    chosen = {"host.profile": "ideal"} | {name.replace("__", "."): value for name, value in settings.items()}
    return configuration(resolve("throughput", settings=chosen), parse_protection(protection))


def said(config: dict[str, Any], *words: str, here: Path) -> tuple[int, str]:
    """Run a command in a guest and return its exit code and what it printed."""
    file = here / "said"
    with file.open("w") as output:
        finished = run_session(KERNEL, config, words, here=here, to=output)
    return finished.status, file.read_text()


def test_a_ping_takes_what_the_path_takes(tmp_path: Path) -> None:
    """The artifact's path takes 14.9 us and six serialisations of 98 B each way."""
    status, text = said(configured(link__rate="100Gbps"), "h4", "ping", "-c", "3", "h8", here=tmp_path)
    assert status == 0
    assert "3 received" in text
    assert text.count("time=0.029 ms") + text.count("time=0.030 ms") == 3


def test_a_guest_runs_from_below_a_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the package nor the cache need a path that a command line takes in one piece."""
    here = tmp_path / "new comer"
    here.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(here))
    copy = Path(shutil.copy(stubs.simulator(), here))
    monkeypatch.setattr(machine, "simulator", lambda: copy)
    monkeypatch.setattr(tempfile, "tempdir", str(here))
    assert said(configured(), "h4", "ping", "-c", "1", "h8", here=here)[0] == 0


def test_a_guest_runs_where_root_has_another_number() -> None:
    """As in a rootless container: what root owns outside is not root's in the guest."""
    outside = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]
    if subprocess.run([*outside, "true"], capture_output=True).returncode != 0:
        assert not os.environ.get("CI"), "CI must run a guest in a user namespace"
        pytest.skip("user namespaces are refused here")
    command = [
        *(sys.executable, "-m", "lossylink", "virtual"),
        "--link=100Gbps",
        *("h4", "ping", "-c", "1", "h8"),
    ]
    ended = subprocess.run([*outside, *command], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert "1 received" in ended.stdout


@pytest.mark.parametrize("mode", [0o644, 0o755])
def test_a_script_runs_by_its_bare_name(tmp_path: Path, mode: int) -> None:
    script = tmp_path / "x.sh"
    script.write_text('#!/bin/sh\necho "$0 in $PWD: $1"\n')
    script.chmod(mode)
    for word in ("x.sh", "./x.sh"):
        assert said(configured(), word, "one", here=tmp_path) == (0, f"./x.sh in {tmp_path}: one\n")


def test_a_program_comes_before_a_file_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "true").write_text("exit 3")
    assert said(configured(), "true", here=tmp_path) == (0, "")


def test_a_guest_sees_what_it_is_told_below_tmp() -> None:
    """A script where the user is not, one beside it that nobody named, and neither is changed."""
    with (
        tempfile.TemporaryDirectory(dir="/tmp") as folder,
        tempfile.TemporaryDirectory(dir="/tmp") as elsewhere,
    ):
        named, beside = Path(folder) / "a script.sh", Path(folder) / "beside"
        named.write_text(f"test ! -e '{beside}' && echo seen")
        beside.write_text("mine")
        assert said(configured(), str(named), here=Path(elsewhere)) == (0, "seen\n")
        assert said(configured(), "sh", str(named), here=Path("/tmp")) == (1, "")
        assert (named.read_text()[:4], beside.read_text()) == ("test", "mine")


def test_python_and_this_package_are_seen_below_tmp(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a measurement needs of a clone below /tmp, from a directory outside of it."""
    with tempfile.TemporaryDirectory(dir="/tmp") as clone:
        (Path(clone) / "module.py").write_text("print('here')")
        # Beside it the interpreter, whose environment may lie below /tmp, too.
        monkeypatch.setattr(machine, "_OWN", (*machine._OWN, Path(clone)))
        command = (sys.executable, "-S", "-E", f"{clone}/module.py")
        script = shlex.join(command)
        lines: list[str] = []
        with Guest(KERNEL, Plan(script=script, path=configured(), here=Path("/"))) as guest:
            assert guest.run(on_output=lines.append).status == 0
        assert lines == ["here"]


@pytest.mark.parametrize("protection", ["none", "lg"])
def test_flows_without_loss_take_what_the_simulator_says(protection: str) -> None:
    settings: dict[str, Any] = {"loss__forward": "0", "flow__trials": 20}
    real = row_of("tcp-fct", "kernel", protection, **settings)
    simulated = row_of("tcp-fct", "sim", protection, **settings)
    for key in ("fct_us_min", "fct_us_p50", "fct_us_max"):
        assert real[key] == pytest.approx(simulated[key], abs=ROUNDING_US), key
    assert real["lateness_ns_max"] <= PUNCTUALITY_NS


def test_lost_segments_cost_what_the_simulator_says() -> None:
    """What a flow takes that RACK repairs: the 95th percentile of flows, 16 % of which lose a segment."""
    settings: dict[str, Any] = {"loss__forward": "1%", "flow__trials": 400}
    real, simulated = row_of("tcp-fct", "kernel", **settings), row_of("tcp-fct", "sim", **settings)
    assert real["fct_us_p95"] == pytest.approx(simulated["fct_us_p95"], abs=3.0)
    assert real["fct_us_p50"] == pytest.approx(simulated["fct_us_p50"], abs=ROUNDING_US)


#: The first data segment of a flow is frame 2, counted from 0: behind a request and its confirmation.
@pytest.mark.parametrize("frame", [3, 4, 8, 10, 12, 13])
def test_a_lost_segment_costs_what_the_simulator_says(frame: int) -> None:
    settings: dict[str, Any] = {
        "loss__forward": f"at:{frame}",
        "path__rtt": "30us",
        "host__nic_rate": "100Gbps",
        "transport__rto_min": "1ms",
        "flow__trials": 1,
    }
    real, simulated = (row_of("tcp-fct", backend, **settings) for backend in ("kernel", "sim"))
    assert real["frames_lost"] == 1
    assert real["fct_us_max"] == pytest.approx(simulated["fct_us_max"], abs=0.1)


def test_a_receiver_bounds_a_flow_over_a_long_path() -> None:
    """3 MiB in 100 ms are 252 Mb/s, less what start-up takes."""
    settings: dict[str, Any] = {
        "link__rate": "1Gbps",
        "path__rtt": "100ms",
        "host__nic_rate": "1Gbps",
        "loss__forward": "0",
        "run__duration": "4s",
        "run__warmup": "2s",
        "run__cooldown": "0s",
        "transport__congestion_control": "cubic",
    }
    real = row_of("throughput", "kernel", **settings)
    assert real["measured_mbps"] == pytest.approx(251.6, rel=0.01)
    wide = row_of("throughput", "kernel", **settings, transport__receive_window="32MiB")
    assert wide["measured_mbps"] > 2 * real["measured_mbps"]


@pytest.mark.parametrize("protection", ["none", "lg", "lg-nb", "llr", "fec:25/5"])
def test_a_long_flow_is_as_fast_as_the_simulator_says(protection: str) -> None:
    """Both see the same losses. The bound of the issue is 5 %."""
    settings = {
        "link__rate": "10Gbps",
        "loss__forward": "1e-3",
        "run__duration": "120ms",
        "run__warmup": "20ms",
        "run__cooldown": "0s",
        "transport__congestion_control": "reno",
    }
    real = row_of("throughput", "kernel", protection, **settings)
    simulated = row_of("throughput", "sim", protection, **settings)
    assert real["measured_mbps"] == pytest.approx(simulated["measured_mbps"], rel=0.05)
    assert real["lateness_ns_max"] <= PUNCTUALITY_NS
    if protection == "none":
        assert real["retransmissions"] > 0
    else:
        assert real["frames_lost"] > 0


def test_a_code_costs_what_the_simulator_says() -> None:
    """Two runs, each in a guest of its own with losses of its own."""
    settings: dict[str, Any] = {
        "link__rate": "10Gbps",
        "loss__forward": "1e-2",
        "run__duration": "100ms",
        "flow__trials": 2,
        "transport__congestion_control": "reno",
    }
    real, simulated = (row_of("fec", backend, "fec:5/1", **settings) for backend in ("kernel", "sim"))
    assert real["throughput_gbps"] == pytest.approx(simulated["throughput_gbps"], rel=0.05)
    assert real["packets_recovered"] == pytest.approx(simulated["packets_recovered"], rel=0.1)
    assert real["residual_loss_rate"] == pytest.approx(simulated["residual_loss_rate"], rel=0.5)
    assert (real["fec_k"], real["fec_h"], real["trials"]) == (5, 1, 2)


def test_flows_that_real_tcp_does_not_end_are_slower_than_all_that_it_does() -> None:
    settings: dict[str, Any] = {"loss__forward": 1.0, "flow__trials": 3}
    for row in (row_of("tcp-fct", backend, "none", **settings) for backend in ("kernel", "sim")):
        assert (row["trials"], row["flows_unfinished"]) == (0, 3)
        assert {row[f"fct_us_{key}"] for key in ("min", "mean", "p50", "p99_999", "max", "std")} == {None}
        assert row["checks"]["connections"]["passed"] is False


def test_the_same_seed_gives_the_same_bytes() -> None:
    """Three times, the third time on a machine with other work."""
    program = Path(__file__).parents[2] / "python/lossylink/running/backends/kernel/programs/short_flows.py"
    config = configured(loss__forward="1%", link__rate="100Gbps")
    options = '{"congestion_control": "cubic", "mss_bytes": 1460, "flow_rate_bytes": 0}'
    server = '{"address": "10.2.2.2", "size_bytes": 24387}'
    client = f'{server[:-1]}, "flows": 30, "patience_seconds": 600, "seed": 1, "options": {options}}}'
    python = [sys.executable, "-S", "-E", str(program)]
    script = "\n".join(
        [
            hosts.setup_script(config, is_measured=True),
            hosts.on(hosts.H8, [*python, "server", server]) + " &",
            "sleep 1",
            hosts.on(hosts.H4, [*python, "client", client]),
        ]
    )
    records = []
    for run in range(3):
        busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(2 if run == 2 else 0)]
        try:
            with Guest(KERNEL, Plan(script=script, path=config, records=True)) as guest:
                finished = guest.run(on_output=lambda _: None)
                records.append((finished.work / "record.pcap").read_bytes())
        finally:
            for process in busy:
                process.kill()
                process.wait()
    assert len(records[0]) > 30 * 17 * 64
    assert records[0] == records[1] == records[2]


def test_a_guest_is_up_in_five_seconds(tmp_path: Path) -> None:
    started = time.monotonic()
    status, text = said(configured(), "echo", "up", here=tmp_path)
    assert (status, text) == (0, "up\n")
    # The bound, with room for a machine that does other work.
    assert time.monotonic() - started < 30.0


def test_the_exit_code_is_that_of_the_command(tmp_path: Path) -> None:
    assert said(configured(), "sh", "-c", "exit 7", here=tmp_path)[0] == 7


def test_a_script_of_the_user_runs_where_the_user_is(tmp_path: Path) -> None:
    (tmp_path / "script.sh").write_text("cat words; h8 hostname -I\n")
    (tmp_path / "words").write_text("of the host\n")
    status, text = said(configured(), "./script.sh", here=tmp_path)
    assert status == 0
    assert text.splitlines()[0] == "of the host"


def test_a_program_that_polls_gets_on(tmp_path: Path) -> None:
    """The program asks for the time until half a millisecond has passed: each question costs more."""
    code = "import time; end = time.monotonic() + 5e-4\nwhile time.monotonic() < end: pass\nprint('done')"
    status, text = said(configured(), sys.executable, "-S", "-E", "-c", code, here=tmp_path)
    assert (status, text) == (0, "done\n")


def test_a_program_that_computes_for_ever_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lossylink.linux.guest.watch.PATIENCE_SECONDS", 2.0)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(RunError, match="virtual time stands still: sh has used the processor"):
        said(configured(), "sh", "-c", "while :; do :; done", here=tmp_path)
    assert_nothing_is_left(tmp_path)


def test_a_path_that_cannot_be_is_one_line(tmp_path: Path) -> None:
    config = configured(path__rtt="1ms")
    config["path"]["rtt_ps"] = 1000
    with pytest.raises(RunError, match=r"path.rtt = .* is shorter than the link's own round trip"):
        said(config, "true", here=tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="every other test is one without privileges")
def test_nobody_may_run_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The guest runs as a user without any rights on the host, who owns nothing but its folder."""
    config = configured(loss__forward="1%")
    script = hosts.setup_script(config, is_measured=False) + "\nip netns exec h4 ping -c 5 10.2.2.2"
    plan = Plan(script=script, path=config)
    lines: list[str] = []
    with public_folder() as public, guest_of_nobody(KERNEL, plan, public, monkeypatch) as guest:
        finished = guest.run(on_output=lines.append)
    assert finished.status == 0
    assert any("received" in line for line in lines)


def test_a_killed_host_leaves_nothing(tmp_path: Path) -> None:
    """The program that started the guest is killed in the middle of it."""
    code = (
        "import sys; from pathlib import Path; from tests.python.test_virtual_lab import *; "
        "said(configured(), 'sleep', '1e9', here=Path(sys.argv[1])); "
    )
    # The guest sleeps for so long by its own clock that wall time passes: it is busy with a flow meanwhile.
    code = code.replace("'sleep', '1e9'", "'sh', '-c', 'h4 ping -q -i 0.001 -c 10000000 h8'")
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    words = [sys.executable, "-c", code, str(tmp_path)]
    process = subprocess.Popen(words, cwd=Path(__file__).parents[2], env=environment)
    try:
        deadline = time.monotonic() + 60
        while not guests_in(tmp_path) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert guests_in(tmp_path), "the guest did not start"
        time.sleep(2.0)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert_nothing_is_left(tmp_path)


@pytest.mark.parametrize(
    "words",
    ["virtual h4 ping -qi 0.001 -c 10000000 h8", "run throughput --backend kernel --set run.duration=10min"],
)
def test_sigterm_leaves_no_files(words: str, tmp_path: Path) -> None:
    """As Ctrl-C does, which ends a command with 130."""
    command = [sys.executable, "-m", "lossylink", *words.split()]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while not guests_in(tmp_path) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert guests_in(tmp_path), "the guest did not start"
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 130
    finally:
        process.kill()
        process.wait()
    assert_nothing_is_left(tmp_path)
    assert not list(tmp_path.iterdir())


def guests_in(folder: Path) -> list[str]:
    """Return the kernels of guests whose files are below a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0] == os.fsencode(KERNEL.binary) and any(os.fsencode(folder) in word for word in words):
            found.append(path.parent.name)
    return found


def assert_nothing_is_left(folder: Path) -> None:
    deadline = time.monotonic() + 10
    while guests_in(folder) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert guests_in(folder) == []
