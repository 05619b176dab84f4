"""Captures: tshark, with the repository's dissectors, reads what the simulator records."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

import lossylink
from lossylink.errors import UserError

DISSECTORS = sorted((Path(__file__).parents[2] / "tools" / "wireshark").glob("*.lua"))
HOPS = ["h4-sw8", "sw8-sw4", "sw4-sw2", "sw2-sw6", "sw6-sw10", "sw10-h8"]
#: What Wireshark calls a checksum that it verified.
GOOD, UNVERIFIED = "1", "2"

Settings = dict[str, object]


@pytest.fixture(scope="session")
def tshark() -> str:
    program = shutil.which("tshark")
    if program is None:
        assert "CI" not in os.environ, "tshark is missing; tools/setup installs it"
        pytest.skip("tshark is not installed")
    return program


def record(
    path: Path,
    experiment: str = "tcp-fct",
    *,
    hop: str = "sw2-sw6",
    protection: str = "lg",
    settings: Settings | None = None,
    seed: int = 1,
    threads: int = 1,
) -> lossylink.Run:
    return lossylink.run(
        experiment,
        protection=[protection],
        settings=settings,
        seed=seed,
        threads=threads,
        pcap=(hop, path),
    )


def read(tshark: str, path: Path, fields: Sequence[str], *, only: str = "") -> list[dict[str, str]]:
    """Give the fields of every frame that passes the filter; checksums are verified."""
    scripts = [word for script in DISSECTORS for word in ("-X", f"lua_script:{script}")]
    command = [tshark, *scripts, "-r", str(path), "-T", "fields", "-E", "occurrence=f"]
    for protocol in ("ip", "tcp", "udp"):
        command += ["-o", f"{protocol}.check_checksum:TRUE"]
    for name in fields:
        command += ["-e", name]
    done = subprocess.run([*command, "-Y", only], capture_output=True, text=True, timeout=120, check=True)
    return [dict(zip(fields, line.split("\t"), strict=True)) for line in done.stdout.splitlines()]


def is_clean(tshark: str, path: Path) -> bool:
    """Whether tshark finds no frame malformed and no checksum wrong, and the frames in order of time."""
    bad = "_ws.malformed or linkguardian.expert.malformed or ip.checksum.status == 0"
    bad += " or tcp.checksum.status == 0 or udp.checksum.status == 0"
    times = [float(frame["frame.time_epoch"]) for frame in read(tshark, path, ["frame.time_epoch"])]
    return bool(times) and times == sorted(times) and not read(tshark, path, ["frame.number"], only=bad)


@pytest.fixture(scope="module")
def lossy_link(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One flow whose frame with index 8 on the wire is lost, under two copies of each retransmission."""
    path = tmp_path_factory.mktemp("capture") / "link.pcapng"
    run = record(path, protection="lg:copies=2", settings={"loss.forward": "at:8", "flow.trials": 1})
    assert run.tables["trials"]["lost_frames"].to_list() == [1]
    return path


def test_the_dialogue_of_a_loss_can_be_followed(tshark: str, lossy_link: Path) -> None:
    fields = ["linkguardian.seq", "linkguardian.retransmission", "tcp.seq", "frame.number", "frame.comment"]
    (lost,) = read(tshark, lossy_link, fields, only="frame.packet_flags_crc_error == 1")
    assert lost["frame.comment"].startswith("corrupted")
    assert lost["linkguardian.retransmission"] == "0"
    assert (int(lost["tcp.seq"]) - 1) % 1460 == 0, "a segment of the flow, which begins at 1"

    fields = ["linkguardian.first_lost", "linkguardian.hole_size", "linkguardian.lost", "frame.number"]
    (notification,) = read(tshark, lossy_link, fields, only="linkguardian.type == 2")
    assert notification["linkguardian.hole_size"] == "1"
    assert notification["linkguardian.first_lost"] == lost["linkguardian.seq"]
    assert notification["linkguardian.lost"] == lost["linkguardian.seq"]

    fields = ["linkguardian.seq", "tcp.seq", "frame.number"]
    copies = read(tshark, lossy_link, fields, only="linkguardian.retransmission == 1")
    assert [(copy["linkguardian.seq"], copy["tcp.seq"]) for copy in copies] == [
        (lost["linkguardian.seq"], lost["tcp.seq"])
    ] * 2
    order = [int(frame["frame.number"]) for frame in (lost, notification, *copies)]
    assert order == sorted(order)


