"""Captures, traces and counters: what of them is a loss, what they must hold, and what is written."""

from __future__ import annotations

import json
import struct
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lossylink
from lossylink.cli.exits import FAILED, MISTAKE
from lossylink.cli.measures.gauges import live_lines
from lossylink.errors import UserError
from lossylink.measuring import cable, counters, interface, probes
from lossylink.measuring.exchange import Direction
from lossylink.measuring.fit import FEWEST_RUNS, counted
from lossylink.measuring.interface import Interface
from lossylink.measuring.numbered import NEAR, Numbers, read_losses
from lossylink.measuring.outcome import FIGURES, Finding, scenario_text
from lossylink.measuring.probes import PROBE
from lossylink.measuring.record import Record
from lossylink.planning import advice
from lossylink.planning.advice import TARGET, Advice, advise

from .conftest import Ended

Command = Callable[..., Ended]
#: Frames that the link of the capture corrupts, a run of three and one near the wrap among them.
LOST = (3, 500, 501, 502, 65_535, 65_537, 131_072, 140_000)


def quiet(_done: float, _whole: float) -> None:
    """Report nothing."""


def probe(number: int, *, sender: bytes = b"8 octets", length: int = 60) -> bytes:
    body = bytes(probes.body_bytes(length))
    return probes.build(PROBE, target=bytes(6), source=bytes(6), sender=sender, number=number, body=body)


