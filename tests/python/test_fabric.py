"""A whole fabric: its rows and tables, traces and points of one's own, and plans."""

from __future__ import annotations

import csv
import io
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest

import lossylink
from lossylink.errors import UserError
from lossylink.planning import fabric
from lossylink.planning.fabric import Policy, plan_fabric, policies
from lossylink.running.run import Run
from lossylink.scenario.resolving import resolve

from .conftest import Ended

Command = Callable[..., Ended]

RECORDED = Path(__file__).resolve().parents[2] / "reference" / "fabric"
SMALL = {
    "fabric.topology": "fb-fabric:pods=6,tors=16,oversubscription=2",
    "fabric.constraint": "75%",
    "fabric.mttf": "1500h",
    "fabric.span": "3000h",
}
PUBLISHED = SMALL | {"fabric.points": "linkguardian-100g"}
#: Points of links of one's own, which a test writes.
POINTS = """
source = "a test"
protection = ["llr"]
rate = "25Gbps"
between = "interpolated"
points = [[1e-6, 1e-12, "24.9Gbps"], [1e-2, 1e-6, "20Gbps"]]
"""


def run(*protections: str, **settings: Any) -> Run:
    dotted = {f"fabric.{key}": value for key, value in settings.items()}
    return lossylink.run("fabric", protection=protections, settings=PUBLISHED | dotted)


def row(result: Run, protection: str) -> dict[str, Any]:
    return result.rows.filter(polars.col("protection") == protection).row(0, named=True)


def recorded_trace() -> list[list[str]]:
    text = lzma.decompress((RECORDED / "fb_p6os2" / "trace.csv.xz").read_bytes()).decode()
    return list(csv.reader(io.StringIO(text)))


@pytest.fixture
def trace_csv(tmp_path: Path) -> Path:
    path = tmp_path / "trace.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(recorded_trace())
    return path


def test_a_protection_changes_no_decision() -> None:
    result = run("none", "lg", years=3)
    bare, protected = row(result, "none"), row(result, "lg")
    for key in ("failures", "failures_skipped", "failures_kept", "repairs", "links_disabled_mean"):
        assert bare[key] == protected[key], key
    assert protected["penalty_mean"] < bare["penalty_mean"] / 1000
    assert bare["penalty_gain_max"] == 1.0
    assert protected["penalty_gain_max"] > 1e4
    assert bare["capacity_decrease_share_max"] == 0.0 < protected["capacity_decrease_share_max"]
    assert bare["paths_least_share_min"] == protected["paths_least_share_min"] >= 0.75


def test_the_row_is_what_its_tables_say() -> None:
    result = run("lg", years=4)
    told, years = row(result, "lg"), result.tables["years"]
    assert years["year"].to_list() == [0, 1, 2, 3]
    assert told["failures"] == years["failures"].sum()
    assert told["penalty_mean"] == pytest.approx(years["penalty_mean"].mean())
    low, high = told["penalty_mean_ci95"]
    assert low < told["penalty_mean"] < high
    assert told["capacity_least_share_min"] == years["capacity_least_share_min"].to_numpy().min()
    events = result.tables["events"]
    # The first year: time averages and extremes of the events until the last failure.
    end = events["time_s"][0] + 3000 * 3600
    held = events.with_columns(
        seconds=polars.col("time_s").shift(-1).clip(upper_bound=end).fill_null(end)
        - polars.col("time_s").clip(upper_bound=end)
    )
    seconds = held["seconds"].to_numpy()
    mean = (held["links_disabled"].to_numpy() * seconds).sum() / seconds.sum()
    assert years["links_disabled_mean"][0] == pytest.approx(mean, rel=1e-3)
    assert years["capacity_least_share_min"][0] * told["pod_gbps"] == pytest.approx(
        events.filter(polars.col("time_s") < end)["capacity_gbps_least"].to_numpy().min()
    )
    assert years["failures"][0] - years["failures_skipped"][0] + years["repairs"][0] >= (
        events.select(polars.exclude("time_s", "protection")).unique().height - 1
    )


def test_one_year_has_no_interval_and_threads_change_nothing() -> None:
    one = row(run("lg"), "lg")
    assert one["penalty_mean_ci95"] is None
    settings = PUBLISHED | {"fabric.years": 3}
    runs = [lossylink.run("fabric", protection="lg", settings=settings, threads=count) for count in (1, 2)]
    assert runs[0].rows.equals(runs[1].rows)
    assert runs[0].tables["shares"].equals(runs[1].tables["shares"])


def test_the_most_and_the_least_that_can_be_done() -> None:
    left, drained = row(run("none", constraint=1), "none"), row(run("none", constraint=0), "none")
    assert (left["repairs"], left["paths_least_share_min"]) == (0, 1.0)
    assert (drained["failures_kept"], drained["links_corrupting_max"]) == (0, 0)


