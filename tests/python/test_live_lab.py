"""The lab's life: up, changes while traffic runs, crashes, down."""

from __future__ import annotations

import re
import resource
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from lossylink.errors import RunError, UserError
from lossylink.linux.lab import Lab, LabSettings
from lossylink.linux.lab.directory import LabDirectory
from lossylink.linux.lab.enclave import find_enclave, is_private
from lossylink.linux.lab.lab import sweep_orphans, take_down
from lossylink.linux.lab.process import process_of
from lossylink.linux.lab.status import describe
from lossylink.running.backends.live.capture import packets

from .live_support import PATIENCE_SECONDS, agreed, is_foreign, lab, lab_name, needs_live_lab, until

needs_live_lab()

#: Processor time that a lab may take to come up, in seconds: some thirty short programs and an interpreter
#: need about 0.4. What else the machine does is not in it.
_MOST_PROCESSOR_SECONDS = 3.0
_PING = ["ping", "-q", "-i", "0.002", "10.2.2.2"]


def _command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lossylink", *words], capture_output=True, text=True, check=False
    )


def _machine() -> tuple[str, str]:
    """What a lab must leave as it was: namespaces and interfaces. State of links may change by itself.

    Labs of other sessions come and go meanwhile; those of this one have names from `live_support`.
    """
    namespaces = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
    links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout
    names = sorted(line.split(":")[1] for line in links.splitlines())
    ours = sorted(line for line in namespaces.splitlines() if not is_foreign(line))
    return "\n".join(ours), "\n".join(names)


def _processor_seconds() -> float:
    """Return what this process and those that it has waited for have used."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


@pytest.mark.parametrize("split", [False, True])
def test_a_lab_comes_up_for_three_seconds_of_a_processor_and_leaves_nothing(split: bool) -> None:
    before = _machine()
    worked = _processor_seconds()
    with lab(split=split) as up:
        up.ping_check()
        # Of a processor, not of the clock on the wall: that one also tells what else the machine does.
        worked = _processor_seconds() - worked
        processes = [process for name in ("wire", "h4", "h8") for process in
                     up.enclave.processes(up.directory.prefix + name)]  # fmt: skip
        path = up.directory.path
        assert processes
    assert worked < _MOST_PROCESSOR_SECONDS
    assert _machine() == before
    assert not any(process.is_alive() for process in processes)
    assert not path.exists()


def test_the_commands_tell_one_story() -> None:
    name = lab_name()
    up = _command("lab", "up", "--name", name, "--loss", "0.1%", "-p", "lg:copies=2")
    assert (up.returncode, "5 received" in up.stdout) == (0, True), up.stderr
    try:
        again = _command("lab", "up", "--name", name)
        assert again.returncode == 2
        assert again.stderr.startswith("error: a lab is up already")
        status = _command("lab", "status", "--name", name).stdout
        for field in (
            *("Next seq no: ", "Next seq era: ", "leading_ack: ", "leading_ack_era: "),
            *("ig_debug_counter ", "eg_debug_counter ", "corruption_seq_no (egress pkt counter): "),
            *("emulated_corruption_counter (pkts dropped): ", "Emulated holes: "),
            *("Corrupting Port(s) (", "Protected Port(s) (1): link", "No. of reTx copies: 2"),
            *("ECN Marking Threshold: ", "expected_seq_no: ", "ack (time_remaining): ", "ack_era: "),
            *("leading_ack_notify_count: ", "timeout_pkt_no_trigger_cntr: ", "timeout_pkt_trigger_cntr: "),
            *("LOSS RATE: ", "PFC resume threshold: ", "PFC pause threshold: "),
        ):
            assert field in status
        assert _command("lab", "exec", "--name", name, "h4", "--", "sh", "-c", "exit 7").returncode == 7
        metrics = _command("lab", "status", "--name", name, "--prometheus").stdout
        assert 'lossylink_directions_frames_lost_total{at="forward"}' in metrics
        assert _undocumented(metrics) == set()
    finally:
        assert _command("lab", "down", "--name", name).returncode == 0
    gone = _command("lab", "status", "--name", name)
    assert (gone.returncode, gone.stderr.strip()) == (2, "error: no lab is up: `lossylink lab up` first")


def _undocumented(metrics: str) -> set[str]:
    """Metrics without a text or a type, and counters whose names do not end as counters' names do."""
    lines = metrics.splitlines()
    samples = {re.split(r"[{ ]", line)[0] for line in lines if not line.startswith("#")}
    texts = {line.split()[2] for line in lines if line.startswith("# HELP ")}
    types = {line.split()[2]: line.split()[3] for line in lines if line.startswith("# TYPE ")}
    misnamed = {name for name, kind in types.items() if (kind == "counter") != name.endswith("_total")}
    return (samples - texts) | (samples - types.keys()) | misnamed


