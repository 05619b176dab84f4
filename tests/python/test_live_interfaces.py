"""What a guard changes of its interfaces comes back: when it ends, and after it was killed."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator

import pytest

from .live_support import PATIENCE_SECONDS, needs_live_lab
from .private_boxes import Boxes, private_boxes
from .test_live_ports import needs_xdp

needs_live_lab()

#: The names of ethtool for the offloads that a guard cannot have on its interfaces, as a veth has them on.
_FATAL = ("rx-checksumming", "tx-checksumming", "tcp-segmentation-offload", "generic-segmentation-offload")


@pytest.fixture
def boxes() -> Iterator[Boxes]:
    with private_boxes() as made:
        made.cable("host/eth0", "box/lan")
        made.cable("box/trunk", "far/trunk")
        # Neither is what Linux would choose: a default cannot pass for what has been put back.
        made.run("box", ["ip", "link", "set", "trunk", "mtu", "1492"])
        made.run("box", ["ethtool", "-K", "trunk", "gro", "on", "rx", "off"])
        yield made


def _end(process: subprocess.Popen[str]) -> str:
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0, errors
    return errors


def _kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate(timeout=PATIENCE_SECONDS)


def _states(boxes: Boxes) -> list[tuple[int, str]]:
    return [boxes.state("box", name) for name in ("lan", "trunk")]


def _files(boxes: Boxes) -> list[str]:
    return boxes.enclave.run(["find", "/run/lossylink", "-name", "*.json"], check=False).split()


def test_a_guard_that_was_killed_leaves_to_the_next_what_the_interfaces_were(boxes: Boxes) -> None:
    before = _states(boxes)
    for _ in range(2):
        guard = boxes.guard("box", lan="lan", link="trunk")
        assert boxes.state("box", "trunk")[0] == 1538
        _kill(guard)
        assert _states(boxes) != before
    _end(boxes.guard("box", lan="lan", link="trunk"))
    assert _states(boxes) == before
    assert _files(boxes) == []


def test_restore_puts_back_what_a_killed_guard_left(boxes: Boxes) -> None:
    before = _states(boxes)
    _kill(boxes.guard("box", lan="lan", link="trunk"))
    told = boxes.run("box", boxes.lossylink("restore"))
    assert _states(boxes) == before
    assert "trunk" in told
    assert _files(boxes) == []


def test_restore_leaves_alone_what_a_living_guard_uses(boxes: Boxes) -> None:
    before = _states(boxes)
    guard = boxes.guard("box", lan="lan", link="trunk")
    meanwhile = _states(boxes)
    told = boxes.run("box", boxes.lossylink("restore"))
    assert f"process {guard.pid}" in told
    assert _states(boxes) == meanwhile
    _end(guard)
    assert _states(boxes) == before


def test_a_second_guard_on_an_interface_is_refused_and_changes_nothing(boxes: Boxes) -> None:
    before = _states(boxes)
    guard = boxes.guard("box", lan="lan", link="trunk")
    words = boxes.lossylink("wire", "--near", "lan", "--far", "trunk", "--control", "/run/second.sock")
    second = boxes.start("box", words)
    _, errors = second.communicate(timeout=PATIENCE_SECONDS)
    assert second.returncode == 2
    assert f"lan is in use by process {guard.pid}" in errors
    _end(guard)
    assert _states(boxes) == before


def test_an_interface_that_was_made_anew_gets_nothing_of_its_predecessor(boxes: Boxes) -> None:
    _kill(boxes.guard("box", lan="lan", link="trunk"))
    index = boxes.run("box", ["cat", "/sys/class/net/trunk/ifindex"]).strip()
    boxes.run("box", ["ip", "link", "del", "trunk"])
    boxes.enclave.ip(f"link add name trunk index {index} netns box type veth peer name trunk netns far")
    boxes.run("box", ["ip", "link", "set", "trunk", "mtu", "4000", "up"])
    before = boxes.state("box", "trunk")
    _end(boxes.guard("box", lan="lan", link="trunk"))
    assert boxes.state("box", "trunk") == before


def test_a_corrupt_file_is_said_and_ignored(boxes: Boxes) -> None:
    _kill(boxes.guard("box", lan="lan", link="trunk"))
    files = _files(boxes)
    assert len(files) == 2
    for file in files:
        boxes.enclave.run(["sh", "-c", f"echo '{{\"mtu_bytes\": ' > {file}"])
    left = _states(boxes)
    errors = _end(boxes.guard("box", lan="lan", link="trunk"))
    assert all(f"warning: {file} " in errors for file in files)
    assert _states(boxes) == left


def test_a_guard_that_can_keep_nothing_says_so_and_puts_back_what_it_knows(boxes: Boxes) -> None:
    boxes.enclave.run(["mkdir", "/run/lossylink"])
    boxes.enclave.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", "/run/lossylink"])
    before = _states(boxes)
    errors = _end(boxes.guard("box", lan="lan", link="trunk"))
    assert errors.count("cannot be written (Read-only file system)") == 2
    assert _states(boxes) == before


def test_an_interface_that_goes_while_a_guard_runs_does_not_keep_the_other_changed(boxes: Boxes) -> None:
    before = boxes.state("box", "trunk")
    guard = boxes.guard("box", lan="lan", link="trunk")
    boxes.run("box", ["ip", "link", "del", "lan"])
    guard.send_signal(signal.SIGTERM)
    guard.communicate(timeout=PATIENCE_SECONDS)
    assert boxes.state("box", "trunk") == before
    assert _files(boxes) == []


def test_a_lan_that_exchanges_bursts_keeps_its_offloads(boxes: Boxes) -> None:
    before = _states(boxes)
    guard = boxes.guard("box", lan="lan", link="trunk")
    assert boxes.state("box", "lan") == before[0]
    meanwhile = boxes.state("box", "trunk")[1]
    assert [name for name in _FATAL if f"{name}: on" in meanwhile] == []
    _end(guard)
    assert _states(boxes) == before


@pytest.mark.parametrize("port", ["xdp:lan", "packet:lan@box"])
def test_the_offloads_of_a_port_that_takes_frames_alone_are_off(boxes: Boxes, port: str) -> None:
    if port.startswith("xdp:"):
        needs_xdp()
    before = _states(boxes)
    assert all(f"{name}: on" in before[0][1] for name in _FATAL)
    guard = boxes.guard("box", "--no-offloads", lan=port, link="trunk")
    meanwhile = boxes.state("box", "lan")[1]
    left_on = [name for name in _FATAL if f"{name}: on" in meanwhile]
    errors = _end(guard)
    assert left_on == []
    # What the far end of a veth leaves undone nobody tells an XDP socket.
    assert ("warning: xdp:lan is a veth" in errors) == port.startswith("xdp:")
    assert _states(boxes) == before
