"""The gauges of a line as tools print them: each format, two readings, and what is no reading."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from lossylink.errors import UserError
from lossylink.measuring.line import straight_line, table
from lossylink.measuring.line.gauges import Bin, Gauges
from lossylink.measuring.line.recognised import read_gauges
from lossylink.measuring.line.totals import totals_of
from lossylink.scenario.coded_line import read_coded_line

SAMPLES = Path(__file__).with_name("samples") / "gauges"
#: What three of the samples hold, in three formats.
RANGES = ((0, 0, 99_994_686), (1, 1, 5_112), (2, 3, 198), (4, 7, 2), (8, 15, 0))


def read(text: str, tmp_path: Path, *, port: str | None = None) -> Gauges:
    (tmp_path / "gauges").write_text(text, encoding="utf-8")
    return read_gauges(tmp_path / "gauges", port=port)


def test_ethtool_counts_blocks_bits_and_lanes() -> None:
    found = read_gauges(SAMPLES / "ethtool-S-mlx5.txt")
    assert (found.corrected, found.uncorrectable) == (1_188_020, 1)
    assert (found.corrected_bits, found.bits) == (1_275_431, 12_750_000_000_000)
    assert found.lane_bits == (401_200, 298_731, 300_010, 275_490)
    assert found.wrong_bits == 1_275_431
    assert found.histogram == ()


@pytest.mark.parametrize("name", ["show-fec.txt", "show-fec.json"])
def test_ethtool_has_the_histogram_of_the_kernel(name: str) -> None:
    found = read_gauges(SAMPLES / name, port="eth2")
    assert tuple(map(tuple, found.histogram)) == RANGES
    assert (found.corrected, found.uncorrectable, found.corrected_bits) == (5_312, 2, 6_021)
    assert found.lane_bits == (1_500, 1_511, 1_490, 1_520)


def test_drivers_name_their_bins_as_they_like(tmp_path: Path) -> None:
    found = read(
        "NIC statistics:\n  rsfec_uncorrectable_blocks: 4\n  fec_codeword_error_bin_0: 7\n"
        "  fec_codeword_error_bin_1: 3\n  fec_codeword_error_bin_10: 1\n",
        tmp_path,
    )
    assert found.histogram == (Bin(0, 0, 7), Bin(1, 1, 3), Bin(10, 10, 1))
    assert found.uncorrectable == 4


def test_mlxlink_counts_lanes_since_a_time_and_colours_its_text() -> None:
    found = read_gauges(SAMPLES / "mlxlink-c.txt")
    assert found.lane_bits == (317_504, 318_003, 319_877, 320_041)
    assert found.wrong_bits == 1_275_425
    assert (found.pre_fec_ber, found.seconds) == (1e-7, 120.0)


def test_mlxlink_has_ranges_of_wrong_symbols() -> None:
    assert tuple(map(tuple, read_gauges(SAMPLES / "mlxlink-histogram.txt").histogram)) == RANGES
    found = read_gauges(SAMPLES / "mlxlink.json")
    assert found.histogram == (Bin(0, 0, 99_994_686), Bin(1, 15, 5_312))
    assert (found.lane_bits, found.seconds) == ((317_504, 318_003), 120.0)


def test_sonic_has_a_row_for_each_port_and_a_histogram_of_one() -> None:
    found = read_gauges(SAMPLES / "sonic-fec-stats.txt", port="Ethernet0")
    assert (found.corrected, found.uncorrectable, found.symbol_errors) == (136_403, 34, 141_004)
    assert found.pre_fec_ber == 1.21e-8
    assert read_gauges(SAMPLES / "sonic-fec-stats.txt", port="Ethernet16").is_empty
    histogram = read_gauges(SAMPLES / "sonic-fec-histogram.txt").histogram
    assert len(histogram) == 16
    assert histogram[4] == Bin(4, 4, 2)
    with pytest.raises(UserError, match="has 3 lines: add --port, one of Ethernet0, Ethernet8, Ethernet16"):
        read_gauges(SAMPLES / "sonic-fec-stats.txt")
    with pytest.raises(UserError, match="there is no Ethernet4; it has Ethernet0"):
        read_gauges(SAMPLES / "sonic-fec-stats.txt", port="Ethernet4")


def test_a_histogram_and_one_row_of_sonic_are_one_reading(tmp_path: Path) -> None:
    stats = (SAMPLES / "sonic-fec-stats.txt").read_text(encoding="utf-8").splitlines()[1:4]
    bins = (SAMPLES / "sonic-fec-histogram.txt").read_text(encoding="utf-8")
    found = read("\n".join(stats) + "\n" + bins, tmp_path)
    assert (found.uncorrectable, found.histogram[1].codewords) == (34, 498_210)


def test_csv_has_bins_or_readings(tmp_path: Path) -> None:
    found = read("# mine\nbin;count\n0;1,000\n1;20\n2-3;1\n", tmp_path)
    assert found.histogram == (Bin(0, 0, 1_000), Bin(1, 1, 20), Bin(2, 3, 1))
    rows = table.read_all("time_s,bin_0,bin_1,uncorrectable,note\n0,5,1,0,x\n60.5,9,2,1,y\n", "FILE")
    assert [row.time_s for row in rows] == [0.0, 60.5]
    assert rows[1].gauges.histogram == (Bin(0, 0, 9), Bin(1, 1, 2))
    assert rows[1].gauges.uncorrectable == 1


def test_codewords_and_time_that_a_reading_tells_count(tmp_path: Path) -> None:
    line = read_coded_line("rs544", rate_bps=100e9)
    told = read("codewords,uncorrectable_codewords\n1000000,3\n", tmp_path)
    totals = totals_of(told, line, seconds=120.0, rate_bps=100e9)
    assert totals.codewords == 1_000_000
    timed = read_gauges(SAMPLES / "mlxlink-c.txt")
    assert totals_of(timed, line, seconds=None, rate_bps=100e9).codewords == 2_343_750_000
    with pytest.raises(UserError, match="tells 120 s, and --seconds says 60; leave --seconds out"):
        totals_of(timed, line, seconds=60.0, rate_bps=100e9)


def test_a_file_may_be_compressed(tmp_path: Path) -> None:
    (tmp_path / "gauges").write_bytes(gzip.compress((SAMPLES / "show-fec.txt").read_bytes()))
    assert read_gauges(tmp_path / "gauges").uncorrectable == 2


def test_two_readings_differ_by_what_came_between() -> None:
    earlier = Gauges(source="CSV", histogram=(Bin(0, 0, 5), Bin(1, 1, 1)), corrected=1, lane_bits=(1, 2))
    later = Gauges(
        source="CSV",
        histogram=(Bin(0, 0, 9), Bin(1, 1, 3)),
        corrected=3,
        lane_bits=(4, 2),
        pre_fec_ber=1e-6,
        seconds=60.0,
    )
    between = later.since(earlier)
    assert between.histogram == (Bin(0, 0, 4), Bin(1, 1, 2))
    assert (between.corrected, between.lane_bits, between.pre_fec_ber) == (2, (3, 0), 1e-6)
    assert between.seconds is None  # the earlier reading does not say how old it is


@pytest.mark.parametrize(
    ("earlier", "says"),
    [
        (Gauges(source="CSV", corrected=9), "corrected runs backwards, from 9 to 3"),
        (Gauges(source="CSV", histogram=(Bin(0, 0, 1),)), "the two readings have other bins"),
        (Gauges(source="CSV", lane_bits=(7,)), "lane 0 runs backwards, from 7 to 4"),
    ],
)
def test_counters_that_run_backwards_are_refused(earlier: Gauges, says: str) -> None:
    with pytest.raises(UserError, match=says):
        Gauges(source="CSV", corrected=3, lane_bits=(4,)).since(earlier)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("bin,count\n0,-4\n", "gauges:2: the count is -4: a counter is never negative"),
        ("bin,count\n0,\n", "gauges:2: the count is empty; write 0 where nothing was counted"),
        ("bin,count\n0,many\n", "gauges:2: the count is 'many', which is no whole number"),
        ("bin,count\nzero,1\n", "gauges:2: 'zero' is no bin; write 3, or 4-7"),
        ("bin,count\n0,1\n0,2\n", "gauges:3: bin 0 is there twice"),
        ("bin,count\n", "has headers and no counts below them"),
        ("time_s,bin_0\n0,1\n60,2\n", "has 2 readings; --fec-history takes them"),
        ("time_s,bin_0\nnoon,1\n", "column 'time_s': 'noon' is no time in seconds"),
        (
            "BIN0 4\nSymbol Errors Per Codeword Codewords\nBIN1 -3\n",
            "BIN1 is -3: a counter is never negative",
        ),
        ("Symbol Errors Per Codeword\n", "neither a row of fec-stats nor a bin"),
        ("NIC statistics:\n  rx_packets: 4\n", "the driver counts nothing of the line's code"),
        ("NIC statistics:\n  fec_corrected_blocks: -4\n", "fec_corrected_blocks is -4"),
        ('[ { "ifname": "eth2", "statistics": ', "not what ethtool --json -I --show-fec prints"),
        ("Physical Counters and BER Info\n", "mlxlink tells no errors here"),
        ('{ "result": { "output": { "Histogram of FEC Errors"', "not what mlxlink --json prints"),
        ("Histogram of FEC Errors\nBin 0 : 7\n", "Bin 0 has no range"),
        ("pre_fec_ber\n2\n", "a bit error ratio of 2 is none"),
        ("hello\n", "no gauges here; give what ethtool -S"),
    ],
)
def test_what_is_no_reading_is_refused_in_one_line(text: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as refused:
        read(text, tmp_path)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_straight_line_of_sonic_is_least_squares_over_bins_that_count() -> None:
    counts = [10**9, 10**6, 10**4, 9, 10, 0]
    found = straight_line.predicted(counts, interleaved=1)
    assert found is not None
    # By hand: bins 1, 2 and 4 count; bin 3 has fewer than ten codewords.
    places, total = (1, 2, 4), sum(counts)
    slope, intercept, spread = _by_hand(places, [counts[at] / total for at in places])
    ratio = sum(10 ** (intercept + slope * at) for at in (16, 17, 18, 19, 20))
    assert found.codeword_error_ratio == pytest.approx(ratio, rel=1e-9)
    assert found.frame_loss_ratio == pytest.approx(1.125 * ratio, rel=1e-9)
    assert found.r_squared == pytest.approx(spread, rel=1e-9)
    wider = straight_line.predicted(counts, interleaved=4)
    assert wider is not None
    assert wider.frame_loss_ratio == pytest.approx(4.125 * ratio, rel=1e-9)


def _by_hand(places: tuple[int, ...], shares: list[float]) -> tuple[float, float, float]:
    """Least squares by the sums of the textbook, and the squared correlation."""
    from math import log10

    n, x, y = len(places), places, [log10(share) for share in shares]
    sx, sy, sxx = sum(x), sum(y), sum(a * a for a in x)
    sxy, syy = sum(a * b for a, b in zip(x, y, strict=True)), sum(b * b for b in y)
    slope = (n * sxy - sx * sy) / (n * sxx - sx * sx)
    spread = (n * sxy - sx * sy) ** 2 / ((n * sxx - sx * sx) * (n * syy - sy * sy))
    return slope, (sy - slope * sx) / n, spread


def test_sonic_predicts_nothing_from_one_bin_and_sees_what_it_counted() -> None:
    assert straight_line.predicted([10**9, 10**6, 9], interleaved=1) is None
    assert straight_line.observed(uncorrectable=3, codewords=1_000, interleaved=2) == pytest.approx(0.006375)