def test_the_copies_follow_the_loss() -> None:
    name = lab_name()
    assert _command("lab", "up", "--name", name, "-p", "lg").returncode == 0
    try:
        for loss, copies in (("1e-2", 3), ("1e-5", 1)):
            told = _command("lab", "loss", loss, "--name", name).stdout
            assert f"{copies} from h4, 1 from h8" in told
            ping = _command("lab", "ping", "--name", name, "--", "-c", "20", "-i", "0.01")
            status = _command("lab", "status", "--name", name).stdout
            # A guard that is kept from running longer than a hole may wait (G-14) gives its frames up.
            given_up = sum(map(int, re.findall(r"timeout_pkt_trigger_cntr: (\d+)", status)))
            received = int(re.findall(r"(\d+) received", ping.stdout)[0])
            assert 20 - given_up <= received <= 20, (ping, status)
            assert f"No. of reTx copies: {copies}" in status
        told = _command("lab", "protect", "lg:copies=2", "--name", name).stdout
        assert "2 from h4, 2 from h8" in told
        assert "2 from h4, 2 from h8" in _command("lab", "loss", "1e-2", "--name", name).stdout
    finally:
        assert _command("lab", "down", "--name", name).returncode == 0


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (
            ["guard", "--lan", "lo", "--link", "nosuch0"],
            "error: --link nosuch0: there is no interface nosuch0",
        ),
        (["wire", "--near", "packet:nosuch1", "--far", "lo"], "error: --near packet:nosuch1: there is no"),
    ],
)
def test_an_interface_that_is_not_there_is_one_line(words: list[str], complaint: str) -> None:
    done = _command(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(complaint)
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--link", "1Gbs"], "unknown unit 'Gbs'"),
        (["--loss", "15"], "a loss ratio is at most 1"),
        (["--mtu", "100"], "mtu_bytes"),
        (["-p", "lq"], "unknown protection 'lq'"),
        (["-p", "fec-model:25/5"], "fec-model is a model of the simulator"),
    ],
)
def test_a_mistake_is_one_line(words: list[str], complaint: str) -> None:
    done = _command("lab", "up", "--name", "mistake", *words)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not LabDirectory("mistake").path.exists()


@pytest.mark.parametrize("split", [False, True])
def test_idle_pings_take_the_round_trip_that_was_asked_for(split: bool) -> None:
    """Not less, by the clock; not more, in order. How long exactly is in `test_live_clock`."""
    count = 400
    # Separate processes sleep between two pings; the one that has a processor of its own does not.
    with lab(rtt_ps=2 * 10**9, split=split) as up:
        text = up.run("h4", ["ping", "-O", "-i", "0.006", "-c", str(count), "10.2.2.2"])
    least = float(text.split("= ")[1].split("/")[0])
    assert f"{count} received" in text
    # A frame never arrives early.
    assert least >= 2.0
    # The answer is there before the next question, after three round trips. One program asks and hears: what
    # keeps it from its work delays both, and half of them may fail for other reasons.
    assert text.count("no answer yet") < count / 2


def test_loss_and_protection_change_while_traffic_runs() -> None:
    with lab() as up:
        traffic = up.start("h4", [*_PING, "-c", "1500"])
        time.sleep(0.5)
        up.set_loss(forward="30%")
        time.sleep(0.5)
        lost_unprotected = up.link.counters()["directions"]["forward"]["frames_lost"]
        assert lost_unprotected > 0
        up.protect("lg:copies=16")
        until(lambda: agreed(up), seconds=PATIENCE_SECONDS, what="agreement of the guards")
        lost_until_agreed = up.link.counters()["directions"]["forward"]["frames_lost"]
        out, _ = traffic.communicate(timeout=30)
        near, far = up.guards()
        missing = 1500 - int(out.split(" received")[0].split()[-1])
        assert near["sender"]["retransmitted"] > 0
        # What is missing was lost before the guards had agreed.
        assert missing == near["to_link_first"] - far["to_lan"]
        assert lost_unprotected <= missing <= lost_until_agreed
        assert "Next seq no" in describe(up)