def test_each_frame_is_numbered_and_a_dummy_announces_the_next(tshark: str, lossy_link: Path) -> None:
    fields = ["linkguardian.seq", "linkguardian.dummy", "linkguardian.blocking_mode"]
    only = "linkguardian.type == 0 and linkguardian.retransmission == 0"
    expected = 0
    dummies = 0
    for frame in read(tshark, lossy_link, fields, only=only):
        assert int(frame["linkguardian.seq"]) == expected
        assert frame["linkguardian.blocking_mode"] == "1"
        is_dummy = frame["linkguardian.dummy"] == "1"
        dummies += is_dummy
        expected += not is_dummy
    assert dummies > 0
    assert expected == 1 + 1 + 17, "SYN, ACK and 24,387 B in segments of 1460 B"


def test_tcp_stands_whole_under_the_header(tshark: str, lossy_link: Path) -> None:
    assert is_clean(tshark, lossy_link)
    fields = ["tcp.checksum.status", "ip.checksum.status", "tcp.len", "ip.src", "linkguardian.seq"]
    segments = read(tshark, lossy_link, fields, only="tcp")
    assert {segment["tcp.checksum.status"] for segment in segments} == {GOOD}
    assert {segment["ip.checksum.status"] for segment in segments} == {GOOD}
    assert {bool(segment["linkguardian.seq"]) for segment in segments if segment["ip.src"] == "10.2.2.1"} == {
        True
    }
    first_sent = read(tshark, lossy_link, ["tcp.len"], only="tcp and linkguardian.retransmission == 0")
    assert sum(int(segment["tcp.len"]) for segment in first_sent) == 24_387
    acks = read(tshark, lossy_link, ["tcp.ack"], only="ip.src == 10.2.2.2")
    assert int(acks[-1]["tcp.ack"]) == 1 + 24_387


def test_both_directions_and_the_hop_are_named(tshark: str, lossy_link: Path) -> None:
    fields = ["frame.interface_name", "frame.packet_flags_direction", "eth.src", "frame.len", "frame.cap_len"]
    frames = read(tshark, lossy_link, fields)
    assert {frame["frame.interface_name"] for frame in frames} == {"sw2-sw6"}
    inbound = {frame["eth.src"] for frame in frames if int(frame["frame.packet_flags_direction"], 16) == 1}
    outbound = {frame["eth.src"] for frame in frames if int(frame["frame.packet_flags_direction"], 16) == 2}
    assert inbound == {"02:00:00:00:00:08", "02:00:00:00:01:06"}
    assert outbound == {"02:00:00:00:00:04", "02:00:00:00:01:02"}
    assert max(int(frame["frame.len"]) for frame in frames) == 1514 + 5
    assert max(int(frame["frame.cap_len"]) for frame in frames) == 128


@pytest.mark.parametrize("hop", [hop for hop in HOPS if hop != "sw2-sw6"])
def test_every_hop_carries_the_flows_both_ways(tshark: str, tmp_path: Path, hop: str) -> None:
    path = tmp_path / "hop.pcapng"
    record(path, hop=hop, settings={"loss.forward": "0", "flow.trials": 2})
    assert is_clean(tshark, path)
    fields = ["ip.src", "tcp.srcport", "tcp.flags.syn", "tcp.checksum.status", "frame.cap_len", "frame.len"]
    frames = read(tshark, path, fields, only="tcp and not linkguardian")
    requests = [frame for frame in frames if (frame["ip.src"], frame["tcp.flags.syn"]) == ("10.2.2.1", "1")]
    assert [frame["tcp.srcport"] for frame in requests] == ["49152", "49153"], "a port a flow"
    assert {frame["ip.src"] for frame in frames} == {"10.2.2.1", "10.2.2.2"}
    for frame in frames:
        is_cut = frame["frame.cap_len"] != frame["frame.len"]
        assert frame["tcp.checksum.status"] == (UNVERIFIED if is_cut else GOOD)


