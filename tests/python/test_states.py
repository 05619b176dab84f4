"""The state of a link's two ends at an instant: words, JSON, run directory, and where it is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import lossylink
from lossylink.errors import UserError
from lossylink.results.states import simulated

from .conftest import Ended

Command = Callable[..., Ended]
DICTIONARY = Path(__file__).resolve().parents[2] / "docs" / "data-dictionary.md"
SHORT = {"run.duration": "60ms", "run.warmup": "10ms", "run.cooldown": "10ms"}
SMALL = {"traffic.packets": 20_000, "loss.forward": "1%"}
#: Between them they have every key.
PROTECTIONS = (
    *("none", "lg", "lg-nb", "llr", "llr:errors=seen", "fec:25/5", "fec:25/5,meter=police", "fec-model:25/5"),
)


def state(protection: str, at: str = "1ms") -> dict[str, Any]:
    run = lossylink.run("stress", protection=[protection], settings=SMALL, seed=1, state_at=[at])
    assert len(run.states) == 1
    return run.states[0]


def keys(value: Mapping[str, Any], prefix: str = "") -> set[str]:
    """Return the places of all values below this one."""
    found: set[str] = set()
    for name, inner in value.items():
        found |= keys(inner, f"{prefix}{name}.") if isinstance(inner, dict) else {prefix + name}
    return found


def test_every_key_stands_in_the_dictionary_and_is_produced() -> None:
    section = re.search(r"^## State at an instant$(.*?)^## ", DICTIONARY.read_text(), flags=re.S | re.M)
    assert section is not None
    documented = set(re.findall(r"^\| `([^`]+)` \|", section[1], flags=re.MULTILINE))
    produced: set[str] = set()
    for protection in PROTECTIONS:
        produced |= keys(state(protection))
    assert produced == documented


def test_the_words_are_those_of_the_artifact_and_none_stands_empty() -> None:
    text = simulated(state("lg:copies=2"))
    for field in (
        *("sender (sw2), protection lg", "ig_debug_counter (frames from the LAN): ", "Next seq no: "),
        *("Next seq era: ", "leading_ack: ", "leading_ack_era: ", "corruption_seq_no (egress pkt counter): "),
        *("emulated_corruption_counter (pkts dropped): ", "Emulated holes: ", "Corrupting Port(s) (1): link"),
        *(
            "Protected Port(s) (1): link",
            "No. of reTx copies: 2",
            "ECN Marking Threshold: 100.0KB (1250 cells)",
        ),
        *("expected_seq_no: ", "ack_era: ", "leading_ack_notify_count: ", "timeout_pkt_trigger_cntr: "),
        *(
            "LOSS RATE: ",
            "PFC resume threshold: 36.8KB (460 cells)",
            "PFC pause threshold: 40.0KB (500 cells)",
        ),
    ):
        assert field in text, field
    assert re.search(r"^ack \(time_remaining\): \d+ \(\d+\)$", text, flags=re.MULTILINE)
    # One timer packet in 100 ns.
    passed = re.search(r"^timeout_pkt_no_trigger_cntr: (\d+)$", text, flags=re.MULTILINE)
    assert passed is not None
    assert 9_990 <= int(passed[1]) <= 10_000
    assert not re.search(r": -|\(-\)|None", text)


@pytest.mark.parametrize(
    ("protection", "fields"),
    [
        ("none", ("Protected Port(s) (0): ", "protection none")),
        ("lg-nb", ("leading_ack: ", "Duplicates dropped: ")),
        ("llr", ("tx_state: ", "next number: ", "expected number: ", "outstanding: ")),
        ("fec:25/5", ("encoder: ", "blocks closed before they were full: ", "decoder keeps: ")),
        ("fec-model:25/5", ("encoder: ", "blocks closed: ", "wait for the end of their block: ")),
    ],
)
def test_each_protection_says_what_it_has(protection: str, fields: tuple[str, ...]) -> None:
    text = simulated(state(protection))
    assert all(field in text for field in fields), text
    assert not re.search(r": -|\(-\)|None", text)
    assert ("ack (time_remaining)" in text) is False


def test_a_protection_that_is_switched_on_later_is_off_before() -> None:
    settings = {
        "run.duration": "30ms",
        "timeline.corruption": "5ms",
        "timeline.protection": "10ms",
        "timeline.bin": "1ms",
    }
    run = lossylink.run("timeline", protection=["lg"], settings=settings, state_at=["9ms", "20ms"])
    before, after = run.states
    assert (before["near"]["protection"], after["near"]["protection"]) == ("none", "lg")
    assert "sender" not in before["near"]
    assert 0 < after["near"]["sender"]["data"] < after["near"]["from_lan"]


def test_the_command_prints_and_keeps_what_it_saw(command: Command, tmp_path: Path) -> None:
    words = ("run", "stress", "-p", "lg", "-p", "none", "--set", "traffic.packets=20_000", "--seed", "3")
    looks = ("--state-at", "2ms", "--state-at", "1ms")
    ended = command(*words, *looks, "--output", "kept")
    assert ended.code == 0, ended.err
    heads = [f"state with {label} at {at} us" for label in ("lg", "none") for at in (1000, 2000)]
    kept = (tmp_path / "kept" / "states.txt").read_text()
    for text in (ended.out, kept):
        assert [line for line in text.splitlines() if line.startswith("state with")] == heads
    summary = json.loads((tmp_path / "kept" / "summary.json").read_text())
    printed = json.loads(command(*words, *looks, "--json").out)
    assert printed["states"] == summary["states"]
    assert [simulated(one) for one in printed["states"]] == kept.rstrip("\n").split("\n\n\n")
    assert "states" not in json.loads(command(*words, "--json").out)


@pytest.mark.parametrize(
    ("experiment", "settings", "at", "says"),
    [
        ("stress", {"traffic.packets": 1000}, "5ms", "--state-at 5 ms lies after the end of the run at 0.1"),
        (
            "throughput",
            SHORT,
            "51ms",
            "--state-at 51 ms lies after the end of the run at 50 ms; take an earlier",
        ),
        ("mathis", {}, "5ms", "mathis is many of them; take throughput, which is one"),
        (
            "stress",
            {"run.backend": "live"},
            "5ms",
            "stress runs live; ask a lab of your own with lossylink lab",
        ),
        ("stress", {}, "5 parsecs", "--state-at: "),
    ],
)
def test_what_cannot_be_looked_at_is_refused_in_one_line(
    experiment: str, settings: dict[str, Any], at: str, says: str
) -> None:
    with pytest.raises(UserError, match=re.escape(says)) as refused:
        lossylink.run(experiment, settings=settings, protection=["none"], state_at=[at])
    assert "\n" not in str(refused.value)