def test_a_second_lab_of_the_name_is_refused_and_can_replace() -> None:
    with lab() as up:
        with pytest.raises(UserError, match="a lab is up already"):
            Lab.up(up.settings, name=up.directory.name)
        up.ping_check()
        again = Lab.up(up.settings, name=up.directory.name, replace=True)
        again.ping_check()


#: Sends a frame of each EtherType of the guards and one of nobody's, from the host's interface.
_FORGER = """
import socket, sys
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as port:
    port.bind(("eth0", 0))
    for ethertype in (0x88b5, 0xabcd, 0x081c, 0x88b6, 0x9000):
        port.send(b"\\xff" * 6 + b"\\x02" * 6 + ethertype.to_bytes(2, "big") + bytes(46))
"""


@pytest.mark.parametrize(
    ("split", "changes"), [(False, []), (False, ["off"]), (True, []), (True, ["lg", "off"])]
)
def test_without_a_protection_no_host_speaks_for_a_guard(split: bool, changes: list[str]) -> None:
    with lab(split=split) as up:
        for protection in changes:
            up.protect(protection)
        if split or changes:
            until(lambda: agreed(up), seconds=PATIENCE_SECONDS, what="agreement of the guards")
        before = [end["to_lan"] for end in up.guards()]
        for host in ("h4", "h8"):
            up.run(host, [sys.executable, "-c", _FORGER])
        until(lambda: all(end["to_lan"] > old for end, old in zip(up.guards(), before, strict=True)),
              seconds=PATIENCE_SECONDS, what="arrival of a frame")  # fmt: skip
        assert [end["reserved"] for end in up.guards()] == [4, 4]
        assert [end["foreign"] for end in up.guards()] == [0, 0]


def test_a_plain_wire_refuses_to_protect() -> None:
    with lab(split=True) as up:
        until(lambda: agreed(up), seconds=PATIENCE_SECONDS, what="agreement of the guards")
        with pytest.raises(RunError, match="a plain wire protects nothing: run a guard at each of its ends"):
            up.link.ask("protect", protection={"family": "llr"})
        assert agreed(up)


@pytest.mark.parametrize("split", [False, True])
def test_a_lab_takes_the_longest_trace(split: bool, tmp_path: Path) -> None:
    trace = tmp_path / "trace.txt"
    trace.write_text("1" + "0" * 999_999)
    with lab(split=split, loss_forward=f"trace:{trace}", loss_reverse=f"trace:{trace}") as up:
        up.ping_check()
        lost = up.link.counters()["directions"]
        assert [lost[way]["frames_lost"] for way in ("forward", "reverse")] == [1, 1]
        up.set_loss(forward=f"trace:{trace}", reverse=f"trace:{trace}")
        up.ping_check()
        lost = up.link.counters()["directions"]
        assert [lost[way]["frames_lost"] for way in ("forward", "reverse")] == [2, 2]


@pytest.mark.parametrize("split", [False, True])
def test_a_killed_data_plane_leaves_nothing_that_down_cannot_remove(split: bool) -> None:
    before = _machine()
    with lab(split=split) as up:
        for process in up.enclave.processes(f"{up.directory.prefix}wire"):
            process.signal(signal.SIGKILL)
        with pytest.raises(RunError):
            up.run("h4", ["ping", "-c", "1", "-W", "1", "10.2.2.2"])
    assert _machine() == before


def test_a_lab_without_its_notes_is_removed_all_the_same() -> None:
    if is_private():
        pytest.skip("an ordinary user's lab is found by its notes alone")
    before = _machine()
    with lab() as up:
        for file in up.directory.path.iterdir():
            file.unlink()
        up.directory.path.rmdir()
        assert take_down(up.directory.name)
    assert _machine() == before