def test_losses_both_ways_with_reordering_stay_readable(tshark: str, tmp_path: Path) -> None:
    path = tmp_path / "link.pcapng"
    settings: Settings = {"loss.forward": "5%", "loss.reverse": "5%", "flow.trials": 20}
    record(path, protection="lg-nb", settings=settings)
    assert is_clean(tshark, path)
    assert read(tshark, path, ["frame.number"], only="tcp.options.sack_le")
    corrupted = "frame.packet_flags_crc_error == 1 and frame.packet_flags_direction == {}"
    assert all(read(tshark, path, ["frame.number"], only=corrupted.format(way)) for way in (1, 2))


def test_the_stress_test_shows_pauses_and_numbered_datagrams(tshark: str, tmp_path: Path) -> None:
    path = tmp_path / "link.pcapng"
    run = record(path, "stress", settings={"loss.forward": "1%", "traffic.packets": 5_000})
    assert is_clean(tshark, path)
    row = run.rows.to_dicts()[0]
    pauses = read(tshark, path, ["macc.opcode"], only="eth.type == 0x8808")
    assert pauses
    assert {pause["macc.opcode"] for pause in pauses} == {"0x0101"}
    only = "udp and linkguardian.retransmission == 0"
    numbers = [int(frame["data.data"][:16], 16) for frame in read(tshark, path, ["data.data"], only=only)]
    assert numbers == list(range(5_000))
    copies = read(tshark, path, ["frame.number"], only="linkguardian.retransmission == 1")
    assert len(copies) == row["retransmissions"] * row["copies"]


def test_messages_are_rdma_writes(tshark: str, tmp_path: Path) -> None:
    path = tmp_path / "link.pcapng"
    record(path, "rdma-fct", protection="none", settings={"loss.forward": "at:5", "flow.trials": 2})
    assert is_clean(tshark, path)
    fields = ["infiniband.bth.opcode", "infiniband.bth.psn", "frame.packet_flags_crc_error"]
    frames = read(tshark, path, fields, only="infiniband and ip.src == 10.2.2.1")
    numbers = [int(frame["infiniband.bth.psn"]) for frame in frames]
    assert numbers[:6] == list(range(numbers[0], numbers[0] + 6))
    assert [frame["frame.packet_flags_crc_error"] for frame in frames[:7]] == ["0"] * 5 + ["1", "0"]
    naks = "infiniband.aeth.syndrome.opcode == 3 and ip.src == 10.2.2.2"
    (nak,) = read(tshark, path, ["infiniband.bth.psn"], only=naks)
    assert nak["infiniband.bth.psn"] == frames[5]["infiniband.bth.psn"]
    assert numbers.count(numbers[5]) == 2, "lost, and sent again"


def test_an_unprotected_link_carries_frames_as_they_came(tshark: str, tmp_path: Path) -> None:
    path = tmp_path / "link.pcapng"
    record(path, protection="none", settings={"loss.forward": "at:5", "flow.trials": 1})
    assert is_clean(tshark, path)
    assert not read(tshark, path, ["frame.number"], only="linkguardian")
    assert len(read(tshark, path, ["frame.number"], only="frame.packet_flags_crc_error == 1")) == 1