def test_half_a_deployment_lies_between_none_and_all() -> None:
    whole, half, none = (row(run("lg", deployment=share), "lg") for share in (1, 0.5, 0))
    assert whole["penalty_mean"] < half["penalty_mean"] < none["penalty_mean"]
    assert none["penalty_gain_max"] == 1.0


def test_points_come_from_the_simulated_link() -> None:
    settings = SMALL | {"traffic.packets": 20_000}
    result = lossylink.run("fabric", protection=["none", "lg", "llr"], settings=settings)
    points = result.tables["points"]
    assert set(points["protection"]) == {"lg", "llr"}
    of_lg = points.filter(polars.col("protection") == "lg")
    assert of_lg.height == 25
    assert of_lg["loss_rate"][0] == pytest.approx(1e-8)
    assert of_lg["loss_rate"][-1] == pytest.approx(1e-2)
    # One copy squares the loss; from 1e-4 on there are two or more, to stay below 1e-8.
    few = of_lg.filter(polars.col("loss_rate") < 9e-5)
    for loss, left in few.select("loss_rate", "effective_loss_rate").rows():
        assert left == pytest.approx(loss**2, rel=0.1)
    assert of_lg["effective_loss_rate"].to_numpy().max() < 1.2e-8
    assert 0 < of_lg["capacity_gbps"].to_numpy().min() < of_lg["capacity_gbps"].to_numpy().max() <= 100


