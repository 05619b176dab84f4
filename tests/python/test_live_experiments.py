"""Experiments on the live backend: their rows, their books, and what protection does to real TCP."""

from __future__ import annotations

import json
import math
import statistics
import struct
from collections.abc import Callable
from typing import Any, TypeVar

import pytest

import lossylink
from lossylink.declared.experiments import all_experiments
from lossylink.errors import UserError
from lossylink.running.backends.live import iperf, measure_of
from lossylink.running.backends.live.capture import completion_times_us
from lossylink.statistics.intervals import clopper_pearson
from lossylink.theory import mathis

from .live_support import needs_live_lab
from .test_documents import DICTIONARY, documented, first_column

needs_live_lab()

#: What the data dictionary has for live rows beside the keys of their experiment.
LIVE = set(first_column(DICTIONARY["On the live backend"]))

#: Segments of one short flow: 24,387 bytes.
_FLOW_SEGMENTS = 17


#: iperf3's connections, control and flow: each may repeat its last segment in vain, and be closed before the
#: duplicate SACK that says so.
_CONNECTIONS = 2
#: Runs of which every one must balance but for such segments, and one exactly.
_ATTEMPTS = 4

Measured = TypeVar("Measured")


def _check_books(row: dict[str, Any], *, lost: int, surplus: int) -> None:
    """Every loss makes TCP send once again, and nothing else does.

    A segment that was sent again although it had arrived is known by its duplicate SACK, however late the
    machine was. ``surplus`` is how many may lack theirs.
    """
    explained = lost + row["queue_drops"]
    assert row["port_drops"] == 0, row
    assert explained <= row["retransmissions"] - row["dsacks"] <= explained + surplus, row


def _balanced(
    measure: Callable[[], Measured],
    books: Callable[[Measured], tuple[dict[str, Any], int]],
    surplus: Callable[[dict[str, Any]], int] = lambda _row: _CONNECTIONS,
) -> Measured:
    """Measure until the books balance to the segment; in every run they must but for the surplus."""
    for _ in range(_ATTEMPTS):
        measured = measure()
        row, lost = books(measured)
        _check_books(row, lost=lost, surplus=surplus(row))
        if row["retransmissions"] - row["dsacks"] == lost + row["queue_drops"]:
            return measured
    pytest.fail(f"the books of none of {_ATTEMPTS} runs balance exactly: {row}")


def _law_window(row: dict[str, Any]) -> float:
    """Return the mean window by the law, in segments: neither rate nor round trip is in it."""
    return math.sqrt(1.5 / row["realised_loss_ratio"])


def _row(experiment: str, protection: str, settings: dict[str, Any]) -> dict[str, Any]:
    result = lossylink.run(experiment, protection=[protection], settings=settings, backend="live", seed=3)
    assert result.backend == "live"
    row: dict[str, Any] = result.rows.to_dicts()[0]
    return row