def pcap(frames: Sequence[bytes], *, order: str = "<", cut: int | None = None) -> bytes:
    parts = [struct.pack(f"{order}IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1)]
    for frame in frames:
        kept = frame[:cut]
        parts += [struct.pack(f"{order}IIII", 0, 0, len(kept), len(frame)), kept]
    return b"".join(parts)


def pcapng(frames: Sequence[bytes], *, order: str = "<", flags: Sequence[int] = ()) -> bytes:
    def block(kind: int, body: bytes) -> bytes:
        length = len(body) + 12
        return struct.pack(f"{order}II", kind, length) + body + struct.pack(f"{order}I", length)

    parts = [
        block(0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1)),
        block(1, struct.pack(f"{order}HHI", 1, 0, 0)),
    ]
    for number, frame in enumerate(frames):
        options = struct.pack(f"{order}HHIHH", 2, 4, flags[number], 0, 0) if flags else b""
        head = struct.pack(f"{order}IIIII", 0, 0, 0, len(frame), len(frame))
        parts.append(block(6, head + frame + bytes(-len(frame) % 4) + options))
    return b"".join(parts)


def lost(direction: Direction) -> list[int]:
    return [int(one) for one in np.flatnonzero(direction.record.lost)]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("kind", [pcap, pcapng])
def test_missing_numbers_are_losses_and_late_or_repeated_ones_are_not(
    kind: Callable[..., bytes], order: str, tmp_path: Path
) -> None:
    numbers = [7, 8, 10, 9, 10, 12, 15]
    other = b"\0" * 12 + b"\x90\x00" + b"not ours".ljust(46, b"\0")
    (tmp_path / "a").write_bytes(kind([other, *map(probe, numbers), other], order=order))
    (direction,) = read_losses(tmp_path / "a", quiet).values()
    assert [7 + one for one in lost(direction)] == [11, 13, 14]
    assert (direction.duplicated, direction.reordered, direction.record.frames) == (1, 1, 9)


def test_frames_that_a_capture_marks_or_alters_are_losses(tmp_path: Path) -> None:
    flags = [0, 1 << 24, 0, 0]
    frames = [probe(0), probe(1), probe(2)[:50] + b"x" + probe(2)[51:], probe(3)]
    (tmp_path / "a").write_bytes(pcapng(frames, flags=flags))
    (direction,) = read_losses(tmp_path / "a", quiet).values()
    assert lost(direction) == [1, 2]


def test_a_frame_that_comes_once_whole_and_once_corrupted_is_no_loss(tmp_path: Path) -> None:
    frames = [probe(0), probe(1), probe(1), probe(2)]
    for flags in ([0, 1 << 24, 0, 0], [0, 0, 1 << 24, 0]):
        (tmp_path / "a").write_bytes(pcapng(frames, flags=flags))
        (direction,) = read_losses(tmp_path / "a", quiet).values()
        assert lost(direction) == []


def test_cut_frames_and_a_last_one_that_was_cut_off_are_read(tmp_path: Path) -> None:
    frames = [probe(number, length=1000) for number in (0, 1, 3)]
    (tmp_path / "a").write_bytes(pcap(frames, cut=64)[:-5])
    (direction,) = read_losses(tmp_path / "a", quiet).values()
    assert (direction.record.frames, lost(direction)) == (2, [])
    (tmp_path / "a").write_bytes(pcapng(frames)[:-5])
    (direction,) = read_losses(tmp_path / "a", quiet).values()
    assert direction.record.frames == 2


def test_two_senders_are_two_directions(tmp_path: Path) -> None:
    frames = [probe(0), probe(0, sender=b"the peer"), probe(2), probe(1, sender=b"the peer")]
    (tmp_path / "a").write_bytes(pcap(frames))
    found = read_losses(tmp_path / "a", quiet)
    assert [lost(one) for one in found.values()] == [[1], []]


def test_a_capture_of_linkguardian_shows_what_the_link_lost(tmp_path: Path) -> None:
    """Numbers wrap after 65,536 frames; copies that are sent again tell nothing of the first ones."""
    settings = {"traffic.packets": 150_000, "traffic.frame": 60, "link.rate": "1Gbps"}
    lossylink.run(
        "stress",
        protection="lg",
        loss=f"at:{','.join(map(str, LOST))}",
        settings=settings,
        pcap=("sw2-sw6", tmp_path / "link.pcapng"),
    )
    found = read_losses(tmp_path / "link.pcapng", quiet)
    (direction,) = found.values()
    assert direction.record.frames == 150_000
    assert direction.record.losses == len(LOST)
    # LOST counts the places on the link. A frame that is sent again takes one, and is not numbered anew.
    assert lost(direction)[:5] == [3, 500 - 1, 501 - 1, 502 - 1, 65_535 - 4]


@given(st.integers(0, (1 << 17) - 1), st.lists(st.booleans(), min_size=2, max_size=300))
def test_numbers_that_wrap_are_continued(first: int, lost_frames: list[bool]) -> None:
    numbers = Numbers(wrap=1 << 17)
    marks = [False, *lost_frames, False]
    for at, is_lost in enumerate(marks):
        if not is_lost:
            numbers.enter((first + at) % (1 << 17))
    assert numbers.direction().record.lost.tolist() == marks
    assert (numbers.duplicated, numbers.reordered, numbers.sessions) == (0, 0, 1)


def test_a_number_far_away_begins_a_session() -> None:
    for step, sessions in ((NEAR, 1), (NEAR + 1, 2)):
        numbers = Numbers(wrap=1 << 17)
        numbers.enter(10)
        numbers.enter(10 + step)
        assert numbers.direction().record.losses == (step - 1 if sessions == 1 else 0)
        assert numbers.sessions == sessions


def test_two_directions_that_cannot_be_told_apart_are_refused(tmp_path: Path) -> None:
    def data(number: int) -> bytes:
        header = bytes([0x10 if number >> 16 else 0]) + (number & 0xFFFF).to_bytes(2, "big")
        return bytes(12) + b"\xab\xcd" + header + b"\x08\x00" + bytes(45)

    mixed = [data(number + shift) for number in range(500) for shift in (0, 50_000)]
    (tmp_path / "a").write_bytes(pcap(mixed))
    with pytest.raises(UserError, match="capture one direction: tcpdump -Q in$"):
        read_losses(tmp_path / "a", quiet)
    (tmp_path / "a").write_bytes(pcap(mixed[::2]))
    (direction,) = read_losses(tmp_path / "a", quiet).values()
    assert (direction.record.frames, direction.record.losses) == (500, 0)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (pcap([]), "holds no numbered frames; capture probes of lossylink measure or frames of LinkGuardian"),
        (pcap([bytes(60)]), "holds no numbered frames"),
        (pcap([])[:20] + struct.pack("<I", 101), "holds no Ethernet frames; capture on the interface"),
        (pcap([])[:10], "is damaged; record it again"),
        (pcapng([])[:28] + struct.pack("<III", 6, 4, 0), "is damaged; record it again"),
        (b"no trace", "'n' is neither 0 (delivered) nor 1 (lost)"),
        (b"", "the loss trace is empty"),
    ],
)
def test_what_holds_nothing_is_one_line(content: bytes, says: str, command: Command, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(content)
    ended = command("fit", "a")
    assert (ended.code, ended.err.count("\n")) == (MISTAKE, 1), ended.err
    assert says in ended.err
    assert [path.name for path in tmp_path.iterdir()] in (["a"], ["a", "runs"], ["runs", "a"])
    assert not list((tmp_path / "runs").glob("*"))


def test_a_fit_writes_a_scenario_that_runs(command: Command, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    record = Record(rng.random(200_000) < 1e-3)
    (tmp_path / "a.trace").write_text(record.trace())
    ended = command("fit", "a.trace", "--rate-of-link", "25Gbps", "--frame", "1000B", "-o", "fitted")
    assert ended.code == 0, ended.err
    figures = json.loads((tmp_path / "fitted" / FIGURES).read_text())
    found = figures["directions"]["forward"]
    assert (found["frames_sent"], found["frames_lost"]) == (record.frames, record.losses)
    assert (tmp_path / "fitted" / "forward.trace").read_text().endswith(record.trace())
    plan = figures["plans"]["forward"]
    assert plan["command"] in ended.out
    assert plan["command"].startswith("lossylink plan --link 25Gbps --loss ")
    assert plan["sentence"] in ended.out
    row = lossylink.run(str(tmp_path / "fitted" / "scenario.toml")).rows.row(0, named=True)
    assert found["loss_ratio_low"] <= row["effective_loss_rate"] <= found["loss_ratio_high"]
    again = command("fit", "fitted/forward.trace", "-o", "again")
    assert json.loads((tmp_path / "again" / FIGURES).read_text())["directions"]["forward"] == {
        **found,
        "direction": "forward.trace",
    }, again.err


def advised(finding: Finding) -> Advice:
    return advise(finding, rate_bps=10**11, frame_bytes=1514, folder=Path("fitted"))


def test_a_loss_is_planned_for_by_the_command_that_is_printed(command: Command) -> None:
    finding = Finding("forward", "to the peer", counted(frames=10**6, losses=1000, verdict="by counters"))
    advice = advised(finding)
    assert advice.command is not None
    ended = command(*advice.command.split()[1:])
    assert advice.sentence in " ".join(ended.out.split())
    whole = Finding("forward", "to the peer", counted(frames=10, losses=10, verdict="by counters"))
    assert "leaves nothing to plan" in advised(whole).sentence


def test_without_a_loss_nothing_is_advised_and_the_probes_that_would_tell_are_named() -> None:
    """One-sided, so that n frames without a loss bound it by 1 - 0.05^(1/n), which is near 3 / n."""
    nothing = Finding("forward", "to the peer", counted(frames=19_996, losses=0, verdict="by probes"))
    assert advised(nothing) == Advice(
        None,
        "none seen: at most 0.00015 at 95 % (one-sided); 300 million probes without a loss would show 1e-08",
    )
    for frames, is_told in ((299_000_000, False), (300_000_000, True)):
        assert (1 - 0.05 ** (1 / frames) <= TARGET) is is_told
        enough = Finding("forward", "to the peer", counted(frames=frames, losses=0, verdict="by counters"))
        assert advised(enough).sentence.endswith("leave it") is is_told


def test_what_the_boxes_dropped_alone_is_no_loss_to_plan_for() -> None:
    marks = np.zeros(10_000, dtype=np.bool_)
    marks[77] = True
    finding = Finding.of("forward", "to the peer", Direction(Record(marks), 0, 0, 0, 1, is_complete=True))
    assert advised(finding).command is None
    assert finding.fit.loss.native == {"model": "none"}


@pytest.mark.parametrize(("dropped", "is_valid"), [(0, True), (10, True), (11, False)])
def test_what_the_boxes_drop_is_not_the_loss_of_the_link(dropped: int, is_valid: bool) -> None:
    rng = np.random.default_rng(2)
    marks = np.zeros(100_000, dtype=np.bool_)
    marks[rng.choice(100_000, size=1000, replace=False)] = True
    direction = Direction(Record(marks), 0, 0, 0, dropped, is_complete=True)
    finding = Finding.of("forward", "to the peer", direction)
    assert (finding.fit.losses, finding.is_valid) == (1000 - dropped, is_valid)
    assert finding.fit.ratio.value == (1000 - dropped) / 100_000
    assert finding.fit.ratio.contains(0.01)
    assert any("INVALID" in line for line in finding.lines()) is not is_valid


def test_ctrl_c_during_the_fit_or_the_plan_keeps_the_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    marks = np.zeros(10_000, dtype=np.bool_)
    marks[np.random.default_rng(1).choice(5_000, FEWEST_RUNS, replace=False) * 2] = True
    direction = Direction(Record(marks), 0, 0, 0, 0, is_complete=True)
    finding = Finding.of("forward", "to the peer", direction, report=stop)
    assert finding.fit.verdict == "the fit was stopped; taken as independent"
    assert finding.fit.losses == FEWEST_RUNS
    monkeypatch.setattr(advice, "plan", stop)
    assert advised(finding).sentence.startswith("the plan was stopped")


def test_a_direction_that_is_not_known_is_clean_in_the_scenario() -> None:
    finding = Finding("reverse", "to here", counted(frames=10**4, losses=10, verdict="by counters"))
    text = scenario_text([finding], rate_bps=10**9, frame_bytes=200, title="eth2")
    assert 'forward = "none"\n' in text
    assert 'reverse = "0.001"\n' in text


@pytest.fixture
def card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An interface with a line of its own, as sysfs and ethtool show it: eth2 of a made-up driver."""
    folder = tmp_path / "sys" / "eth2"
    (folder / "statistics").mkdir(parents=True)
    for name, value in {"operstate": "up", "mtu": "1500", "speed": "25000"}.items():
        (folder / name).write_text(f"{value}\n")
    for name in ("rx_crc_errors", "rx_frame_errors", "rx_errors", "rx_packets"):
        (folder / "statistics" / name).write_text("5\n")
    monkeypatch.setattr(interface, "_SYSFS", tmp_path / "sys")
    tool = tmp_path / "bin" / "ethtool"
    tool.parent.mkdir()
    tool.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = -i ]; then echo "driver: $(cat ../driver)"; exit; fi\n'
        'echo "[{\\"ifname\\": \\"eth2\\", \\"statistics\\": {$(cat ../fec)}}]"\n'
    )
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:/bin:/usr/bin")
    (tmp_path / "driver").write_text("mlx5_core")
    (tmp_path / "fec").write_text("")
    tool.write_text(tool.read_text().replace("../", f"{tmp_path}/"))
    return tmp_path


def _traffic(card: Path, *, crc: int, packets: int, fec: str = "") -> Callable[[float, float], None]:
    """Return a report that makes the card count once, while it is looked at."""

    def change(_done: float, _whole: float) -> None:
        statistics = card / "sys" / "eth2" / "statistics"
        for name, value in {"rx_crc_errors": crc, "rx_errors": crc, "rx_packets": packets}.items():
            (statistics / name).write_text(f"{5 + value}\n")
        (card / "fec").write_text(fec)

    return change


def test_counters_give_the_loss_and_the_blocks_of_the_lines_own_code(card: Path) -> None:
    before = '"corrected_blocks": {"total": 100, "lanes": [60, 40]}, "uncorrectable_blocks": {"total": 7}'
    after = '"corrected_blocks": {"total": 350, "lanes": [60, 290]}, "uncorrectable_blocks": {"total": 9}'
    (card / "fec").write_text(before)
    found = counters.count(
        Interface.find("eth2"), seconds=0.1, report=_traffic(card, crc=20, packets=9980, fec=after)
    )
    assert (found.fit.frames, found.fit.losses, found.fit.ratio.value) == (10_000, 20, 0.002)
    assert found.fec_blocks == {"corrected_blocks": 250, "uncorrectable_blocks": 2}
    assert "  FEC: corrected_blocks 250, uncorrectable_blocks 2" in found.lines()


def test_the_gauges_of_the_code_are_read_beside_the_counters(card: Path) -> None:
    (card / "fec").write_text(_histogram(1_000_000, 100, 5))
    found = counters.count(
        Interface.find("eth2"),
        seconds=0.1,
        report=_traffic(card, crc=20, packets=9980, fec=_histogram(3_000_000, 400, 7)),
    )
    assert [one.codewords for one in found.gauges.histogram] == [2_000_000, 300, 2, 0]
    assert found.gauges.uncorrectable == 0
    lines = live_lines(found, code="rs528", rate_bps=25 * 10**9, frame_bytes=1_514)
    assert lines[0] == "  ethtool: 2,000,302 codewords of rs528, 0 of them uncorrectable"
    assert any("codeword error ratio" in line for line in lines)
    (wrong,) = live_lines(found, code="rs544", rate_bps=25 * 10**9, frame_bytes=1_514)
    assert "a histogram of another code" in wrong


def _histogram(*codewords: int) -> str:
    """Return what ethtool has of a line whose codewords have 0, 1 or 2 wrong symbols, as JSON."""
    spans = ((0, 0), (1, 1), (2, 2), (3, 7))
    counts = (*codewords, 0)
    bins = [
        json.dumps({"bin_low": low, "bin_high": high, "total": count})
        for (low, high), count in zip(spans, counts, strict=True)
    ]
    return f'"uncorrectable_blocks": {{"total": 0}}, "hist": [{", ".join(bins)}]'


def test_counters_that_stay_are_a_bound_where_the_driver_has_a_line(card: Path, command: Command) -> None:
    found = counters.count(Interface.find("eth2"), seconds=0.1, report=_traffic(card, crc=0, packets=3000))
    assert (found.fit.losses, f"{found.fit.ratio.high:.4f}") == (0, "0.0010")
    assert "  FEC: the driver counts no blocks" in found.lines()
    ended = command("measure", "--link", "eth2", "--counters", "--seconds", "0.1")
    assert (ended.code, ended.out) == (MISTAKE, "")
    assert "no frame came in on eth2 in 0 s; count while traffic flows" in ended.err


def test_ctrl_c_keeps_what_was_counted(card: Path) -> None:
    change = _traffic(card, crc=1, packets=99)

    def stop(done: float, whole: float) -> None:
        change(done, whole)
        raise KeyboardInterrupt

    found = counters.count(Interface.find("eth2"), seconds=1000, report=stop)
    assert (found.is_shorter, found.fit.frames, found.fit.losses) == (True, 100, 1)


@pytest.mark.parametrize(("dropped", "code"), [(0, 0), (50, FAILED)])
def test_a_run_with_drops_of_our_own_is_kept_and_fails(
    dropped: int, code: int, card: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost_frames = Record(np.arange(10_000) % 100 == 7)
    one = Direction(lost_frames, 0, 0, 0, dropped, is_complete=True)
    measured = cable.Measured(one, one, 1.0, is_shorter=False)
    monkeypatch.setattr(cable, "measure", lambda *_, **__: measured)
    ended = command("measure", "--link", "eth2", "--rate", "10526", "-o", "kept")
    assert ended.code == code, ended.err
    assert "probes a second" not in ended.err
    slow = command("measure", "--link", "eth2", "--rate", "10527", "-o", "slow")
    assert "this box sent 10,000 probes a second, not 10,527\n" in slow.err
    assert ("the run is invalid" in ended.err) is (code == FAILED)
    found = json.loads((card / "kept" / FIGURES).read_text())["directions"]["forward"]
    assert (found["is_valid"], found["frames_lost"]) == (code == 0, 100 - dropped)


def test_a_name_with_any_letter_makes_a_scenario(tmp_path: Path) -> None:
    name = 'a "quoted"\nname'
    finding = Finding("forward", name, counted(frames=10**4, losses=10, verdict="by counters"))
    text = scenario_text([finding], rate_bps=10**9, frame_bytes=200, title=name)
    assert tomllib.loads(text)["title"] == name
    assert tomllib.loads(text)["loss"]["forward"] == "0.001"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--link", "eth3"), "there is no interface eth3; this machine has eth2"),
        (("--link", "eth2", "--length", "1515B"), "--length 1515 B does not fit eth2; give 60 to 1514 B"),
        (("--link", "eth2", "--length", "59B"), "--length 59 B does not fit eth2; give 60 to 1514 B"),
        (("--link", "eth2", "--rate", "20001"), "give up to 20000"),
        (("--link", "eth2", "--rate", "20000", "--seconds", "501"), "has up to 10,000,000 probes"),
        (("--link", "eth2", "--rate-of-link", "5"), "--rate-of-link: "),
        (("--link", "eth2", "--rate", "many"), "--rate: "),
    ],
)
def test_what_cannot_be_measured_is_one_line(
    words: tuple[str, ...], says: str, card: Path, command: Command
) -> None:
    ended = command("measure", *words)
    assert (ended.code, ended.err.count("\n")) == (MISTAKE, 1), ended.err
    assert says in ended.err


@pytest.mark.parametrize(
    ("name", "value", "says"), [("speed", "-1", "add --rate-of-link"), ("operstate", "down", "is down")]
)
def test_an_interface_that_is_not_ready_is_one_line(
    name: str, value: str, says: str, card: Path, command: Command
) -> None:
    (card / "sys" / "eth2" / name).write_text(f"{value}\n")
    ended = command("measure", "--link", "eth2")
    assert ended.code == MISTAKE
    assert says in ended.err


def test_a_virtual_interface_counts_only_if_it_has_fec_counters(card: Path) -> None:
    (card / "driver").write_text("veth")
    with pytest.raises(UserError, match=r"eth2 \(veth\) counts no corrupted frames"):
        counters.count(Interface.find("eth2"), seconds=0.1, report=_traffic(card, crc=0, packets=10))