def test_a_recorded_trace_takes_the_place_of_draws(trace_csv: Path, tmp_path: Path) -> None:
    told = row(run("lg", trace=str(trace_csv)), "lg")
    assert told["failures"] == len(recorded_trace()) - 1
    events = [[int(at), int(link), float(loss)] for at, link, loss in recorded_trace()[1:]]
    published = {
        "topo_type": 3,
        "topo_params": {"num_pods": 6, "tors_per_pod": 16, "oversubscription": 2, "link_capacity": 100},
        "failure_events_list": events,
    }
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(published))
    assert row(run("lg", trace=str(path)), "lg") == told


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("9999999,576,1e-3", "link 576 at 9999999 s is not one of the fabric's 576, which begin at 0"),
        ("1,2,1e-3", "the failure of link 2 at 1 s does not come after the one before it"),
        ("99999999,2,2", "link 2 at 99999999 s loses 2, which is no ratio from 1e-18 to 1"),
        ("9999999,2", ":1162: ['9999999', '2'] is not a second, a link and a loss"),
    ],
)
def test_a_bad_line_of_a_trace_is_named(trace_csv: Path, line: str, words: str) -> None:
    with trace_csv.open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(UserError, match="trace") as raised:
        run("none", trace=str(trace_csv))
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_trace_of_another_topology_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(
        json.dumps({"topo_type": 1, "topo_params": {"k": 8}, "failure_events_list": [[1, 2, 0.1]]})
    )
    with pytest.raises(UserError, match=r"is of fat-tree:k=8, not of fb-fabric:pods=6,tors=16,oversub"):
        run("none", trace=str(path))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"fabric.topology": "fb-fabric:pods=6,tors=16,oversubscription=3"}, "3 does not divide 16 ToR"),
        ({"fabric.topology": "fb-fabric:pods=6"}, "tors missing; write fb-fabric:tors=..."),
        ({"fabric.topology": "leaf-spine:k=4"}, "unknown topology 'leaf-spine'; Valid: "),
        ({"fabric.topology": "fat-tree:k=7"}, "a fat tree needs an even k"),
        ({"fabric.trace": "nowhere.csv"}, "cannot read"),
        ({"fabric.trace": "nowhere"}, "write drawn, or a file that ends with .json or .csv"),
        ({"fabric.points": "linkguardian-10g"}, "unknown set of points"),
        (
            {"fabric.points": "linkguardian-100g", "link.rate": "25G"},
            "they are of links at 100 Gb/s, not at 25",
        ),
        ({"fabric.span": "90min"}, "fabric.span is not a whole number of hours"),
        ({"fabric.mttf": "30min"}, "fabric.mttf is shorter than an hour"),
        ({"fabric.mttf": "1h", "fabric.topology": "fb-fabric:pods=261,tors=48"}, "shorten fabric.span"),
        ({"fabric.topology": "fb-fabric:pods=100000,tors=48"}, "larger than 20000000; take fewer pods"),
        ({"link.rate": "25Mbps"}, "link.rate is no multiple of 10 Mb/s"),
        ({"fabric.topology": "fb-fabric:pods=1,tors=2000000"}, "a pod carries more than 42 Pb/s"),
        ({"loss.forward": "1e-3"}, "loss.forward: each link of a fabric has a loss of its own"),
        ({"fabric.constraint": "110%"}, "constraint"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError) as raised:
        resolve("fabric", settings=SMALL | settings, protection=["none", "lg"])
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_points_of_one_s_own_are_of_a_protection(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(POINTS)
    own = {"fabric.points": str(path), "link.rate": "25G"}
    result = lossylink.run("fabric", protection="llr", settings=SMALL | own)
    assert result.tables["points"]["capacity_gbps"].to_list() == [24.9, 20.0]
    with pytest.raises(UserError, match="they are of llr, not of lg; take simulated"):
        lossylink.run("fabric", protection="lg", settings=SMALL | own)
    for old, new, words in [
        ("interpolated", "guessed", "between = 'guessed'; write nearest or interpolated"),
        ('source = "a test"', "", "source is missing"),
        ("1e-12", "0", "a loss is no ratio above 0"),
        ("[1e-6", "[0.5", "their losses do not ascend"),
    ]:
        path.write_text(POINTS.replace(old, new))
        with pytest.raises(UserError, match=words):
            lossylink.run("fabric", protection="llr", settings=SMALL | own)


def test_a_plan_takes_what_loses_least_and_keeps_enough() -> None:
    compared = policies(0.75, protections=["lg"], deployments=[0.5, 1.0])
    topology = "fb-fabric:pods=4,tors=16"
    plan = plan_fabric(topology, compared=compared, constraint=0.75, target=0.5, years=2)
    rows = {one["policy"]: one for one in plan.rows()}
    assert list(rows) == [policy.label for policy in compared]
    assert plan.recommended == "corropt, lg"
    assert [label for label, one in rows.items() if one["recommended"]] == ["corropt, lg"]
    assert rows["leave"]["capacity_least_share_min"] == 1.0
    assert not rows["drain"]["meets_constraint"]
    with pytest.raises(UserError, match="no policy keeps 99.99 % of the least pod's capacity; the best is"):
        plan_fabric(topology, compared=compared[2:3], constraint=0.75, target=0.9999, years=2)


def test_no_policy_may_keep_the_paths() -> None:
    drain = [policy for policy in policies(0.75) if policy.label == "drain"]
    with pytest.raises(UserError, match=r"no policy keeps 75 % of the paths of every ToR switch"):
        plan_fabric("fb-fabric:pods=4,tors=16", compared=drain, constraint=0.75, target=0.0, years=5)


def test_a_tie_goes_to_the_first() -> None:
    first = Policy(label="first", protection="none", constraint=0.75)
    second = Policy(label="second", protection="none", constraint=0.75)
    plan = plan_fabric("fat-tree:k=4", compared=[first, second], constraint=0.75, target=0.0, years=1)
    assert plan.recommended == "first"


@pytest.mark.parametrize(
    ("rows", "chosen", "why"),
    [
        (
            {"lg": (2.4e-8, 0.97), "llr": (9e-8, 0.99)},
            "lg",
            "of 2 that keep paths and capacity none loses less",
        ),
        (
            {"lg-nb": (2.4e-8, 0.9732), "lg": (2.5e-8, 0.9731)},
            "lg",
            "as far as simulated points tell (lg-nb within 10%), and it delivers in order",
        ),
        (
            {"lg": (2.4e-8, 0.95), "lg-nb": (2.5e-8, 0.99)},
            "lg-nb",
            "as far as simulated points tell (lg within 10%), and its least pod keeps more on average",
        ),
    ],
)
def test_policies_that_lose_alike_are_chosen_by_what_else_matters(
    rows: dict[str, tuple[float, float]], chosen: str, why: str
) -> None:
    meeting = [
        (
            Policy(label=name, protection=name, constraint=0.75),
            {"penalty_mean": penalty, "capacity_least_share_mean": share},
        )
        for name, (penalty, share) in rows.items()
    ]
    policy, words = fabric.least_losing(meeting)
    assert policy.label == chosen
    assert why in words


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--fabric", "fat-tree:k=4", "--loss", "1e-3"], "--loss is of one link; leave it out"),
        (["--fabric", "fat-tree:k=4", "--verify"], "--verify is of one link"),
        (["--years", "3"], "--years is of a fabric; add --fabric TOPOLOGY"),
        (["--fabric", "fat-tree:k=4", "--capacity", "120%"], "--capacity"),
    ],
)
def test_options_of_another_plan_are_refused(words: list[str], told: str, command: Command) -> None:
    ended = command("plan", *words)
    assert ended.code == 2
    assert told in ended.err


def test_a_plan_is_one_object(command: Command) -> None:
    """As words it is printed in the guide to planning, whose transcripts are compared."""
    words = ("plan", "--fabric", "fat-tree:k=4", "--years", "1", "--capacity", "0%")
    told = json.loads(command(*words, "--json").out)
    assert len(told["rows"]) == 3 + 3 * 4
    assert told["recommended"] in {one["policy"] for one in told["rows"]}
