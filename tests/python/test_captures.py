"""Traces of sequence numbers: the segments of a capture, against what the run itself counted."""

from __future__ import annotations

from pathlib import Path

import polars
import pytest

import lossylink
from lossylink.charts.figures import sheet_of
from lossylink.errors import UserError
from lossylink.results.captures import read_capture
from lossylink.running.loading import load_runs

FLOW = {"run.duration": 0.01, "run.warmup": 0.0, "run.cooldown": 0.0, "run.threads": 1}


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, lossylink.Run]:
    path = tmp_path_factory.mktemp("capture") / "first-hop.pcapng"
    run = lossylink.run(
        "throughput", protection="none", loss="at:40,41", settings=FLOW, pcap=("h4-sw8", path)
    )
    return path, run


def test_segments_are_those_that_the_run_counted(capture: tuple[Path, lossylink.Run]) -> None:
    path, run = capture
    table = read_capture(path).tables["segments"]
    sent = table.filter(polars.col("sent_bytes").is_not_null())
    row = run.rows.row(0, named=True)
    assert sent["is_again"].sum() == row["retransmissions"] > 0
    assert sent.height == row["segments_sent"]
    assert sent["sent_bytes"][0] == 1460
    # Segments in front of the first loss were sent in order, each a full one.
    assert sent["sent_bytes"][:30].to_list() == [1460 * (n + 1) for n in range(30)]
    acknowledged = table["acknowledged_bytes"].drop_nulls()
    assert acknowledged.is_sorted()
    assert acknowledged.max() <= sent["sent_bytes"].max()  # type: ignore[operator]
    assert table["time_s"].is_sorted()


def test_the_figure_has_what_was_sent_again_apart(capture: tuple[Path, lossylink.Run]) -> None:
    runs = load_runs(capture[0])
    (chart,) = sheet_of(runs, "sequence").charts
    found = {one.name: one for one in chart.series}
    assert list(found) == ["first-hop, acknowledged", "first-hop, sent", "first-hop, sent again"]
    table = runs[0][1].tables["segments"]
    again = table.filter(polars.col("is_again"))
    assert found["first-hop, sent again"].x == pytest.approx(again["time_s"].to_list())
    assert found["first-hop, sent again"].y == pytest.approx((again["sent_bytes"] / 1e3).to_list())


def test_what_is_no_capture_is_one_line(tmp_path: Path, capture: tuple[Path, lossylink.Run]) -> None:
    whole = capture[0].read_bytes()
    for name, data in {"cut": whole[:-3], "other": b"not a capture", "empty": b""}.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(UserError, match="is no capture of lossylink run --pcap; record it again$"):
            read_capture(tmp_path / name)
    with pytest.raises(UserError, match=r"^cannot read .*none\.pcapng: No such file"):
        load_runs(tmp_path / "none.pcapng")
    (tmp_path / "bare").write_bytes(whole[: 52 + 120])  # section and interface, no packet
    with pytest.raises(
        UserError, match="holds no TCP data; record a hop of a host, such as --pcap h4-sw8=bare"
    ):
        read_capture(tmp_path / "bare")
