"""Kinds of figures: each shows what the tables of real small runs hold, and says why it cannot of others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

import lossylink
from lossylink import Run
from lossylink._package.published import load
from lossylink.charts.chart import Series, Sheet
from lossylink.charts.data import sheet_csv
from lossylink.charts.drawing import draw
from lossylink.charts.figures import possible, sheet_of
from lossylink.charts.kinds import CannotDrawError, kinds, names
from lossylink.charts.samples import Sample, lines_of, samples_of
from lossylink.cli.plot import KINDS
from lossylink.statistics.estimates import percentile, percentile_interval

LINK = {"run.threads": 1}
LOSSY = {"loss.forward": "1e-2"}


FABRIC = {
    "fabric.topology": "fb-fabric:pods=4,tors=8",
    "fabric.constraint": "75%",
    "fabric.mttf": "2000h",
    "fabric.years": 3,
    "fabric.points": "linkguardian-100g",
}


def run(experiment: str, *protections: str, **settings: Any) -> Run:
    dotted = {key.replace("__", "."): value for key, value in settings.items()}
    return lossylink.run(experiment, protection=protections, settings=LINK | dotted)


@pytest.fixture(scope="module")
def runs() -> dict[str, Run]:
    """One small run of each experiment."""
    return {
        "stress": run("stress", "none", "lg", traffic__packets=1_000_000),
        "tcp-fct": run("tcp-fct", "none", "lg", flow__trials=2000),
        "rdma-fct": run("rdma-fct", "none", flow__trials=300),
        "workload": run("workload", "none", flow__trials=3000),
        "fabric": lossylink.run("fabric", protection=["none", "lg"], settings=FABRIC),
        "timeline": run(
            "timeline", "lg", run__duration=0.05, timeline__corruption=0.01, timeline__protection=0.03,
            timeline__bin=0.005,
        ),
        "throughput": run(
            "throughput", "none", "lg", run__duration=0.06, run__warmup=0.01, run__cooldown=0.0
        ),
        "fec": run("fec", "none", "fec:25/5", run__duration=0.05, loss__forward="1e-2"),
        "mathis": run(
            "mathis", "none", grid__mss=1460, grid__rtt=0.006, grid__loss=[1e-3, 1e-2], grid__loss_events=60
        ),
    }  # fmt: skip


def sheet(result: Run, kind: str) -> Sheet:
    return sheet_of([("a", result)], kind)


def named(drawn: Sheet, name: str) -> Series:
    return next(one for chart in drawn.charts for one in chart.series if one.name == name)


def part(result: Run, table: str, protection: str) -> polars.DataFrame:
    return result.tables[table].filter(polars.col("protection") == protection)


EXPECTED = {
    "stress": {"effective-loss", "buffers", "published", "link-speed"},
    "tcp-fct": {"ccdf", "published"},
    "rdma-fct": {"ccdf", "published"},
    "workload": {"ccdf", "fct-size", "slowdown"},
    "fabric": {"fabric", "fabric-gain"},
    "timeline": {"timeline"},
    "throughput": {"published"},
    "fec": {"effective-loss", "trace", "cwnd"},
    "mathis": {"mathis"},
}


@pytest.mark.parametrize("experiment", EXPECTED)
def test_a_run_admits_its_kinds_and_the_others_say_why_not(runs: dict[str, Run], experiment: str) -> None:
    found = possible([("a", runs[experiment])])
    assert {one.identifier for one in found.sheets} == EXPECTED[experiment]
    assert set(found.reasons) == set(kinds()) - EXPECTED[experiment]
    for reason in found.reasons.values():
        assert "\n" not in reason
        assert "run " in reason or "sweep " in reason


def test_every_kind_is_found_and_named_in_the_help() -> None:
    assert sorted(names()) == sorted(kinds()) == sorted(KINDS)
    assert list(KINDS) == list(kinds())


def test_ccdf_is_the_distribution_of_the_trials(runs: dict[str, Run]) -> None:
    times = np.sort(part(runs["tcp-fct"], "trials", "lg")["fct_us"].to_numpy())
    line = named(sheet(runs["tcp-fct"], "ccdf"), "LinkGuardian")
    assert line.x[-1] == pytest.approx(times[-1])
    for x, share in zip(line.x, line.y, strict=True):
        assert share == pytest.approx((times >= x - 1e-4).mean(), rel=1e-5)


def test_slowdowns_are_those_of_the_trials(runs: dict[str, Run]) -> None:
    slow = np.sort(runs["workload"].tables["trials"]["slowdown"].to_numpy())
    line = sheet(runs["workload"], "slowdown").charts[0].series[0]
    assert line.x[-1] == pytest.approx(slow[-1])
    assert line.y[-1] == pytest.approx(1 / slow.size)


def test_time_lines_are_the_columns_of_the_table(runs: dict[str, Run]) -> None:
    drawn = sheet(runs["timeline"], "timeline")
    table = runs["timeline"].tables["timeline"]
    columns = ["send_gbps", "queue_kb", "rx_buffer_kb", "retransmissions"]
    for column, chart in zip(columns, drawn.charts, strict=True):
        assert chart.series[0].name == "LinkGuardian"
        assert chart.series[0].x == pytest.approx(table["time_s"].to_list())
        assert chart.series[0].y == pytest.approx(table[column].to_list())
    assert [(guide.label, guide.value) for guide in drawn.charts[0].guides] == [
        ("loss starts", 0.01),
        ("protection on", 0.03),
    ]


@pytest.mark.parametrize(("kind", "column"), [("cwnd", "cwnd_packets"), ("trace", "throughput_gbps")])
def test_traces_are_columns_of_the_series(runs: dict[str, Run], kind: str, column: str) -> None:
    table = part(runs["fec"], "series", "fec:25/5")
    line = named(sheet(runs["fec"], kind), "FEC (25,5)")
    told = dict(zip(table["time_s"].to_list(), table[column].to_list(), strict=True))
    assert max(line.y) == pytest.approx(max(told.values()))
    assert all(told[x] == pytest.approx(y) for x, y in zip(line.x, line.y, strict=True))


def test_buffers_are_the_samples_of_the_series(runs: dict[str, Run]) -> None:
    table = part(runs["stress"], "series", "lg")
    over_time, levels = sheet(runs["stress"], "buffers").charts
    dots = next(one for one in over_time.series if one.name == "LinkGuardian, Rx buffer")
    assert dots.x == pytest.approx(table["time_s"].to_list())
    assert dots.y == pytest.approx(table["rx_buffer_kb"].to_list())
    steps = next(one for one in levels.series if one.name == "LinkGuardian, Rx buffer")
    assert steps.x == pytest.approx(sorted(dots.y))


def test_effective_losses_have_the_intervals_of_the_rows_and_zero_is_a_bound(runs: dict[str, Run]) -> None:
    drawn = sheet(runs["stress"], "effective-loss")
    none, lg = runs["stress"].rows.to_dicts()
    measured, bound = named(drawn, "no protection"), named(drawn, "LinkGuardian")
    assert measured.y == pytest.approx([none["effective_loss_rate"]])
    assert measured.y_low == pytest.approx(none["effective_loss_ci95"][:1])
    assert measured.y_high == pytest.approx(none["effective_loss_ci95"][1:])
    assert lg["effective_loss_rate"] == 0
    assert bound.y == bound.y_high == pytest.approx((lg["effective_loss_ci95"][1],))
    assert (bound.markers, bound.hollow) == (("down",), (True,))


def test_the_closed_form_of_linkguardian_is_p_to_the_copies_and_one() -> None:
    result = run("stress", "lg:copies=1", traffic__packets=20_000, loss__forward="1e-3")
    curve = named(sheet(result, "effective-loss"), "LinkGuardian, copies=1, closed form")
    assert curve.y == pytest.approx([p**2 for p in curve.x], rel=0.01)
    bursts = "gilbert-elliott:mean=1e-2,burst=4"
    bursty = run("stress", "lg", traffic__packets=20_000, loss__forward=bursts)
    assert len(sheet(bursty, "effective-loss").charts[0].series) == 1  # no form for bursts


def test_goodput_needs_two_losses_and_has_the_rows(tmp_path: Any) -> None:
    swept = lossylink.sweep(
        "stress", grid={"loss.forward": [1e-3, 1e-2], "seed": [1, 2]}, protection=["none", "lg"],
        settings={"traffic.packets": 20_000}, output=tmp_path, threads=1,
    )  # fmt: skip
    drawn = sheet_of([("a", one) for one in swept.runs()], "goodput")
    assert [one.name for one in drawn.charts[0].series] == ["no protection", "LinkGuardian"]
    rows = swept.rows.filter(polars.col("protection") == "lg")
    means = rows.group_by("loss_rate").agg(polars.col("effective_link_speed_gbps").mean()).sort("loss_rate")
    line = named(drawn, "LinkGuardian")
    assert line.x == pytest.approx(means["loss_rate"].to_list())
    assert line.y == pytest.approx(means["effective_link_speed_gbps"].to_list())
    assert line.y_low is not None
    assert line.y_high is not None
    assert all(low <= y <= high for low, y, high in zip(line.y_low, line.y, line.y_high, strict=True))
    one = [("a", run) for run in swept.runs() if run.seed == 1]
    assert sheet_of(one, "goodput").charts[0].series[0].y_low is None


def test_goodput_has_the_interval_of_a_row_that_stands_alone() -> None:
    settings = {"run__duration": 0.61, "run__warmup": 0.01, "run__cooldown": 0.0}
    losses = [run("throughput", "none", loss__forward=loss, **settings) for loss in ("1e-3", "1e-2")]
    assert all(one.records[0]["loss_events"] >= 64 for one in losses), "seldom losses leave a rate unknown"
    drawn = sheet_of([(str(place), one) for place, one in enumerate(losses)], "goodput")
    line = named(drawn, "no protection")
    ends = [one.records[0]["average_throughput_gbps_ci95"] for one in losses]
    assert line.y_low == pytest.approx([low for low, _high in ends])
    assert line.y_high == pytest.approx([high for _low, high in ends])


def test_fct_against_size_has_the_percentiles_of_the_rows(tmp_path: Any) -> None:
    swept = lossylink.sweep(
        "tcp-fct", grid={"flow.size": [1000, 24387]}, protection="lg",
        settings={"flow.trials": 400}, output=tmp_path, threads=1,
    )  # fmt: skip
    drawn = sheet_of([("a", one) for one in swept.runs()], "fct-size")
    rows = swept.rows.sort("flow_bytes")
    names_ = [one.name for one in drawn.charts[0].series]
    assert names_ == ["LinkGuardian, p50", "LinkGuardian, p99"]  # 400 flows know no 99.9th percentile
    assert named(drawn, "LinkGuardian, p99").x == (1000.0, 24387.0)
    assert named(drawn, "LinkGuardian, p99").y == pytest.approx(rows["fct_us_p99"].to_list())


def test_fct_against_loss_has_the_percentiles_of_the_rows_and_says_which_loss(tmp_path: Any) -> None:
    swept = lossylink.sweep(
        "tcp-fct", grid={"loss.forward": ["1e-3", "1e-2"]}, protection=["none", "lg"],
        settings={"flow.trials": 400}, output=tmp_path, threads=1,
    )  # fmt: skip
    drawn = sheet_of([("a", one) for one in swept.runs()], "fct-loss")
    rows = swept.rows.filter(polars.col("protection") == "none").sort("loss_rate")
    line = named(drawn, "no protection, p99")
    assert line.x == (1e-3, 1e-2)
    assert line.y == pytest.approx(rows["fct_us_p99"].to_list())
    assert drawn.charts[0].x.label == "loss ratio of the link, before any protection"
    # Bars are those of the rows, whose open ends are drawn up to the slowest flow.
    intervals = rows["fct_us_p99_ci95"].to_list()
    assert line.y_low == pytest.approx([low for low, _ in intervals])
    slowest = rows["fct_us_max"].to_list()
    assert line.y_high == pytest.approx(
        [high or most for (_, high), most in zip(intervals, slowest, strict=True)]
    )


def test_a_run_that_kept_its_flows_has_the_intervals_of_its_percentiles() -> None:
    losses = [run("tcp-fct", "none", flow__trials=400, loss__forward=loss) for loss in ("1e-3", "1e-2")]
    drawn = sheet_of([(str(place), one) for place, one in enumerate(losses)], "fct-loss")
    line = named(drawn, "no protection, p50")
    for place, one in enumerate(losses):
        known = percentile_interval(one.tables["trials"]["fct_us"].to_numpy(), 50.0, block=100)
        assert line.y_low is not None
        assert line.y_high is not None
        assert (line.y_low[place], line.y[place], line.y_high[place]) == pytest.approx(
            (known.low, known.value, known.high)
        )


def test_a_percentile_has_one_stroke_in_all_colours(tmp_path: Any) -> None:
    swept = lossylink.sweep(
        "tcp-fct", grid={"flow.size": [1000, 24387]}, protection=["none", "lg", "llr"],
        settings={"flow.trials": 400}, output=tmp_path, threads=1,
    )  # fmt: skip
    (chart,) = sheet_of([("a", one) for one in swept.runs()], "fct-size").charts
    strokes = {
        percentile_: {one.stroke for one in chart.series if one.name.endswith(percentile_)}
        for percentile_ in ("p50", "p99")
    }
    assert strokes == {"p50": {"dotted"}, "p99": {"dashed"}}
    figure = draw(chart)
    drawn: dict[Any, set[Any]] = {}
    for line in figure.axes[0].get_lines():
        if line.get_linestyle() != "None":
            drawn.setdefault(line.get_color(), set()).add(line._unscaled_dash_pattern)  # type: ignore[attr-defined]
    assert len(drawn) == 3
    assert len({frozenset(map(str, dashes)) for dashes in drawn.values()}) == 1


def test_losses_of_the_way_back_and_bursts_are_no_repetition_of_others() -> None:
    losses = ("1e-3", "1e-2", "gilbert-elliott:mean=1e-3,burst=3", "gilbert-elliott:mean=1e-2,burst=3")
    settings = {"traffic__packets": 20_000}
    forward = [run("stress", "none", loss__forward=loss, **settings) for loss in losses]
    back = [
        run("stress", "none", loss__forward=loss, loss__reverse="1e-1", **settings) for loss in losses[:2]
    ]
    runs_ = [(str(place), one) for place, one in enumerate([*forward, *back])]
    for kind in ("goodput", "effective-loss"):
        drawn = sheet_of(runs_, kind)
        points = [one for one in drawn.charts[0].series if "closed form" not in one.name]
        assert [one.x for one in points] == [(1e-3, 1e-2)] * 3, kind
        assert {one.name for one in points} == {
            "reverse loss 0",
            "reverse loss 0, bursts of 3",
            "reverse loss 1e-1",
        }


def test_fct_of_a_workload_is_by_classes_of_size(runs: dict[str, Run]) -> None:
    trials = runs["workload"].tables["trials"]
    line = sheet(runs["workload"], "fct-size").charts[0].series[0]
    sizes, times = trials["flow_bytes"].to_numpy(), trials["fct_us"].to_numpy()
    chosen = np.floor(np.log10(sizes) * 2) == np.floor(np.log10(line.x[2]) * 2)
    assert line.x[2] == np.median(sizes[chosen])
    assert line.y[2] == pytest.approx(percentile(times[chosen], 50.0))


def test_published_bars_are_those_of_the_table(runs: dict[str, Run]) -> None:
    table = load()["linkguardian"]["tcp_fct"]
    drawn = sheet(runs["tcp-fct"], "published")
    theirs = named(drawn, "LinkGuardian, published")
    assert theirs.y == tuple(table[key][1] for key in ("p50", "p99", "p99_9", "p99_99"))
    row = runs["tcp-fct"].rows.row(1, named=True)
    assert named(drawn, "LinkGuardian").y[1] == pytest.approx(row["fct_us_p99"])
    speed = sheet(runs["throughput"], "published").charts[0]
    assert speed.series[1].y == tuple(load()["linkguardian"]["throughput"]["average_throughput_gbps"][:2])
    other = run("tcp-fct", "lg", flow__trials=100, flow__size=1000)
    with pytest.raises(lossylink.UserError, match="nothing was published"):
        sheet(other, "published")
    twice = [(name, runs["tcp-fct"]) for name in ("a", "b")]
    with pytest.raises(lossylink.UserError, match="several of these fit one published column"):
        sheet_of(twice, "published")


def test_link_speed_parts_fill_the_link(runs: dict[str, Run]) -> None:
    (chart,) = sheet(runs["stress"], "link-speed").charts
    assert chart.y.categories == ("no protection", "LinkGuardian")
    assert sum(one.x[1] for one in chart.series) == pytest.approx(100.0)


def test_mathis_points_are_the_rows(runs: dict[str, Run]) -> None:
    rows = runs["mathis"].rows
    points = named(sheet(runs["mathis"], "mathis"), "RTT 6 ms")
    assert points.y == pytest.approx(rows["measured_mbps"].to_list())


def test_lines_are_called_by_what_differs() -> None:
    small, large = (run("stress", "lg", traffic__packets=5000, link__rate=rate) for rate in (25e9, 100e9))
    both = run("stress", "none", "lg", traffic__packets=5000)
    assert [line.label for line in lines_of(samples_of([("a", small), ("b", large)]))] == [
        "rate 25Gbps",
        "rate 100Gbps",
    ]
    assert [line.label for line in lines_of(samples_of([("a", both)]))] == ["no protection", "LinkGuardian"]
    assert [line.label for line in lines_of(samples_of([("a", small), ("b", small)]))] == ["a", "b"]
    slots = [line.slot for line in lines_of(samples_of([("a", small), ("b", large)]))]
    assert len(set(slots)) == 2


def test_protections_side_by_side_have_colours_of_their_own() -> None:
    words = ["fec:25/5", "llr", "lg", "none", "lg-nb", "fec:5/1", "fec:5/5"]
    several = [Sample(word, {"name": "a"}, {}, {}) for word in words]
    slots = {line.label: line.slot for line in lines_of(several)}
    assert len(set(slots.values())) == len(words)
    assert (slots["LinkGuardian"], slots["no protection"], slots["LLR"]) == ("blue", "vermillion", "purple")


def test_a_live_row_that_is_not_valid_says_so_in_the_figure() -> None:
    rows: list[dict[str, Any]] = [{"valid": False}, {"valid": True}, {}]
    words = ("none", "lg", "lg-nb")
    several = [Sample(word, {"name": "a"}, row, {}) for word, row in zip(words, rows, strict=True)]
    names_ = ["no protection (not valid)", "LinkGuardian", "LinkGuardian NB"]
    assert [line.label for line in lines_of(several)] == names_


def test_an_unknown_kind_is_one_line() -> None:
    with pytest.raises(lossylink.UserError, match=r"^unknown kind of figure 'cdf'; did you mean 'ccdf'\?"):
        sheet_of([], "cdf")


def test_a_week_of_a_fabric_is_drawn_from_its_events(runs: dict[str, Run]) -> None:
    drawn = sheet(runs["fabric"], "fabric")
    penalty, paths, capacity = drawn.charts
    assert [guide.value for guide in paths.guides] == [75.0]
    for chart in drawn.charts:
        assert all(0 <= x <= 7 for one in chart.series for x in one.x)
    bare, protected = (max(one.y) for one in penalty.series)
    assert protected < bare / 1000
    events = part(runs["fabric"], "events", "none")
    # 32 links of 100 Gb/s in each tier of a pod.
    assert min(capacity.series[0].y) == pytest.approx(events["capacity_gbps_least"].to_numpy().min() / 32)
    assert min(paths.series[0].y) == pytest.approx(100 * events["paths_least"].to_numpy().min() / 32)


def test_gain_and_cost_of_a_fabric_are_its_shares(runs: dict[str, Run]) -> None:
    drawn = sheet(runs["fabric"], "fabric-gain")
    shares = part(runs["fabric"], "shares", "lg")
    for chart, column, factor in zip(
        drawn.charts, ("penalty_gain", "capacity_decrease_share"), (1.0, 100.0), strict=True
    ):
        (line,) = chart.series
        assert line.name == "LinkGuardian"
        assert line.x[-1] == pytest.approx(factor * shares[column].to_numpy().max())
        assert line.y[-1] == 1.0
        assert line.y_low is not None
        assert line.y_high is not None
        for low, share, high in zip(line.y_low, line.y, line.y_high, strict=True):
            assert low - 1e-9 <= share <= high + 1e-9
        assert list(line.y) == sorted(line.y)
    # At each value the share is the mean of the years' own.
    middle = drawn.charts[0].series[0]
    place = len(middle.x) // 2
    expected = [
        np.interp(middle.x[place], year["penalty_gain"].to_numpy(), year["share"].to_numpy())
        for year in shares.partition_by("year")
    ]
    assert middle.y[place] == pytest.approx(np.mean(expected), rel=1e-3)


def test_flows_that_never_end_are_arrows_at_the_edge() -> None:
    """Half of the frames are lost: without protection some of 2,000 flows never end."""
    result = run("tcp-fct", "none", "lg", flow__trials=2000, loss__forward=0.6)
    rows = {row["protection"]: row for row in result.records}
    never = rows["none"]["flows_unfinished"] / 2000
    assert 0 < never < 0.1
    stairs = named(sheet(result, "ccdf"), "no protection")
    assert stairs.never == pytest.approx((never,))
    assert stairs.y[-1] == pytest.approx(never + 1 / 2000)
    assert named(sheet(result, "ccdf"), "LinkGuardian").never is None
    assert "never ended" in sheet(result, "ccdf").charts[0].caption
    assert "never," in sheet_csv(sheet(result, "ccdf"))
    draw(sheet(result, "ccdf").charts[0])


def test_percentiles_among_flows_that_never_end_are_arrows_at_the_edge(tmp_path: Path) -> None:
    losses = [0.1, 0.6, 1.0]
    swept = lossylink.sweep(
        "tcp-fct", protection=["none"], grid={"loss": losses}, settings={"flow.trials": 300}, output=tmp_path
    )
    assert swept.rows["fct_us_p99"].is_null().to_list() == [False, True, True]
    drawn = sheet_of([("a", one) for one in swept.runs()], "fct-loss")
    half, tail = (named(drawn, f"no protection, {name}") for name in ("p50", "p99"))
    assert (half.x, half.never) == ((0.1, 0.6), (1.0,))
    assert (tail.x, tail.never) == ((0.1,), (0.6, 1.0))
    draw(drawn.charts[0])


def lines(*bits: str, experiment: str = "stress", **settings: Any) -> list[tuple[str, Run]]:
    return [
        (one, run(experiment, "none", "llr", loss__forward=f"phy:code=rs544,ber={one}", **settings))
        for one in bits
    ]


def test_a_cliff_has_the_bit_errors_below_and_the_loss_on_top() -> None:
    drawn = sheet_of(lines("1e-3", "1.2e-3", traffic__packets=200_000), "cliff")
    speed, left = drawn.charts
    assert [one.name for one in left.series] == ["no protection", "LLR"]
    assert left.series[0].x == (1e-3, 1.2e-3)
    assert left.top is not None
    assert left.top.ticks == ((1e-3, "0.00052"), (1.2e-3, "0.0036"))
    assert speed.series[0].kind == "marked"
    seen = left.series[0]
    assert seen.y_low is not None
    assert seen.y_high is not None
    for low, value, high in zip(seen.y_low, seen.y, seen.y_high, strict=True):
        assert low < value < high


def test_a_cliff_has_a_panel_for_each_line() -> None:
    runs = lines("1e-3", "1.2e-3", experiment="rdma-fct", flow__trials=200)
    runs += [
        (
            f"other {one}",
            run("rdma-fct", "none", loss__forward=f"phy:code=rs272,ber={one}, burst=0.5", flow__trials=200),
        )
        for one in ("1e-4", "2e-4")
    ]
    drawn = sheet_of(runs, "cliff")
    assert [chart.title for chart in drawn.charts] == [
        "code rs544, 100 Gb/s",
        "code rs272, 100 Gb/s, burst 0.5",
    ]


def test_a_cliff_needs_two_bit_error_ratios_of_a_line() -> None:
    with pytest.raises(CannotDrawError, match="sweep them"):
        sheet_of(lines("1e-3", traffic__packets=1000), "cliff")
