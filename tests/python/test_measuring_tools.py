"""What iperf3, ss and tc print: real samples, the forms of other versions, and what is no such text."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lossylink.cli.exits import MISTAKE
from lossylink.errors import UserError
from lossylink.measuring.ratios import by_batches
from lossylink.measuring.recordings import readings
from lossylink.measuring.tools.reading import Batch, Reading

from .conftest import Ended

Command = Callable[..., Ended]
SAMPLES = Path(__file__).with_name("samples")
#: What the router's queue dropped during the tests over TCP, and what came to it (tc-tbf.txt).
DROPPED, OFFERED = 552, 24_828 + 552


def sample(name: str) -> str:
    return (SAMPLES / name).read_text(encoding="utf-8")


def found(text: str) -> list[Reading]:
    read = readings(text, "FILE")
    assert read is not None
    return read


def test_a_receiver_of_udp_counts_in_intervals() -> None:
    (there,) = found(sample("iperf3-udp-with-server.json"))
    assert (there.sent, there.lost, len(there.batches)) == (14_226, 1_660, 4)
    (here,) = found(sample("iperf3-udp-reverse.json"))
    end = json.loads(sample("iperf3-udp-reverse.json"))["end"]["sum"]
    assert here.lost == end["lost_packets"]
    assert len(here.batches) > 40
    assert here.unit == "datagrams"
    # A token bucket drops in turn: its losses keep apart.
    assert "keep apart" in here.fit().verdict


def test_a_sender_of_udp_alone_knows_the_sum() -> None:
    (one,) = found(sample("iperf3-udp.json"))
    assert [one.batches[0]] == [Batch(23_736, 2_873)]
    assert "one stream does not tell" in one.fit().verdict


def test_retransmissions_of_tcp_estimate_what_the_router_dropped() -> None:
    (one,) = found(sample("iperf3-tcp.json"))
    assert (one.lost, one.lost_word) == (552, "sent again")
    assert one.sent == 12_482 + 12_380 + 552  # octets of each stream over 1,448, and those sent again
    ratio = one.fit().ratio
    assert ratio.contains(DROPPED / OFFERED)
    assert "retransmissions are not losses" in one.notes[0]


def test_both_directions_of_a_test_are_two() -> None:
    forward, reverse = found(sample("iperf3-tcp-bidir.json"))
    assert (forward.lost, reverse.lost) == (0, 0)
    assert (forward.sent, reverse.sent) == (-(-1_179_648 // 1_448), -(-655_360 // 1_448))


def test_connections_of_ss_count_what_they_sent_again() -> None:
    (one,) = found(sample("ss-after.txt"))
    assert (one.sent, one.lost) == (9_761 + 9_255 + 3, 224 + 192)
    assert one.fit().ratio.contains(DROPPED / OFFERED)
    (in_one_line,) = found(sample("ss-one-line.txt"))
    assert len(in_one_line.batches) == 3


def test_two_readings_of_ss_count_what_came_between() -> None:
    before, after = sample("ss-before.txt"), sample("ss-after.txt")
    (first,), (second,), (both,) = found(before), found(after), found(before + "\n" + after)
    assert both.sent == second.sent - first.sent
    assert both.lost == second.lost - first.lost
    assert any("in several readings" in note for note in both.notes)


def test_spurious_retransmissions_are_subtracted_and_new_connections_begin_anew() -> None:
    text = sample("ss-after.txt")
    spurious = text.replace("retrans:1/224", "retrans:1/224 dsack_dups:24")
    (one,) = found(spurious)
    assert one.lost == 200 + 192
    assert any("24 that the peer had already" in note for note in one.notes)
    (anew,) = found(text + "\n" + sample("ss-before.txt"))  # counters that fall: other connections, same ends
    (first,) = found(sample("ss-before.txt"))
    assert anew.sent == first.sent - 3  # of the connection that stood still


def test_acknowledgements_are_no_segments_with_data() -> None:
    (one,) = found(sample("ss-receiver.txt"))
    assert one.sent == 4  # 2,399 segments left, and four had data
    old = sample("ss-after.txt").replace("data_segs_out:", "xdata_out:").replace("data_segs_in:", "xdata_in:")
    (one,) = found(old)
    assert one.sent == 9_763 + 9_257 + 7
    assert any("does not count segments with data apart" in note for note in one.notes)


def netem_queue(options: str, *, sent: int = 0, dropped: int = 0) -> str:
    """``tc -s qdisc`` by the format of iproute2's ``q_netem.c``."""
    return (
        "qdisc noqueue 0: dev lo root refcnt 2 \n Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0) \n"
        f" backlog 0b 0p requeues 0\nqdisc netem 8001: dev eth0 root refcnt 2 limit 1000 {options}\n"
        f" Sent {1514 * sent} bytes {sent} pkt (dropped {dropped}, overlimits 0 requeues 0) \n"
        " backlog 0b 0p requeues 0\n"
    )


