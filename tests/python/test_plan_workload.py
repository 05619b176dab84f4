"""Plans for flows that share the link: what a verdict covers, which protection the tails choose."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lossylink.errors import UserError
from lossylink.planning import Workload, plan
from lossylink.planning.workload import UnderLoad, _tail, under_load
from lossylink.running.runner import run
from lossylink.statistics.estimates import Estimate, percentile

from .planned_links import link


def test_a_workload_without_a_transport_is_refused() -> None:
    with pytest.raises(UserError, match="name it, tcp or rdma"):
        plan(link(), target=1e-8, workload=Workload())


def test_a_verdict_says_what_traffic_it_covers() -> None:
    assert plan(link(), target=1e-8).covers.startswith("the link alone")
    by_flows = plan(link(1e-6), target=1e-9, transport="rdma", flow_bytes=100_000)
    assert "RDMA flows of 0.1 MB, one after another, end within" in by_flows.reason
    assert "--workload" in by_flows.covers


def told(**tails: tuple[float, float, float]) -> UnderLoad:
    slowdowns = {name: Estimate(*tail) for name, tail in tails.items()}
    return UnderLoad("tcp", Workload(), slowdowns, Estimate(25.4, 24.4, 26.2))


def test_under_load_the_fastest_of_the_tails_that_are_not_told_apart_is_taken() -> None:
    fast, slow = (
        next(one for one in plan(link(), target=1e-8).predictions if one.protection.startswith(word))
        for word in ("lg-nb", "fec")
    )
    names = (fast.protection, slow.protection)
    alike = told(**dict(zip(names, [(26.6, 25.7, 27.1), (25.7, 24.9, 26.5)], strict=True)))
    assert alike.best([fast, slow]) is fast
    assert alike.reason(fast, [fast, slow]).endswith("are alike: it is fastest")
    apart = told(**dict(zip(names, [(40.0, 38.0, 42.0), (25.7, 24.9, 26.5)], strict=True)))
    assert apart.best([fast, slow]) is slow
    assert "at most 25.7 times as long as alone, and 25.4 times without loss" in apart.reason(
        slow, [fast, slow]
    )
    assert apart.reason(slow, [fast, slow]).endswith("1 of 2 that meet the target have a worse tail")


def test_a_workload_is_run_over_every_protection_and_without_loss() -> None:
    predictions = [one for one in plan(link(), target=1e-8).predictions if one.protection != "none"][:2]
    loaded = under_load(link(), predictions, "tcp", Workload(flows=2000))
    assert set(loaded.slowdowns) == {one.protection for one in predictions}
    assert all(one.low <= one.value <= one.high for one in (*loaded.slowdowns.values(), loaded.clean))
    settings = {
        "link.rate": "100Gbps", "link.propagation": "0ns", "loss.forward": "0", "path.rtt": "7908ns",
        "flow.trials": 2000,
    }  # fmt: skip
    (clean,) = run("workload", protection=["none"], settings=settings).records
    assert loaded.clean.value == pytest.approx(clean["slowdown_p99_9"])
    assert clean["interface_queue_bytes_max"] == 0


def test_flows_that_do_not_end_are_slower_than_all_others() -> None:
    flows = np.append(np.arange(1.0, 9_992.0), [math.inf] * 9)
    tail = _tail(flows)
    assert tail.value == percentile(np.minimum(flows, 1e9), 99.9)
    assert tail.high == math.inf
    flows[9_990] = math.inf
    assert _tail(flows).value == math.inf


def test_a_protection_over_which_flows_do_not_end_is_not_taken_and_has_no_figure() -> None:
    first, second = (
        next(one for one in plan(link(), target=1e-8).predictions if one.protection.startswith(word))
        for word in ("lg-nb", "fec")
    )
    # Nine in ten thousand do not end, or twelve: the interval has flows of both sorts.
    infinite = (math.inf, 25.0, math.inf)
    loaded = told(**{first.protection: infinite, second.protection: (25.7, 24.9, 26.5)})
    assert loaded.best([first, second]) is second
    assert loaded.row(first.protection)["slowdown_p99_9"] is None


def test_rdma_under_load_has_a_verdict_though_connections_break() -> None:
    """Of 2,000 flows a single one does not end: no more than the tail leaves out."""
    lossy = link(1e-2)
    predictions = [one for one in plan(lossy, target=1e-8).predictions if one.protection.startswith("lg-nb")]
    loaded = under_load(lossy, predictions, "rdma", Workload(flows=2000, load=0.15))
    for protection, tail in loaded.slowdowns.items():
        row = loaded.row(protection)
        assert row["flows_unfinished"] == loaded.unfinished[protection]
        assert math.isfinite(tail.value) == (loaded.unfinished[protection] < 2)
        assert (row["slowdown_p99_9"] is None) == math.isinf(tail.value)