def test_a_capture_changes_neither_the_row_nor_itself_with_threads(tmp_path: Path) -> None:
    settings: Settings = {"loss.forward": "1%", "flow.trials": 250, "host.profile": "ideal"}
    paths = [tmp_path / name for name in ("one.pcapng", "two.pcapng")]
    runs = [
        record(path, protection="none", settings=settings, threads=1 + index)
        for index, path in enumerate(paths)
    ]
    plain = lossylink.run("tcp-fct", protection=["none"], settings=settings, seed=1)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert runs[0].tables["trials"].equals(plain.tables["trials"])
    assert runs[0].rows["fct_us_p99"].to_list() == plain.rows["fct_us_p99"].to_list()


def test_acknowledgements_of_a_long_flow_carry_those_of_the_link(tshark: str, tmp_path: Path) -> None:
    path = tmp_path / "link.pcapng"
    settings: Settings = {
        "run.duration": "1ms",
        "run.warmup": "0s",
        "run.cooldown": "0s",
        "loss.forward": "0",
    }
    record(path, "throughput", settings=settings)
    assert is_clean(tshark, path)
    fields = ["ip.src", "tcp.checksum.status", "linkguardian.next"]
    riding = read(tshark, path, fields, only="linkguardian.piggybacked == 1")
    assert riding
    assert {tuple(frame.values()) for frame in riding} == {("10.2.2.2", GOOD, "0x0800")}


def test_a_time_line_shows_headers_from_the_switching_on(tshark: str, tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    settings: Settings = {
        "timeline.corruption": "0.4ms",
        "timeline.protection": "0.8ms",
        "timeline.bin": "0.2ms",
        "run.duration": "1.2ms",
        "loss.forward": "1e-2",
    }
    record(path, "timeline", settings=settings)
    assert is_clean(tshark, path)
    fields = ["frame.time_epoch", "linkguardian.seq"]
    frames = [
        (float(frame["frame.time_epoch"]), frame["linkguardian.seq"]) for frame in read(tshark, path, fields)
    ]
    numbered = [at for at, sequence in frames if sequence]
    start = frames[0][0]
    assert min(numbered) - start == pytest.approx(0.8e-3, abs=0.15e-3)
    assert any(at < min(numbered) for at, sequence in frames if not sequence)


def test_a_link_under_forward_error_correction_is_recorded_with_its_parity(
    tmp_path: Path, tshark: str
) -> None:
    path = tmp_path / "coded.pcapng"
    record(path, "stress", protection="fec:5/1", settings={"traffic.packets": 100})
    assert is_clean(tshark, path)
    assert len(read(tshark, path, ["frame.number"])) == 120


@pytest.mark.parametrize(
    ("experiment", "hop", "protection", "settings", "words"),
    [
        ("tcp-fct", "sw6-sw2", "lg", {}, f"no such hop; its hops: {', '.join(HOPS)}"),
        ("stress", "h4-sw8", "lg", {}, "stress has no such hop; its hops: sw2-sw6"),
        ("tcp-fct", "sw6-sw10", "lg", {"path.rtt": "30us"}, "its hops: sw2-sw6"),
        ("workload", "sw2-sw6", "lg", {}, "take one of stress, tcp-fct, rdma-fct, throughput, timeline"),
        ("mathis", "sw2-sw6", "none", {}, "take throughput"),
    ],
)
def test_what_cannot_be_recorded_is_refused(
    tmp_path: Path, experiment: str, hop: str, protection: str, settings: Settings, words: str
) -> None:
    path = tmp_path / "x.pcapng"
    with pytest.raises(UserError, match=words):
        record(path, experiment, hop=hop, protection=protection, settings=settings)
    assert not path.exists()


def test_the_live_lab_is_not_recorded_but_says_how(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="lossylink lab pcap"):
        record(tmp_path / "x.pcapng", "stress", settings={"run.backend": "live"})


def test_a_file_that_cannot_be_written_is_one_line() -> None:
    with pytest.raises(UserError, match="the capture cannot be written"):
        record(Path("/dev/full"), settings={"flow.trials": 1})
