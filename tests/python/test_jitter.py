"""Jitter behind the link: by how much packets are later, and whether they overtake each other."""

from __future__ import annotations

import math
from typing import Any

import pytest

import lossylink
from lossylink.errors import UserError
from lossylink.scenario.native import configuration
from lossylink.scenario.resolving import resolve

SIGMAS = 4.5
"""Standard deviations that a sound case stays within: it fails once in 150,000, and the seed is fixed."""

TRIALS = 20_000
JITTER_US = 50.0
#: Writes of one packet, one after another: each packet is alone on the path.
WRITES = {"host.profile": "ideal", "flow.size": 1024, "flow.trials": TRIALS, "loss.forward": "0"}
LONG = {
    "host.profile": "ideal",
    "link.rate": "1Gbps",
    "path.rtt": "2ms",
    "loss.forward": "0",
    "run.duration": "2s",
    "run.warmup": "0s",
    "run.cooldown": "0s",
    "switch.queue": "8MB",
    "switch.ecn_threshold": "8MB",
}
#: The timer of an interface, 1.07 ms, outlasts the round trip and the queue behind LinkGuardian's header.
RDMA = LONG | {"transport.protocol": "rdma", "path.rtt": "100us", "run.duration": "300ms"}
RDMA |= {"path.jitter": "100us"}
TCP = LONG | {"transport.congestion_control": "reno", "transport.receive_window": "1MB"}


def row(experiment: str, settings: dict[str, Any], protection: str = "none") -> dict[str, Any]:
    return dict(lossylink.run(experiment, protection=protection, settings=settings).records[0])


def is_uniform(found: dict[str, Any], even: dict[str, Any], most_us: float) -> None:
    """Hold a row against the uniform law on [0, most], whose mean is most / 2 and variance most^2 / 12."""
    least, mean, longest = (found[f"fct_us_{key}"] - even["fct_us_min"] for key in ("min", "mean", "max"))
    sigma = most_us / math.sqrt(12 * TRIALS)
    assert abs(mean - most_us / 2) < SIGMAS * sigma
    assert found["fct_us_std"] == pytest.approx(most_us / math.sqrt(12), rel=0.02)
    # The chance that none of n lies within the outermost share s is (1 - s)^n: e^-20.
    edge = 20 / TRIALS * most_us
    assert 0 <= least < edge
    assert most_us - edge < longest <= most_us + 1e-6


@pytest.mark.parametrize("key", ["path.jitter", "path.jitter_back"])
@pytest.mark.parametrize("reorder", [False, True])
def test_packets_far_apart_are_later_by_a_uniform_time(key: str, reorder: bool) -> None:
    """A write goes forward and its acknowledgement back: each meets the jitter of its own way."""
    even = row("rdma-fct", WRITES)
    assert even["fct_us_min"] == even["fct_us_max"]
    is_uniform(row("rdma-fct", WRITES | {key: f"{JITTER_US}us", "path.reorder": reorder}), even, JITTER_US)


def test_netems_delay_is_a_shorter_delay_and_twice_the_jitter() -> None:
    """`delay 100us 25us` is uniform from 75 to 125 us."""
    keys = WRITES | {"link.propagation": "75us", "path.jitter": "50us"}
    found, even = row("rdma-fct", keys), row("rdma-fct", WRITES)
    one_way = [found[f"fct_us_{key}"] - even["fct_us_min"] - 75 for key in ("min", "mean", "max")]
    assert one_way == pytest.approx([75, 100, 125], abs=0.3)


@pytest.mark.parametrize("protection", ["none", "lg", "llr"])
def test_jitter_in_order_repeats_nothing(protection: str) -> None:
    """No duplicate ACK arises: neither sender repeats anything, though the jitter lasts 81 segments."""
    tcp = row("throughput", TCP | {"path.jitter": "1ms", "path.jitter_back": "1ms"}, protection)
    assert (tcp["retransmissions"], tcp["timeouts"]) == (0, 0)
    assert tcp["average_throughput_gbps"] > 0.5
    assert row("throughput", RDMA, protection)["retransmissions"] == 0


def test_packets_that_overtake_are_told() -> None:
    """Go-back-N takes each packet that is ahead of its turn for a loss (RDMA-7); TCP repeats some."""
    assert row("throughput", RDMA | {"path.reorder": True})["retransmissions"] > 1000
    tcp = row("throughput", TCP | {"path.jitter": "1ms", "path.reorder": True})
    assert tcp["retransmissions"] > 0


@pytest.mark.parametrize("reorder", [False, True])
@pytest.mark.parametrize("protection", ["none", "lg", "lg-nb", "llr", "fec:25/5"])
def test_short_cuts_change_no_digit(protection: str, reorder: bool) -> None:
    keys = {"loss.forward": "1%", "path.jitter": "20us", "path.jitter_back": "5us", "path.reorder": reorder}
    rows = [
        row("tcp-fct", keys | {"flow.trials": 300, "run.skip": skip}, protection) for skip in (True, False)
    ]
    kept = ("fct_us_min", "fct_us_mean", "fct_us_max", "retransmissions", "timeouts", "flows_hit")
    assert [rows[0][key] for key in kept] == [rows[1][key] for key in kept]


def test_jitter_follows_from_the_seed() -> None:
    keys = {"flow.trials": 200, "path.jitter": "20us"}

    def times(seed: int, threads: int) -> list[float]:
        found = row("tcp-fct", keys | {"seed": seed, "run.threads": threads})
        return [found["fct_us_mean"], found["fct_us_max"]]

    assert times(1, 1) == times(1, 2) != times(2, 1)


def test_no_jitter_is_as_no_key_at_all() -> None:
    keys = {"flow.trials": 300, "loss.forward": "1%"}
    assert row("tcp-fct", keys) == row("tcp-fct", keys | {"path.jitter": "0s", "path.jitter_back": "0s"})
    resolved = resolve("tcp-fct", settings={"path.jitter": "0s"})
    assert "jitter" not in configuration(resolved, resolved.protections[0])["path"]


def test_refusals() -> None:
    with pytest.raises(UserError, match="path.jitter: the hosts of the live lab"):
        resolve("tcp-fct", settings={"path.jitter_back": "1us", "run.backend": "live"})
    with pytest.raises(UserError, match="path.jitter: datagrams of udp-smooth"):
        resolve("fec", settings={"path.jitter": "1us", "traffic.source": "udp-smooth"})
    with pytest.raises(UserError, match="set path.jitter or path.jitter_back, or leave path.reorder out"):
        resolve("tcp-fct", settings={"path.reorder": True})
    for experiment in ("stress", "mathis"):
        with pytest.raises(UserError, match=r"does not use 'path\.jitter'|unknown key 'path\.jitter'"):
            resolve(experiment, settings={"path.jitter": "1us"})
