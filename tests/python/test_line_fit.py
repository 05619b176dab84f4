"""A histogram of wrong symbols: which errors made it, how often intervals hold, and what cannot be told."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from lossylink.cli.exits import MISTAKE
from lossylink.errors import UserError
from lossylink.measuring.fit import DOUBT, Kind
from lossylink.measuring.line import few, likely, straight_line
from lossylink.measuring.line.cells import Cells, cells_of, shares_of
from lossylink.measuring.line.estimate import Estimated
from lossylink.measuring.line.finding import LineFinding
from lossylink.measuring.line.gauges import Bin, Gauges
from lossylink.measuring.line.totals import ratio_that_fails, totals_of
from lossylink.scenario.coded_line import CodedLine, read_coded_line
from lossylink.theory.phy import CODES, codeword_error_ratio

from .conftest import Ended

Command = Callable[..., Ended]
RATE_BPS = 100 * 10**9
#: Two minutes at 100 Gb/s.
LONG = 2_343_750_000
KP4 = read_coded_line("rs544", rate_bps=RATE_BPS)


def drawn(ratio: float, repeat: float, codewords: int, *, seed: int, line: CodedLine = KP4) -> Cells:
    shares = shares_of(line, ratio, repeat)
    counts = np.random.default_rng([seed, codewords]).multinomial(codewords, shares / shares.sum())
    return Cells(line, counts, np.arange(counts.size), True)


def gauges(counts: Sequence[int]) -> Gauges:
    return Gauges(source="CSV", histogram=tuple(Bin(at, at, one) for at, one in enumerate(counts)))


def text(cells: Cells) -> str:
    return "bin,count\n" + "".join(f"{at},{count}\n" for at, count in enumerate(cells.counts))


@pytest.mark.parametrize(
    ("code", "ratio", "repeat"),
    [("rs544", 1e-4, 0.5), ("rs528", 5e-5, 0.3), ("rs272", 1e-4, 0.75), ("rs544,interleave=2", 2e-4, 0.6)],
)
def test_bursts_are_found_with_their_factor(code: str, ratio: float, repeat: float) -> None:
    line = read_coded_line(code, rate_bps=RATE_BPS)
    found = Estimated(drawn(ratio, repeat, LONG, seed=1, line=line))
    assert found.decision.kind is Kind.BURSTY
    assert found.repeat.low < found.repeat.value < found.repeat.high
    # Five standard errors: 1.96 of them are half an interval.
    for one, truth in ((found.repeat, repeat), (found.bit_error_ratio, ratio)):
        assert abs(one.value - truth) < 5 / 1.96 * (one.high - one.low) / 2
    assert not found.is_rejected


def test_independent_errors_bound_the_burst_factor() -> None:
    found = Estimated(drawn(1e-4, 0.0, LONG, seed=2))
    assert found.decision.kind is Kind.INDEPENDENT
    assert found.chosen.repeat == 0.0
    assert found.repeat.high < 1e-3
    assert found.codeword_error_ratio.contains(1.3598e-18)


def test_what_the_histogram_cannot_tell_covers_both_kinds() -> None:
    counts = np.zeros(17, dtype=np.int64)
    counts[:2] = 10**6 - 5, 5
    found = Estimated(Cells(KP4, counts, np.arange(17), True))
    assert found.decision.kind is Kind.UNTOLD
    single = shares_of(KP4, found.single.bit_error_ratio, 0.0)[-1]
    bursts = shares_of(KP4, found.single.bit_error_ratio, few.EQUALISER_REPEAT)[-1]
    assert found.codeword_error_ratio.low < single
    assert bursts < found.codeword_error_ratio.high
    assert single < 1e-60 * bursts  # so far apart are the two kinds


def test_no_error_is_a_bound() -> None:
    counts = np.zeros(17, dtype=np.int64)
    counts[0] = 10**9
    found = Estimated(Cells(KP4, counts, np.arange(17), True))
    assert found.decision.kind is Kind.NONE_SEEN
    assert found.codeword_error_ratio.value == 0.0
    assert 0 < found.codeword_error_ratio.high < 1e-9
    # At most 4.4 codewords err, one-sided at 98.75 %: with bursts a bit error ratio of a few 1e-12.
    assert 1e-13 < found.bit_error_ratio.high < 1e-10


def test_another_process_is_rejected_and_taken_as_counted() -> None:
    counts = np.array([10**9, 10**6, 10**5, 10**5, *[10**4] * 12, 50])
    found = Estimated(Cells(KP4, counts, np.arange(17), True))
    assert found.is_rejected
    finding = LineFinding.of(gauges(counts.tolist()), KP4, seconds=None, rate_bps=RATE_BPS, frame_bytes=1514)
    assert finding.codeword_error_ratio is not None
    assert finding.codeword_error_ratio.value == pytest.approx(50 / counts.sum())
    assert "no model here fits the bins" in finding.verdict
    # The loss loses as many codewords as failed, and not as many as the nearest model has fail.
    line = finding.loss.native_at(RATE_BPS)
    failing = codeword_error_ratio(CODES["rs544"], bit_error_ratio=line["ber"])
    assert line["burst"] == 0.0
    assert failing == pytest.approx(50 / counts.sum(), rel=1e-4)


def test_codewords_that_the_fit_does_not_expect_reject_it(command: Command) -> None:
    samples = Path(__file__).with_name("samples") / "gauges"
    ended = command("fit", "--fec-histogram", str(samples / "show-fec.txt"))
    # Two codewords of 1e8 failed. Most errors are single, and the chain alone says 1e-49.
    assert "no model here fits the bins" in ended.out
    assert "16 wrong symbols or more; the loss takes failures as counted" in ended.out
    assert "codeword error ratio: 2e-08 (95 % interval 2.422e-09 to 7.225e-08)" in ended.out
    ended = command("fit", "--fec-histogram", str(samples / "sonic-fec-histogram.txt"))
    # 90 codewords have three wrong symbols or more, and 0.35 are expected. None is known to have failed.
    assert "have 3 wrong symbols or more; the loss is the nearest one's" in ended.out
    assert "how many frames are lost is not told" in ended.out


def test_a_port_that_counts_nothing_has_no_loss_of_0(command: Command) -> None:
    text = str(Path(__file__).with_name("samples") / "gauges" / "sonic-fec-stats.txt")
    words = ("measure", "--counters", "--from", text, "--rate-of-link", "100G", "--seconds", "60")
    ended = command(*words, "--port", "Ethernet16")
    assert (ended.code, ended.err.count("\n")) == (MISTAKE, 1)
    assert "SONiC counts nothing of this line" in ended.err
    ended = command(*words, "--port", "Ethernet8")
    assert "no loss was told: at most" in ended.out


def test_the_chance_of_an_excess_is_that_of_every_sum() -> None:
    counts = np.zeros(17, dtype=np.int64)
    counts[:4] = 1_000, 3, 1, 1
    cells = Cells(KP4, counts, np.arange(17), True)
    shares = shares_of(KP4, 3e-4, 0.4)[1:]
    shares = shares / shares.sum()
    sums = np.zeros(17 * 5)
    for places in np.ndindex(
        *[16] * 3
    ):  # the last two of five codewords by convolution, the others one by one
        sums[sum(places)] += np.prod(shares[list(places)])
    both = np.convolve(shares, shares)
    every = np.convolve(sums, both)
    below, above = few.chance_of_excess(cells, 3e-4, 0.4)
    assert below == pytest.approx(every[:4].sum(), rel=1e-9)
    assert above == pytest.approx(every[3:].sum(), rel=1e-9)


def _few(*counts: int) -> Estimated:
    every = np.zeros(17, dtype=np.int64)
    every[: len(counts)] = counts
    return Estimated(Cells(KP4, every, np.arange(17), True))


def test_a_narrow_region_of_few_errors_is_found() -> None:
    found = _few(10**9, 10_000, 50)
    # A fifth of the repeated errors crosses into the next code symbol: 5 x 50 / 10,000.
    assert found.repeat.low < 0.025 < found.repeat.high
    assert found.repeat.high - found.repeat.low < 0.02
    assert found.is_of_few
    assert found.decision.kind is Kind.BURSTY


def test_errors_that_no_burst_factor_allows_leave_the_wider_region() -> None:
    counts = np.zeros(17, dtype=np.int64)
    counts[0], counts[16] = 10**6, 3
    found = Estimated(Cells(KP4, counts, np.arange(17), True))
    low, high = found.repeat.low, found.repeat.high
    assert (low, high) == (0.0, found.repeat.value)
    assert 0 < found.codeword_error_ratio.low < found.codeword_error_ratio.high < 1


#: Lines of each kind that are drawn here; benches/gauges.py draws a thousand of many more kinds.
LINKS = 200


@pytest.mark.parametrize(
    ("ratio", "repeat", "codewords"),
    [(1e-4, 0.0, LONG), (1e-4, 0.5, LONG), (2e-4, 0.75, LONG), (1e-5, 0.3, 10_000), (1e-8, 0.0, 1_000_000)],
)
def test_the_interval_of_the_codeword_error_ratio_holds(ratio: float, repeat: float, codewords: int) -> None:
    truth = float(shares_of(KP4, ratio, repeat)[-1])
    covered = sum(
        Estimated(drawn(ratio, repeat, codewords, seed=seed)).codeword_error_ratio.contains(truth)
        for seed in range(LINKS)
    )
    # An interval that holds 95 of 100 times covers fewer of the links once in 1,000 such tests.
    assert covered >= stats.binom.ppf(1e-3, LINKS, 0.95)


def test_independent_errors_are_taken_for_bursts_as_rarely_as_the_test_says() -> None:
    found = [Estimated(drawn(1e-4, 0.0, 1_000_000, seed=seed)).p_value for seed in range(LINKS)]
    for level in (0.05, DOUBT):
        wrong = sum(p_value < level for p_value in found)
        assert wrong <= stats.binom.ppf(1 - 1e-3, LINKS, level)


@pytest.mark.parametrize(
    ("repeat", "times"), [(0.0, {1e-5: 2.6e6, 1e-4: 1.6e3, 2e-4: 246}), (0.5, {1e-5: 26, 1e-4: 16, 2e-4: 8})]
)
def test_the_straight_line_of_sonic_is_as_far_off_as_was_computed(
    repeat: float, times: dict[float, float]
) -> None:
    for ratio, expected in times.items():
        truth = float(shares_of(KP4, ratio, repeat)[-1])
        off = []
        for seed in range(100):
            counts = drawn(ratio, repeat, LONG, seed=seed).counts[:-1]
            line = straight_line.predicted(counts.tolist(), interleaved=1)
            assert line is not None
            off.append(line.codeword_error_ratio / truth)
        # Where the last bin holds about ten codewords the line jumps from draw to draw by more than half.
        assert expected / 1.5 < np.median(off) < expected * 1.5


def test_the_region_is_where_the_deviance_meets_its_limit() -> None:
    cells = drawn(1e-4, 0.5, 1_000_000, seed=3)
    best = likely.with_bursts(cells)
    low, high = likely.Region(cells, best, 3.84).repeats
    for end in (low, high):
        # No bit error ratio beside an end has a deviance below the limit, and one at it meets it.
        ratios = best.bit_error_ratio * np.exp(np.linspace(-0.05, 0.05, 401))
        least = min(cells.deviance(float(ratio), end) for ratio in ratios)
        assert least - best.deviance == pytest.approx(3.84, abs=0.02)


@pytest.mark.parametrize(
    ("counts", "code", "says"),
    [
        (
            [9] * 16,
            "rs528",
            "bin 9 holds 9 codewords, and rs528 corrects 7 symbols: a histogram of another code",
        ),
        ([9] * 8, "rs544", "ends at bin 7, and rs544 corrects 15 symbols: a histogram of another code"),
        ([0] * 16, "rs544", "every bin of the histogram is 0"),
        ([9] * 16, "firecode", "firecode has no symbols to count"),
    ],
)
def test_a_histogram_of_another_code_is_refused(counts: list[int], code: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        cells_of(gauges(counts), read_coded_line(code, rate_bps=RATE_BPS))


def test_bins_that_are_left_out_are_refused() -> None:
    line = read_coded_line("rs528", rate_bps=RATE_BPS)
    with pytest.raises(UserError, match="its bin 0, the codewords without an error, is missing"):
        cells_of(Gauges(source="CSV", histogram=(Bin(1, 1, 4),)), line)
    with pytest.raises(UserError, match="bin 3 to 9 follows bin 1"):
        cells_of(Gauges(source="CSV", histogram=(Bin(0, 0, 4), Bin(1, 1, 4), Bin(3, 9, 4))), line)


def test_ranges_of_wrong_symbols_tell_less_and_not_something_else() -> None:
    cells = drawn(1e-4, 0.5, 100_000_000, seed=4)
    spans = [(0, 0), (1, 1), (2, 3), (4, 7), (8, 15)]
    bins = tuple(Bin(low, high, int(cells.counts[low : high + 1].sum())) for low, high in spans)
    coarse = Estimated(cells_of(Gauges(source="ethtool", histogram=bins, uncorrectable=0), KP4))
    fine = Estimated(cells)
    assert coarse.cells.uncorrectable == 0
    assert coarse.repeat.contains(0.5)
    assert coarse.repeat.high - coarse.repeat.low > fine.repeat.high - fine.repeat.low


def test_sums_of_counters_tell_a_bit_error_ratio() -> None:
    found = totals_of(
        Gauges(source="ethtool", corrected_bits=1_275, bits=12_750_000_000), KP4, seconds=None, rate_bps=1
    )
    assert found.bit_error_ratio is not None
    assert found.bit_error_ratio.value == pytest.approx(1e-7, rel=1e-3)
    erring = Gauges(source="SONiC", corrected=5_000, uncorrectable=0)
    other = totals_of(erring, KP4, seconds=1.0, rate_bps=RATE_BPS)
    assert other.codewords == 19_531_250
    assert other.bit_error_ratio is not None
    # With independent errors 5,440 bits make a codeword err.
    assert other.bit_error_ratio.value == pytest.approx(5_000 / 19_531_250 / 5_440, rel=1e-3)
    assert other.failed is not None
    assert other.failed.value == 0.0
    with pytest.raises(UserError, match="tells no time: add --seconds"):
        totals_of(erring, KP4, seconds=None, rate_bps=RATE_BPS)
    with pytest.raises(UserError, match="are counted of 195 that the line sent"):
        totals_of(erring, KP4, seconds=1e-5, rate_bps=RATE_BPS)


def test_a_gauge_alone_has_an_interval_that_holds_for_bursts() -> None:
    found = LineFinding.of(
        Gauges(source="CSV", corrected_bits=10**6, bits=10**10, uncorrectable=0),
        KP4,
        seconds=None,
        rate_bps=RATE_BPS,
        frame_bytes=1_514,
    ).codeword_error_ratio
    assert found is not None
    assert found.value == pytest.approx(1.3598e-18, rel=1e-3)
    for repeat in (0.0, 0.5, few.EQUALISER_REPEAT):
        assert found.contains(float(shares_of(KP4, 1e-4, repeat)[-1]))
    assert found.high < 3 / (10**10 / 5_440) * 1.01  # no more than none of so many codewords allow


def test_a_share_of_failures_has_its_bit_error_ratio() -> None:
    for ratio in (3e-4, 5e-4, 1e-3):
        failing = codeword_error_ratio(CODES["rs544"], bit_error_ratio=ratio)
        assert ratio_that_fails(CODES["rs544"], failing) == pytest.approx(ratio, rel=1e-9)


def test_a_histogram_becomes_a_scenario(command: Command, tmp_path: Path) -> None:
    (tmp_path / "bins.csv").write_text(text(drawn(4e-4, 0.5, LONG, seed=5)), encoding="utf-8")
    ended = command(
        "fit", "--fec-histogram", "bins.csv", "--code", "rs544", "--rate-of-link", "100G", "-o", "out"
    )
    assert ended.code == 0, ended.err
    assert "errors come in bursts (likelihood ratio, p < 1e-16), and the model fits the bins" in ended.out
    assert "FEC_FLR_PREDICTED" in ended.out
    scenario = tomllib.loads((tmp_path / "out" / "scenario.toml").read_text(encoding="utf-8"))
    assert scenario["loss"]["forward"].startswith("phy:code=rs544,ber=0.0004")
    assert ",burst=0." in scenario["loss"]["forward"]
    told = json.loads((tmp_path / "out" / "measurement.json").read_text(encoding="utf-8"))
    assert told["line"]["codewords"] == LONG
    assert told["line"]["burst"]["value"] == pytest.approx(0.5, abs=1e-3)
    assert told["line"]["burst"]["low"] < told["line"]["burst"]["value"] < told["line"]["burst"]["high"]
    forward = told["directions"]["forward"]
    assert forward["loss_ratio_low"] < forward["loss_ratio"] < forward["loss_ratio_high"]
    assert forward["kind"] == "bursty"


def test_two_readings_are_a_difference(command: Command, tmp_path: Path) -> None:
    early, late = drawn(1e-4, 0.0, 10**8, seed=6), drawn(1e-4, 0.0, 10**8, seed=7)
    (tmp_path / "before.csv").write_text(text(early), encoding="utf-8")
    both = Cells(KP4, early.counts + late.counts, early.starts, True)
    (tmp_path / "after.csv").write_text(text(both), encoding="utf-8")
    words = ("--rate-of-link", "100G", "-o", "out")
    ended = command("fit", "--fec-histogram", "after.csv", "--before", "before.csv", *words)
    assert ended.code == 0, ended.err
    assert "100,000,000 codewords of rs544, 0 of them uncorrectable" in ended.out
    ended = command("fit", "--fec-histogram", "before.csv", "--before", "after.csv", *words)
    assert (ended.code, ended.err.count("\n")) == (MISTAKE, 1)
    assert "bin 0 runs backwards" in ended.err


def test_counters_of_a_recorded_text_are_measured(command: Command) -> None:
    stats_text = str(Path(__file__).with_name("samples") / "gauges" / "sonic-fec-stats.txt")
    words = ("measure", "--counters", "--from", stats_text, "--port", "Ethernet0")
    ended = command(*words, "--seconds", "3600", "--rate-of-link", "100G", "-o", "out")
    assert ended.code == 0, ended.err
    assert "70,312,500,000 codewords of rs544, 34 of them uncorrectable" in ended.out
    assert "codeword error ratio: 4.836e-10 (95 % interval 3.349e-10 to 6.757e-10)" in ended.out
    untimed = command(*words, "--rate-of-link", "100G", "-o", "other")
    assert (untimed.code, untimed.err.count("\n")) == (MISTAKE, 1)
    assert "tells no time: add --seconds" in untimed.err
    assert "add --rate-of-link" in command(*words, "--seconds", "3600").err
    assert "give one of the two: --link INTERFACE, or --from FILE" in command("measure", "--counters").err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("fit",), "give one of the three: a recording, --fec-histogram FILE or --fec-history FILE"),
        (("fit", "a.trace", "--fec-histogram", "b.csv"), "give one of the three"),
        (("fit", "a.trace", "--seconds", "3"), "are of gauges; add --fec-histogram FILE"),
        (("fit", "--fec-histogram", "b.csv", "--code", "rs545"), "--code: 'rs545' is no code; valid: "),
        (("fit", "--fec-histogram", "b.csv", "--code", "rs544,lane=4"), "did you mean 'lanes'?"),
        (("fit", "--fec-histogram", "b.csv", "--code", "rs544,lanes=3"), "lanes must be 1, 2, 4 or 8"),
        (
            ("fit", "--fec-histogram", "b.csv", "--code", "rs544,precoding=yes"),
            "precoding is on or off, not 'yes'",
        ),
        (("fit", "--fec-histogram", "gone.csv"), "gone.csv"),
    ],
)
def test_mistakes_are_one_line(words: tuple[str, ...], says: str, command: Command, tmp_path: Path) -> None:
    (tmp_path / "a.trace").write_text("0001", encoding="utf-8")
    (tmp_path / "b.csv").write_text("bin,count\n0,1\n", encoding="utf-8")
    ended = command(*words)
    assert (ended.code, ended.err.count("\n")) == (MISTAKE, 1)
    assert says in ended.err
