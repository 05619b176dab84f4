"""A switch of the lab behind its control socket: the questions of `lossylink lab`, without a switch."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lossylink.errors import RunError, UserError
from lossylink.linux.bmv2 import agent, linkguardian
from lossylink.linux.bmv2.agent import Agent, Configuration, Server
from lossylink.linux.lab.plane import PlaneClient
from lossylink.linux.lab.settings import spelled_protection
from lossylink.linux.lab.switches import SwitchLink

from .bmv2_support import MemorySwitch


class FakeSwitch:
    """Stands for a process that runs a program."""

    def __init__(self, compiled: str, interfaces: dict[int, str], *, log: Path) -> None:
        self.interfaces = interfaces
        self.runtime = MemorySwitch(compiled)
        self.has_ended = False

    def is_alive(self) -> bool:
        return not self.has_ended


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the control planes have sent, by the interface."""
    found: list[str] = []
    monkeypatch.setattr(agent, "Switch", FakeSwitch)
    monkeypatch.setattr(agent, "compiled", lambda family: family)
    monkeypatch.setattr(linkguardian, "inject", lambda interface, frame: found.append(interface))
    return found


def configuration(tmp_path: Path, **changes: Any) -> Configuration:
    usual = Configuration(
        control=str(tmp_path / "sw6.sock"),
        family="linkguardian",
        protection=spelled_protection("lg:copies=3").value,
        direction="forward",
        loss_ratio=0.01,
        pace={"link_packets_per_second": 487, "queue_frames": 364},
        log=str(tmp_path / "switch.log"),
    )
    return replace(usual, **changes)


@pytest.fixture
def served(tmp_path: Path, sent: list[str]) -> Iterator[tuple[Agent, PlaneClient]]:
    """Serve a switch and give it with a client."""
    chosen = configuration(tmp_path)
    server = Server(chosen.control, Agent(chosen))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.agent, PlaneClient(Path(chosen.control))
    server.shutdown()
    thread.join()
    server.server_close()


def memory(of: Agent) -> MemorySwitch:
    assert isinstance(of.switch, FakeSwitch)
    return of.switch.runtime


def threshold(of: Agent) -> int:
    return memory(of).defaults["SwitchIngress.corruption.loss"][0]


def test_a_switch_begins_as_it_was_told(tmp_path: Path, sent: list[str]) -> None:
    made = Agent(configuration(tmp_path))
    assert sorted(made.switch.interfaces.values()) == ["control", "lan", "trunk"]  # type: ignore[attr-defined]
    assert sent == ["agent"], "one timer packet goes round"
    assert threshold(made) == 10485
    assert memory(made).queues[2, 1] == (364, 487)
    guard = made.counters()["guards"]["guard"]
    assert guard["protection"].startswith("lg")
    assert guard["sender"]["copies"] == 3


def test_the_fec_model_sends_nothing_on_its_way(tmp_path: Path, sent: list[str]) -> None:
    value = spelled_protection("fec-model:5/1").value
    made = Agent(configuration(tmp_path, family="fec_model", protection=value))
    assert sent == []
    assert made.counters()["guards"]["guard"]["protection"] == "fec-model:5/1"
    assert memory(made).defaults["SwitchEgress.faulty_link.corruption.loss"] == [10485]


def test_questions_are_answered_over_the_socket(served: tuple[Agent, PlaneClient]) -> None:
    made, client = served
    counters = client.counters()
    assert counters["guards"]["guard"]["sender"]["next_seq"] == 0
    assert counters["directions"] == {
        "forward": {"frames_offered": 0, "frames_lost": 0, "frames_delivered": 0}
    }
    client.ask("protect", protection=spelled_protection("lg-nb:copies=1").live_value)
    assert client.counters()["guards"]["guard"]["protection"].startswith("lg-nb")
    client.ask("protect", protection=None)
    assert client.counters()["guards"]["guard"]["protection"] == "none"
    assert memory(made).defaults["SwitchEgress.sender.protection"][0] == 0
    assert 'lossylink_guards_from_lan{at="guard"} 0\n' in client.prometheus()
    client.ask("clear")
    client.ask("hold", is_on=True)
    assert memory(made).read_register("sender_on_hold") == 1
    assert client.ask("rest") == {"is_at_rest": True}