def test_the_lab_of_a_killed_measurement_is_swept() -> None:
    before = _machine()
    name = lab_name()
    script = (
        "import os, signal\nfrom lossylink.linux.lab import Lab, LabSettings\n"
        f"Lab.up(LabSettings(), name={name!r}, owned=True)\nos.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == -signal.SIGKILL
    assert _is_there(name)
    sweep_orphans()
    assert not _is_there(name)
    assert _machine() == before


def _is_there(name: str) -> bool:
    """Whether anything of a lab is left."""
    directory = LabDirectory(name)
    enclave = find_enclave(directory.path)
    return enclave is not None and bool(enclave.namespaces(directory.prefix))


def _rivals(name: str, count: int, *, replace: bool = False) -> list[subprocess.CompletedProcess[str]]:
    """Let processes build a lab of one name as nearly at once as they can; each says what came of it."""
    script = (
        "import sys\n"
        "from lossylink.errors import LossylinkError\n"
        "from lossylink.linux.lab import Lab\n"
        "from lossylink.linux.lab.settings import lab_settings\n"
        "settings = lab_settings(mtu_bytes=1400 + int(sys.argv[1]))\n"
        "print('ready', flush=True)\n"
        "sys.stdin.readline()\n"
        "try:\n"
        f"    Lab.up(settings, name={name!r}, replace={replace})\n"
        "except LossylinkError as error:\n"
        "    sys.exit(f'{type(error).__name__}: {error}')\n"
    )
    ended = []
    with ExitStack() as stack:
        started = [stack.enter_context(_piped(script, str(number))) for number in range(count)]
        for process in started:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in started:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        for process in started:
            out, err = process.communicate(timeout=PATIENCE_SECONDS)
            ended.append(subprocess.CompletedProcess(script, process.returncode, out, err))
    return ended


def _piped(script: str, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("replace", [False, True])
def test_of_several_who_build_one_lab_one_wins(replace: bool) -> None:
    before = _machine()
    for _ in range(4):
        name = lab_name()
        try:
            ended = _rivals(name, 3, replace=replace)
            winners = [number for number, rival in enumerate(ended) if rival.returncode == 0]
            said = [rival.stderr for rival in ended if rival.returncode != 0]
            assert len(winners) == 1, said
            for words in said:
                assert words.count("\n") == 1, words
                assert words.startswith("UserError: "), words
                assert f"--name {name}" in words, words
            up = Lab.find(name)
            assert up.settings.mtu_bytes == 1400 + winners[0]
            up.ping_check()
        finally:
            take_down(name)
    assert _machine() == before


def test_a_lab_that_fails_half_way_is_taken_down() -> None:
    before = _machine()
    with pytest.raises(RunError):
        Lab.up(LabSettings(congestion_control="nonsense"), name="halfway")
    assert _machine() == before
    assert not LabDirectory("halfway").path.exists()


def test_a_private_lab_is_invisible_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    before = _machine()
    monkeypatch.setenv("LOSSYLINK_PRIVATE", "1")
    with lab(protection="lg:copies=3", loss_forward="0.05") as up:
        assert _machine() == before
        until(lambda: agreed(up), seconds=PATIENCE_SECONDS, what="agreement of the guards")
        assert " 0% packet loss" in up.run("h4", [*_PING, "-c", "100"])
        keeper = int((up.directory.path / "keeper").read_text())
    assert process_of(keeper) is None


def test_a_hop_is_captured(tmp_path: Path) -> None:
    from lossylink.linux.lab.capture import capture_command

    with lab(split=True) as up:
        with pytest.raises(UserError, match="no hop 'sw4'"):
            capture_command(up, "sw4", "-")
        file = tmp_path / "cable.pcap"
        command = capture_command(up, "sw2-wire", str(file), count=3)
        sniffer = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert sniffer.stderr is not None
        assert "listening" in sniffer.stderr.readline()
        up.ping_check()
        assert sniffer.wait(timeout=PATIENCE_SECONDS) == 0
        assert sniffer.stderr.read() == "3 frames captured, 0 found no room\n"
        sniffer.stderr.close()
        assert len(list(packets(file))) == 3