def _row_and_table(
    experiment: str, protection: str, settings: dict[str, Any], table: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    result = lossylink.run(experiment, protection=[protection], settings=settings, backend="live", seed=3)
    return result.rows.to_dicts()[0], result.tables[table].to_dict(as_series=False)


_STRESS = {"link.rate": "1Gbps", "traffic.packets": 60_000, "traffic.frame": 200, "loss.forward": "5%"}


@pytest.mark.parametrize("protection", ["lg:copies=2", "lg-nb:copies=2"])
def test_the_effective_loss_is_p_cubed(protection: str) -> None:
    row = _row("stress", protection, _STRESS)
    assert row["duplicated_packets"] == row["altered_packets"] == 0
    if protection.startswith("lg:"):
        assert row["reordered_packets"] == 0
    # Frames that a stalled machine dropped before the guard are not the link's losses.
    lost = row["frames_unrecovered"]
    low, high = clopper_pearson(events=lost, trials=row["frames_offered"], confidence=0.9999)
    assert low <= 0.05**3 <= high, row
    assert row["effective_loss_ci95"][0] <= row["effective_loss_rate"] <= row["effective_loss_ci95"][1]


def test_link_level_retry_delivers_every_packet_in_order() -> None:
    row = _row("stress", "llr", _STRESS | {"traffic.packets": 20_000, "loss.forward": "1%"})
    assert row["frames_unrecovered"] == row["reordered_packets"] == row["altered_packets"] == 0
    assert row["frames_lost"] > 0
    # Go-back-N: every loss sends at least the lost frame again, and keeps what may have to go again.
    assert row["retransmissions"] >= row["frames_lost"]
    assert row["tx_buffer_kb_max"] > 0
    assert row["timeouts"] == 0


def test_without_protection_the_loss_is_the_links() -> None:
    row = _row("stress", "none", _STRESS | {"traffic.packets": 20_000})
    low, high = clopper_pearson(
        events=row["frames_unrecovered"], trials=row["frames_offered"], confidence=0.9999
    )
    assert low <= 0.05 <= high
    assert row["frames_unrecovered"] == row["frames_lost"]


_LONG = {
    "link.rate": "100Mbps",
    "path.rtt": "6ms",
    "transport.congestion_control": "reno",
    "run.duration": "6s",
    "run.warmup": "1s",
    "run.cooldown": "0s",
    "switch.queue": "2MB",
    "transport.rto_min": "200ms",
}


#: How late iperf3 may read at the beginning of the counted part, on a machine that keeps it from running.
_MOST_STALL_SECONDS = 0.1


def test_every_retransmission_is_accounted_for() -> None:
    def measure() -> tuple[dict[str, Any], dict[str, Any]]:
        # A slow machine loses less in a second: it takes longer over as many losses.
        for seconds in (6, 12, 24, 48):
            settings = _LONG | {"loss.forward": "1%", "run.duration": f"{seconds}s"}
            row, seen = _row_and_table("throughput", "none", settings, "intervals")
            if row["frames_lost"] > 50:
                break
        return row, seen

    row, seen = _balanced(measure, lambda both: (both[0], both[0]["segments_lost"]))
    assert 50 < row["frames_lost"] <= row["frames_unrecovered"]
    # Three ACKs of the control connection at the most are lost as well, which nobody repeats.
    assert 0 <= row["frames_unrecovered"] - row["segments_lost"] <= 3
    # A window is reduced for a loss, or for a timeout where nothing was lost; not once for nothing.
    assert row["loss_events"] <= row["segments_lost"] + row["queue_drops"] + row["timeouts"]
    # Some 100 loss events: the mean is good to about 10 %. ACKs move the window, no clock does.
    under_loss = [
        size / row["mss_bytes"]
        for size, at in zip(seen["cwnd_bytes"], seen["time_s"], strict=True)
        if row["warmup_s"] <= at <= row["warmup_s"] + row["counted_seconds"]
    ]
    assert 0.7 < statistics.fmean(under_loss) / _law_window(row) < 1.35
    assert row["law_ratio"] == pytest.approx(row["measured_mbps"] / row["law_mbps"])
    assert row["mss_bytes"] == 1460
    assert row["largest_frame_bytes"] == 1514


def test_linkguardian_hides_the_losses_from_tcp() -> None:
    # The queue holds more than the 4 MiB that a sender's buffer takes: it drops nothing.
    settings = _LONG | {"loss.forward": "1e-3", "switch.queue": "8MB"}
    row = _balanced(lambda: _row("throughput", "lg:copies=3", settings), lambda row: (row, 0))
    assert row["frames_lost"] > 0
    assert row["frames_unrecovered"] == row["queue_drops"] == 0
    # 100 Mb/s * 1460 / 1547 octets: no more can cross. A reader that stalls counts late what came before.
    assert row["average_throughput_gbps"] <= 0.09438 * (1 + _MOST_STALL_SECONDS / row["counted_seconds"])
    assert row["reordering_seen"] == 0
    # What a timeout of a stalled machine repeats has arrived: it is the only reason to reduce a window.
    assert row["loss_events"] <= row["timeouts"] + row["undo_events"]
    # Reno without protection would not fill this link: its window is 39 segments at this loss, and 50 fit.
    assert row["cwnd_packets_mean"] > 4 * _law_window(row)
    assert row["checks"]["mss"]["passed"]


def test_short_flows_lose_their_tail_with_protection() -> None:
    settings = {
        "link.rate": "1Gbps",
        "path.rtt": "1ms",
        "loss.forward": "3%",
        "transport.congestion_control": "cubic",
        "flow.trials": 250,
    }

    def surplus(row: dict[str, Any]) -> int:
        """A probe or a timeout may come when the flow is complete: its duplicate SACK finds nobody."""
        return int(row["loss_probes"] + _FLOW_SEGMENTS * row["timeouts"])

    bare, bare_flows = _balanced(
        lambda: _row_and_table("tcp-fct", "none", settings, "trials"),
        lambda both: (both[0], both[0]["segments_lost"]),
        surplus,
    )
    protected, protected_flows = _balanced(
        lambda: _row_and_table("tcp-fct", "lg:copies=3", settings, "trials"),
        lambda both: (both[0], 0),
        surplus,
    )
    assert bare["trials"] == protected["trials"] == 250
    assert min(bare["frames_lost"], protected["frames_lost"]) > 100
    assert bare["frames_unrecovered"] == bare["frames_lost"]
    assert protected["frames_unrecovered"] == 0
    # What delays a flow is a segment that goes again: without protection so does one in each fourth flow,
    # with it none but by mistake.
    assert bare["flows_hit"] > 60
    assert bare["timeouts"] > 0
    assert protected["flows_hit"] <= protected["loss_probes"] + protected["timeouts"]
    assert 4 * protected["flows_hit"] < bare["flows_hit"]
    assert sum(bare_flows["sent_again"]) > 4 * sum(protected_flows["sent_again"])
    # Two round trips of 1 ms, and no frame faster than the link.
    assert min(bare["fct_us_min"], protected["fct_us_min"]) > 2000


_FEC = {
    "link.rate": "100Mbps",
    "path.rtt": "2ms",
    "run.duration": "4s",
    "transport.congestion_control": "cubic",
    "switch.queue": "500KB",
    "loss.forward": "2%",
}


def test_code_brings_frames_back_and_its_latency_is_measured() -> None:
    run = lossylink.run("fec", protection=["fec:5/2"], settings=_FEC, backend="live", seed=3)
    row = run.rows.to_dicts()[0]
    assert (
        set(all_experiments()["fec"].row_keys)
        <= row.keys()
        <= documented("fec") | documented("throughput") | LIVE
    )
    assert row["packets_recovered"] > 0
    assert row["residual_loss_rate"] < 0.02 / 4
    assert row["latency_samples"] > 100
    # One of 64 of what the host sent, in the part that counts: 4 s of about 6.
    assert 0.2 < 64 * row["latency_samples"] / row["host_frames"] < 1.1
    # Half of the round trip and the frame's own 0.124 ms at the least; queue and parity come on top.
    assert 1000 + 123 < row["latency_us_p50"] <= row["latency_us_p99"] <= row["latency_us_max"]
    assert json.loads(run.files["fec-5-2-iperf3.json"])["start"]["version"].startswith("iperf 3")


def test_the_rows_of_long_flows_are_complete() -> None:
    run = lossylink.run(
        "throughput", protection=["none"], settings=_LONG | {"loss.forward": "0"}, backend="live"
    )
    row = run.rows.to_dicts()[0]
    assert set(all_experiments()["throughput"].row_keys) <= row.keys() <= documented("throughput") | LIVE
    assert row["frames_lost"] == 0
    assert (row["law_mbps"], row["simulated_seconds"]) == (None, None)
    assert row["measured_mbps"] == pytest.approx(row["average_throughput_gbps"] * 1e3)


def test_a_mathis_trial_passes_its_checks() -> None:
    def config(loss: float) -> dict[str, Any]:
        return {
            "experiment": "mathis",
            "seed": 5,
            "link": {"rate_bps": 10**9, "propagation_ps": 0, "mtu_bytes": 1500},
            "loss": {"forward": {"model": "bernoulli", "p": loss}, "reverse": {"model": "none"}},
            "switch": {"queue_bytes": 10**8},
            "protection": {"family": "none"},
            "transport": {"congestion_control": "reno", "mss_bytes": 1460, "timestamps": False},
            "path": {"rtt_ps": 6 * 10**9},
            "flow": {"count": 1},
            "run": {"duration_ps": 6 * 10**12, "warmup_ps": 10**12, "cooldown_ps": 0},
        }

    row = _balanced(
        lambda: measure_of("mathis")(config(0.02), lambda _done, _total: None)["row"],
        lambda row: (row, row["segments_lost"]),
    )
    assert row["mss_bytes"] == 1460
    assert row["rtt_min_ms"] >= 6.0
    assert row["queue_drops"] == 0
    assert row["ping_rtt_ms_min"] >= 6.0
    low, high = clopper_pearson(events=row["frames_lost"], trials=row["frames_offered"], confidence=0.9999)
    assert low <= 0.02 <= high
    # Of some twenty looks at the socket.
    assert 0.6 < row["cwnd_packets_mean"] / _law_window(row) < 1.5
    law = mathis.bandwidth_bps(
        mss_bytes=1460,
        rtt_s=row["rtt_mean_ms"] / 1e3,
        loss_ratio=row["realised_loss_ratio"],
        constant=mathis.PERIODIC,
    )
    assert row["law_ratio"] == pytest.approx(row["measured_mbps"] * 1e6 / float(law))


@pytest.mark.parametrize(
    ("experiment", "settings", "complaint"),
    [
        ("rdma-fct", {}, "RDMA is simulated only"),
        ("stress", {}, "the live lab emulates up to 2.5 Gb/s, not 100"),
        ("tcp-fct", {"link.rate": "1Gbps", "transport.congestion_control": "bbr3"}, "no congestion control"),
    ],
)
def test_what_cannot_be_live_is_said_in_one_line(
    experiment: str, settings: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(UserError, match=complaint):
        lossylink.run(experiment, protection=["lg"], settings=settings, backend="live")


def test_intervals_outside_the_measured_part_do_not_count() -> None:
    config = {"run": {"duration_ps": 4 * 10**12, "warmup_ps": 10**12, "cooldown_ps": 10**12}}
    sums = [(0.0, 1.0, 1000), (1.0, 2.0, 100), (2.0, 3.0, 300), (3.0, 4.0, 5000)]
    outcome = {
        "intervals": [
            {"sum": {"start": start, "end": end, "seconds": end - start, "bytes": size}}
            for start, end, size in sums
        ]
    }
    assert iperf.measured_bps(config, outcome) == 200 * 8


def _packet(source: int, target: int, sequence: int, acknowledged: int, flags: int, payload: int) -> bytes:
    """Return the headers of a TCP packet as a capture has them."""
    ip = struct.pack(">BBHHHBBH8x", 0x45, 0, 40 + payload, 0, 0, 64, 6, 0)
    tcp = struct.pack(">HHIIBB6x", source, target, sequence, acknowledged, 5 << 4, flags)
    return bytes(12) + b"\x08\x00" + ip + tcp


def test_a_port_that_is_used_again_begins_another_flow(tmp_path: Any) -> None:
    syn, ack = 0x02, 0x10
    packets = [
        (10, _packet(4000, 5001, 99, 0, syn, 0)),
        (20, _packet(4000, 5001, 100, 1, ack, 1000)),
        (30, _packet(5001, 4000, 1, 1100, ack, 0)),
        # The same port, another initial number: a new flow, whose request is repeated.
        (40, _packet(4000, 5001, 7, 0, syn, 0)),
        (45, _packet(4000, 5001, 7, 0, syn, 0)),
        (50, _packet(4000, 5001, 8, 1, ack, 1000)),
        (60, _packet(4000, 5001, 8, 1, ack, 1000)),
        (90, _packet(5001, 4000, 1, 1008, ack, 0)),
    ]
    file = tmp_path / "flows.pcap"
    records = (struct.pack("<IIII", 0, at * 1000, len(data), len(data)) + data for at, data in packets)
    file.write_bytes(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 128, 1) + b"".join(records))
    assert completion_times_us(file, server_port=5001, size_bytes=1000) == [(10.0, 0), (40.0, 1)]


def test_a_file_that_is_no_capture_is_refused(tmp_path: Any) -> None:
    file = tmp_path / "not.pcap"
    file.write_bytes(b"\0" * 100)
    with pytest.raises(ValueError, match="no capture with nanosecond time stamps"):
        completion_times_us(file, server_port=1, size_bytes=1)
