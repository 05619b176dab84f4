"""The live lab in virtual time: the guards that people run, and when exactly they do what they promise.

The hosts, the wire and the guards are those of ``lossylink lab up``. Their clock stands still while anybody
computes, so that what the live tests give a range is one number here, on any machine.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest

from lossylink.errors import RunError
from lossylink.linux.guest.lab import Played, run_in_lab
from lossylink.linux.lab import LabSettings

from . import virtual_guards
from .kernel_support import needed_kernel
from .virtual_guards import HELLO_INTERVAL_NS, MESSAGE, MS, PROBE, PROTECTED, STEP_NS

KERNEL = needed_kernel()
_RATE_BPS, _RTT_MS = 10**8, 2
#: Octets of a message, and of one that shows that the longest frame gets through (G-32).
_SHORT, _LONG = 83, 1536
#: FCS, preamble and gap.
_AROUND_BYTES = 24
#: By how much a data plane may miss a deadline: it reads the clock some times before it sleeps, 1 ns each.
_LATENESS_NS = 25
#: A frame passes four interfaces and two data planes.
_PASSING_NS = 100
#: While a program starts, thousands of system calls without sleep take a few nanoseconds each.
_STARTING_NS = 2_000
_SILENCE_NS, _SUCCESSION_NS = 500 * MS, 100 * MS
_PROTECTIONS = ("lg:copies=2", "lg-nb:copies=2", "llr", "fec:10/5")
_FAULTS = (
    "garbage from both sides",
    "recorded frames, altered",
    "the near cable flaps",
    "the far guard is stopped for 1 s",
    "all frames are lost for 3 s",
    "the near guard is killed",
)

Row = dict[str, Any]


def _settings(**values: Any) -> LabSettings:
    chosen = {"rate_bps": _RATE_BPS, "rtt_ps": _RTT_MS * 10**9, "protection": "lg:copies=2"}
    return LabSettings(**(chosen | values))


def _flight_ns(octets: int) -> float:
    """Return how long a frame is under way from guard to guard."""
    return _RTT_MS / 2 * MS + (octets + _AROUND_BYTES) * 8e9 / _RATE_BPS


def _arrival_ns(row: Row) -> float:
    """Return when a frame arrives that a guard has put on the wire."""
    left_ns: int = row["at_ns"]
    return left_ns + _flight_ns(row["octets"])


def _meeting_ns() -> float:
    """Return what passes from the first hello that arrives until both guards protect.

    Hello, reply, a long hello, a long hello back, and the word that it was heard.
    """
    return 3 * _flight_ns(_SHORT) + 2 * _flight_ns(_LONG)


def _messages(frames: Iterable[Row], kind: str | None = None) -> list[Row]:
    messages = [row for row in frames if row["ethertype"] == MESSAGE]
    return [row for row in messages if kind is None or row["kind"] == kind]


def _silent_at(frames: Iterable[Row], end_ns: float) -> float:
    """Return when a guard falls silent that hears the last of these messages that leave before an instant."""
    last = [row for row in _messages(frames) if row["at_ns"] < end_ns][-1]
    return _arrival_ns(last) + _SILENCE_NS


def _hello_near(frames: Iterable[Row], instant_ns: float) -> Row:
    """Return the hello that left at an instant."""
    (found,) = [row for row in _messages(frames, "hello") if abs(row["at_ns"] - instant_ns) < _PASSING_NS]
    return found


@pytest.fixture(scope="module")
def played() -> Played:
    return run_in_lab(KERNEL, virtual_guards.faults, _settings(split=True))


@pytest.fixture(scope="module")
def flooded() -> Row:
    arguments = {"protections": _PROTECTIONS, "frames": 500}
    result: Row = run_in_lab(
        KERNEL, virtual_guards.floods, _settings(rtt_ps=10**10), arguments=arguments
    ).result
    return result


# G-5
def test_messages_leave_every_50_ms_and_arrive_when_the_link_says(played: Played) -> None:
    heard = played.result["steady"]["heard"]
    for ours, theirs in (("near", "far"), ("far", "near")):
        hellos = [row["at_ns"] for row in _messages(heard[ours], "hello")]
        assert len(hellos) == 10
        for one, next_one in pairwise(hellos):
            assert 0 <= next_one - one - HELLO_INTERVAL_NS <= _LATENESS_NS
        replies = [row["at_ns"] for row in _messages(heard[theirs], "reply")]
        asked = [row for row in _messages(heard[ours], "hello") if row["at_ns"] < max(replies) - MS]
        for row in asked:
            assert min(abs(reply - _arrival_ns(row)) for reply in replies) < _PASSING_NS
    for loop_us in played.result["steady"]["loop_us"]:
        assert loop_us == pytest.approx(2 * _flight_ns(_SHORT) / 1e3, abs=2 * _PASSING_NS / 1e3)


def test_every_deadline_is_met_and_a_ping_takes_what_the_link_takes(played: Played, flooded: Row) -> None:
    """An echo of 98 octets in its wrapping, an acknowledgement, and the echo that waits behind it (G-13)."""
    assert played.result["steady"]["lateness_us"] * 1e3 <= _LATENESS_NS
    for rtt_ms, ping_ms in ((_RTT_MS, played.result["steady"]["ping_ms"]), (10, flooded["ping_ms"])):
        octets = 2 * (98 + 9 + _AROUND_BYTES) + 60 + _AROUND_BYTES
        assert ping_ms == pytest.approx([rtt_ms + octets * 8e3 / _RATE_BPS] * 2, abs=1e-3)


# G-8
def test_a_guard_whose_peer_is_killed_passes_frames_as_they_are_500_ms_after_its_last_word(
    played: Played,
) -> None:
    killed = played.result["killed"]
    heard, probes = killed["heard"], killed["probes"]
    silent_ns = _silent_at(heard["far"], probes[0])
    assert _hello_near(heard["near"], silent_ns)["peer"] == 0
    as_they_are = [row["at_ns"] for row in heard["near"] if row["ethertype"] == PROBE]
    late = [sent for sent in probes if sent > silent_ns]
    assert as_they_are == pytest.approx(late, abs=_PASSING_NS)
    protected = [row["at_ns"] for row in heard["near"] if row["ethertype"] == PROTECTED]
    early = [sent for sent in probes if sent < silent_ns]
    assert len(early) > 80
    for sent in early:
        assert min(abs(at - sent) for at in protected) < _PASSING_NS
    assert max(protected) < silent_ns
    assert (killed["peer"], killed["silences"]) == ("absent: passing frames unprotected", 1)


# G-7, G-32
def test_a_guard_that_comes_back_protects_five_flights_after_its_first_word(played: Played) -> None:
    started = played.result["started"]
    first = _messages(started["heard"]["far"])[0]
    assert (first["kind"], first["peer"], first["octets"]) == ("hello", 0, _SHORT)
    beyond = started["agreed_ns"] - first["at_ns"] - _meeting_ns()
    assert 0 <= beyond <= STEP_NS + _STARTING_NS


def test_a_cable_that_is_cut_silences_after_500_ms_and_heals_in_five_flights(played: Played) -> None:
    cut, gone = played.result["cut"], played.result["cut"]["gone"]
    silent_ns = _silent_at(gone["heard"]["far"], gone["at_ns"])
    assert _hello_near(gone["heard"]["near"], silent_ns)["peer"] == 0
    assert gone["peers"] == ["absent: passing frames unprotected"] * 2
    # The first hello that arrives is the far guard's, or has left while the cable was still down.
    answer = _messages(cut["heard"]["far"])[0]
    begin_ns = answer["at_ns"] - (_flight_ns(_SHORT) if answer["kind"] == "reply" else 0)
    assert 0 <= cut["agreed_ns"] - begin_ns - _meeting_ns() <= STEP_NS + _STARTING_NS


# G-8, G-20
def test_nine_lost_hellos_are_no_silence_and_ten_are(played: Played) -> None:
    """The tenth gives back a nonce that is 499.9 ms old, which still counts."""
    nine, ten = played.result["outages"]
    assert nine["after"] == nine["before"]
    for before, after in zip(ten["before"]["silences"], ten["after"]["silences"], strict=True):
        assert after == before + 1
    for ours, theirs in (("near", "far"), ("far", "near")):
        silent_ns = _silent_at(ten["heard"][theirs], ten["begin_ns"])
        assert _hello_near(ten["heard"][ours], silent_ns)["peer"] == 0


def test_the_same_faults_give_the_same_record_on_a_busy_machine(played: Played) -> None:
    busy = subprocess.Popen(["sh", "-c", "while :; do :; done"])
    try:
        again = run_in_lab(KERNEL, virtual_guards.faults, _settings(split=True))
    finally:
        busy.kill()
        busy.wait()
    assert again.result == played.result


# G-20, G-32
def test_a_guard_that_is_started_anew_at_once_is_the_peer_100_ms_after_the_last_word_of_the_old_one() -> None:
    result = run_in_lab(KERNEL, virtual_guards.succession, _settings(split=True)).result
    heard = result["heard"]
    last_ns = _arrival_ns(_messages(result["before"]["far"])[-1])
    arrivals = map(_arrival_ns, _messages(heard["far"]))
    taken_ns = min(at for at in arrivals if at >= last_ns + _SUCCESSION_NS)
    welcome = _hello_near(heard["near"], taken_ns)
    assert (welcome["session"], welcome["octets"]) == (2, _LONG)
    # It hears how little of its own the other has heard, and says something long at once.
    meeting_ns = 2 * _flight_ns(_LONG) + _flight_ns(_SHORT)
    assert 0 <= result["agreed_ns"] - taken_ns - meeting_ns <= MS + _STARTING_NS


def test_a_guard_that_is_told_to_end_sleeps_until_its_peer_is_silent() -> None:
    """It keeps copies until then. Frames of the LAN that it does not take any more must not keep it awake."""
    result = run_in_lab(KERNEL, virtual_guards.ended, _settings(split=True)).result
    silent_ns = _silent_at(result["heard"]["far"], result["told_ns"])
    assert 0 <= result["ended_ns"] - silent_ns <= 2 * MS


@pytest.mark.parametrize("protection", _PROTECTIONS)
def test_a_flood_crosses_a_link_that_corrupts_two_frames_of_a_hundred(flooded: Row, protection: str) -> None:
    (row,) = [row for row in flooded["outcomes"] if row["protection"] == protection]
    assert row["lost"] > 5
    tally = row["tally"]
    assert (tally["sent"], tally["delivered"], tally["duplicated"], tally["altered"]) == (500, 500, 0, 0)
    assert (tally["reordered"] > 0) == protection.startswith("lg-nb")
    assert row["lateness_us"] * 1e3 <= _PASSING_NS
    for end in ("near", "far"):
        assert (row[end]["silences"], row[end]["queue_dropped"], row[end]["no_room"]) == (0, 0, 0)


def test_tcp_sends_nothing_again_where_losses_are_repaired(flooded: Row) -> None:
    flow = flooded["flow"]
    assert flow["flows"] == ["1", "0"]
    assert flow["sent"] > 200
    assert flow["sent_again"] == 0


def test_hostile_faults_leave_flows_whole_and_heal() -> None:
    """A slow link, so that a short flow lasts as long as a fault."""
    settings = _settings(split=True, rate_bps=10**7, loss_forward="1%", loss_reverse="1%")
    arguments = {"names": _FAULTS, "flow_bytes": 200_000}
    outcomes = run_in_lab(KERNEL, virtual_guards.hostile, settings, arguments=arguments).result
    for outcome in outcomes:
        assert outcome["flows"] == ["1", "0"], outcome
        assert outcome["recovered_seconds"] < 0.1, outcome


def test_what_fails_in_a_guest_is_said_outside() -> None:
    with pytest.raises(RunError, match="ValueError: a lab at 100000000 b/s, and no result"):
        run_in_lab(KERNEL, virtual_guards.failing, _settings())