def test_a_netem_queue_tells_its_parameters_and_counts() -> None:
    options = "delay 10ms  1ms loss gemodel p 1% r 10% 1-h 70% 1-k 0.1%"
    expected = 0.01 / 0.11 * 0.7 + 0.1 / 0.11 * 0.001
    lost = round(expected * 100_000)
    (one,) = found(netem_queue(options, sent=100_000 - lost, dropped=lost))
    fit = one.fit()
    assert fit.loss.spelling == "gilbert-elliott:0.01,0.1,0.7,0.001"
    assert fit.loss.mean == pytest.approx(expected)
    assert (fit.frames, fit.losses) == (100_000, lost)
    assert "the counters agree" in fit.verdict
    assert one.notes == ("left out, being no losses: delay 10ms 1ms",)
    (other,) = found(netem_queue(options, sent=50_000, dropped=50_000))
    assert "do NOT agree" in other.fit().verdict
    (idle,) = found(netem_queue(options))
    assert idle.fit().verdict == "by the parameters of netem; nothing was counted"


def test_a_queue_as_json_and_a_command_say_the_same() -> None:
    queue = {
        "kind": "netem",
        "handle": "8001:",
        "dev": "eth0",
        "options": {"limit": 1000, "loss-random": {"loss": 0.01, "correlation": 0}},
        "packets": 990,
        "drops": 10,
    }
    (one,) = found(json.dumps([{"kind": "noqueue", "options": {}}, queue]))
    (command,) = found("tc qdisc add dev eth0 root netem limit 1000 loss 1%\n")
    (listed,) = found(netem_queue("loss 1%", sent=990, dropped=10))
    assert one.fit() == listed.fit()
    assert command.fit().loss == one.fit().loss
    assert (command.title, listed.title) == ("netem of eth0", "netem 8001: of eth0")


def stream(events: list[tuple[str, Any]]) -> str:
    return "".join(json.dumps({"event": kind, "data": data}) + "\n" for kind, data in events)


def test_a_stream_of_events_is_a_test_also_when_it_breaks_off() -> None:
    whole = json.loads(sample("iperf3-udp-reverse.json"))
    events = [
        ("start", whole["start"]),
        *(("interval", one) for one in whole["intervals"]),
        ("end", whole["end"]),
    ]
    (one,) = found(sample("iperf3-udp-reverse.json"))
    (streamed,) = found(stream(events))
    assert streamed == one
    (broken,) = found(stream(events[:20]) + '{"event": "interval", "data": {"stre')
    assert (len(broken.batches), broken.lost) == (19, sum(batch.lost for batch in one.batches[:19]))
    assert any("no end of the test" in note for note in broken.notes)


def test_several_tests_in_a_text_are_several() -> None:
    both = found(sample("iperf3-udp.json") + sample("iperf3-tcp.json"))
    assert [one.unit for one in both] == ["segments", "datagrams"]


def test_older_versions_say_less() -> None:
    """iperf3 3.0 does not say which end a stream is of, and 3.1 not how many came out of order."""
    old = json.loads(sample("iperf3-udp.json"))
    for one in old["end"]["streams"]:
        del one["udp"]["sender"], one["udp"]["out_of_order"]
    (read,) = found(json.dumps(old))
    assert read.batches == (Batch(23_736, 2_873),)
    tcp = json.loads(sample("iperf3-tcp.json"))
    del tcp["start"]["tcp_mss_default"]
    for one in tcp["end"]["streams"]:
        del one["sender"]["sender"]
    (read,) = found(json.dumps(tcp))
    assert read.lost == 552