@pytest.mark.parametrize(
    ("register", "value"),
    [
        ("sender_next", 1),
        ("sender_dummies", 1 << 7 | 1),
        ("receiver_held", 1),
        # A dummy has shown a loss: it is acknowledged, and awaited.
        ("receiver_expected", 1),
    ],
)
def test_what_is_under_way_keeps_the_link_from_rest(
    tmp_path: Path, sent: list[str], register: str, value: int
) -> None:
    made = Agent(configuration(tmp_path))
    assert made.answer({"command": "rest"}) == {"is_at_rest": True}
    memory(made).write_register(register, value)
    assert made.answer({"command": "rest"}) == {"is_at_rest": False}


def test_a_switch_takes_the_loss_of_its_direction_alone(served: tuple[Agent, PlaneClient]) -> None:
    made, client = served
    client.ask("loss", reverse={"model": "bernoulli", "p": 0.5})
    assert threshold(made) == 10485
    client.ask("loss", forward={"model": "bernoulli", "p": 0.5}, reverse={"model": "none"})
    assert threshold(made) == 1 << 19
    client.ask("loss", forward={"model": "none"})
    assert threshold(made) == 0


@pytest.mark.parametrize(
    ("command", "arguments", "words"),
    [
        ("protect", {"protection": {"family": "llr"}}, "linkguardian, has no llr: take the lab down"),
        ("loss", {"forward": {"model": "at", "lost": [3]}}, "a switch draws each loss for itself"),
        ("describe", {}, "does not know the command describe"),
    ],
)
def test_a_refusal_is_one_line(
    served: tuple[Agent, PlaneClient], command: str, arguments: dict[str, Any], words: str
) -> None:
    _, client = served
    with pytest.raises(RunError, match=words) as refusal:
        client.ask(command, **arguments)
    assert "\n" not in str(refusal.value)
    assert client.counters()["kind"] == "switch", "it goes on"


def test_a_link_is_told_by_both_ends(tmp_path: Path, sent: list[str]) -> None:
    near, far = (Agent(configuration(tmp_path, direction=direction)) for direction in ("reverse", "forward"))
    for end, frames in ((near, [50, 2]), (far, [70, 3])):
        memory(end).counters["SwitchIngress.corruption.frames"] = frames
    ends = [_Direct(near), _Direct(far)]
    counters = SwitchLink(*ends).counters()  # type: ignore[arg-type]
    assert counters["directions"]["forward"]["frames_lost"] == 3
    assert counters["directions"]["reverse"]["frames_offered"] == 50
    SwitchLink(*ends).ask("loss", forward={"model": "bernoulli", "p": 0.25})  # type: ignore[arg-type]
    assert (threshold(near), threshold(far)) == (10485, 1 << 18)


class _Direct:
    """A client without a socket."""

    def __init__(self, made: Agent) -> None:
        self._made = made

    def counters(self) -> dict[str, Any]:
        return self._made.counters()

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        return self._made.answer({"command": command} | arguments)


def test_the_end_of_the_switch_ends_its_control_plane(tmp_path: Path, sent: list[str]) -> None:
    chosen = configuration(tmp_path)
    server = Server(chosen.control, Agent(chosen))
    server.agent.switch.has_ended = True  # type: ignore[attr-defined]
    with pytest.raises(RunError, match="the switch has ended"):
        server.serve_forever(poll_interval=0.01)
    server.server_close()


def test_a_protection_of_no_program_is_refused(tmp_path: Path, sent: list[str]) -> None:
    with pytest.raises(UserError, match="has no fec: take the lab down"):
        Agent(configuration(tmp_path, protection=spelled_protection("fec:5/1").value))