def test_datagrams_larger_than_a_frame_and_late_ones_are_told() -> None:
    test = json.loads(sample("iperf3-udp.json"))
    test["start"]["test_start"]["blksize"] = 8192
    test["end"]["streams"][0]["udp"]["out_of_order"] = 7
    notes = " ".join(found(json.dumps(test))[0].notes)
    assert "8,192 B travels in 6 frames" in notes
    assert "7 came out of order" in notes


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (sample("iperf3-udp.json")[:2000], "breaks off in line 1; iperf3 writes it whole at its end"),
        (sample("iperf3-refused.json"), "the test failed (unable to connect to server: Connection refused)"),
        (
            sample("iperf3-udp.json").replace('"UDP"', '"SCTP"'),
            "counts losses of UDP and TCP, and this is SCTP",
        ),
        (
            sample("iperf3-tcp.json").replace("retransmits", "other"),
            "counts no retransmissions: take the sender's",
        ),
        ('{"start": {}, "end": {}}', "this is neither"),
        (sample("tc-tbf.txt"), "no queue is of netem"),
        (netem_queue("delay 10ms"), "its netem loses no packets (delay 10ms)"),
        (netem_queue("loss gemodl 1%"), "did you mean 'gemodel'"),
        ('[{"kind": "netem", "opt', "the JSON breaks off in line 1"),
        (sample("ss-receiver.txt").replace("data_segs_out:4", "x:4"), "no connection sent data"),
    ],
)
def test_what_tells_no_losses_is_refused_in_one_line(
    text: str, says: str, tmp_path: Path, command: Command
) -> None:
    with pytest.raises(UserError) as refusal:
        readings(text, "FILE")
    assert says in str(refusal.value)
    path = tmp_path / "text"
    path.write_text(text, encoding="utf-8")
    ended = command("fit", str(path), "-o", str(tmp_path / "fitted"))
    assert (ended.code, ended.err.count("\n")) == (MISTAKE, 1)
    assert not (tmp_path / "fitted").exists()


@pytest.mark.parametrize("text", ["0101\n", "", "hello\n", "# a note\n0\n"])
def test_other_texts_are_of_none_of_them(text: str) -> None:
    assert readings(text, "FILE") is None


def test_fit_writes_a_scenario_with_its_notes(tmp_path: Path, command: Command) -> None:
    ended = command("fit", str(SAMPLES / "ss-after.txt"), "-o", str(tmp_path / "fitted"))
    assert ended.code == 0
    assert "19,019 segments, 416 sent again: 0.02187 (95 % interval" in ended.out
    assert "retransmissions are not losses" in ended.out
    scenario = tomllib.loads((tmp_path / "fitted" / "scenario.toml").read_text(encoding="utf-8"))
    assert scenario["loss"]["forward"] == "0.0218729"
    told = json.loads((tmp_path / "fitted" / "measurement.json").read_text(encoding="utf-8"))
    assert told["directions"]["forward"]["notes"]
    (tmp_path / "tc").write_text("tc qdisc add dev eth0 root netem delay 5ms loss 1% 25%\n", encoding="utf-8")
    ended = command("fit", str(tmp_path / "tc"), "-o", str(tmp_path / "told"))
    assert "not 0.01" in ended.out
    assert "left out, being no losses: delay 5ms" in ended.out
    ended = command(
        "run", str(tmp_path / "told" / "scenario.toml"), "--set", "traffic.packets=1000", "--json"
    )
    assert ended.code == 0


@pytest.mark.parametrize("together", [1, 20])
def test_intervals_cover_the_truth_whether_or_not_losses_come_together(together: int) -> None:
    """Ten intervals of 2,000 packets with a mean loss of 1 %, each loss an event of so many packets."""
    rng = np.random.default_rng(3)
    tests = 1_000
    lost = together * rng.binomial(2_000 // together, 0.01, (tests, 10))
    covered = sum(by_batches([(int(one), 2_000) for one in test]).contains(0.01) for test in lost)
    # 95 % and more, less three standard deviations of such a count.
    assert covered > 0.95 * tests - 3 * (tests * 0.95 * 0.05) ** 0.5
