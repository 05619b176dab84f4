"""Losses of a hop beside the protected link: they compose, and a protection repairs only its own hop."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import lossylink
from lossylink.errors import UserError
from lossylink.scenario.fingerprint import fingerprint
from lossylink.scenario.resolving import resolve

SIGMAS = 4.5
"""Standard deviations that a sound case stays within: it fails once in 150,000, and the seed is fixed."""

LONG = {
    "transport.congestion_control": "reno",
    "link.rate": "10Gbps",
    "path.rtt": "100us",
    "run.duration": "2s",
    "run.warmup": "0s",
    "run.cooldown": "0s",
    "switch.queue": "4MB",
    "switch.ecn_threshold": "4MB",
}


def row(experiment: str, protection: str, **settings: Any) -> dict[str, Any]:
    keys = {key.replace("__", "."): value for key, value in settings.items()}
    return dict(lossylink.run(experiment, protection=protection, settings=keys).records[0])


def hit(protection: str, **settings: Any) -> tuple[float, float]:
    """Share of one-segment flows that repeat a segment or time out, and its standard deviation."""
    trials = 20_000
    given = row(
        "tcp-fct", protection, flow__size=143, flow__trials=trials, **({"loss__forward": "0"} | settings)
    )
    share = given["retransmissions"] / trials
    return share, math.sqrt(share / trials)


def test_losses_of_two_hops_compose() -> None:
    """p of the link and q of the hop behind it lose as much as one hop with 1 - (1 - p)(1 - q)."""
    p, q = 0.05, 0.08
    (two, sigma), (one, other) = (
        hit("none", loss__forward=f"{p}", path__loss=f"{q}"),
        hit("none", loss__forward=f"{1 - (1 - p) * (1 - q)}"),
    )
    assert abs(two - one) < SIGMAS * math.hypot(sigma, other)


def test_a_hop_loses_as_the_link_does() -> None:
    (hop, sigma), (link, other) = hit("none", path__loss="0.1"), hit("none", loss__forward="0.1")
    assert abs(hop - link) < SIGMAS * math.hypot(sigma, other)
    (hop, sigma), (link, other) = hit("none", path__loss_back="0.1"), hit("none", loss__reverse="0.1")
    assert abs(hop - link) < SIGMAS * math.hypot(sigma, other)


@pytest.mark.parametrize("transport", ["tcp", "rdma"])
def test_a_row_counts_what_the_hop_lost(transport: str) -> None:
    q = 1e-3
    settings = (
        LONG if transport == "tcp" else {"run.duration": "200ms", "run.warmup": "20ms", "run.cooldown": "0s"}
    )
    long = {key.replace(".", "__"): value for key, value in settings.items()} | {
        "transport__protocol": transport
    }
    given = row("throughput", "none", loss__forward="0", path__loss=f"{q}", **long)
    expected = q * given["frames_offered"]
    assert given["frames_lost"] == 0
    assert abs(given["path_frames_lost"] - expected) < SIGMAS * math.sqrt(expected)
    assert "path_frames_lost_back" not in given
    if transport == "rdma":
        # A fifth of such runs meet a timeout: one that meets none does not tell what timeouts cost.
        assert given["average_throughput_gbps_ci95"] is None
    back = row("workload", "none", path__loss_back="1e-3", transport__protocol=transport, flow__trials=2_000)
    assert back["path_frames_lost_back"] > 0
    assert "path_frames_lost" not in back
    assert "path_frames_lost_back" not in row("workload", "none", flow__trials=20)


@pytest.mark.parametrize("protection", ["lg", "llr"])
def test_a_protection_repairs_only_its_own_hop(protection: str) -> None:
    """What is left is the loss of the other hop: a long flow repeats q of its segments, not p + q."""
    q = 1e-3
    given = row("throughput", protection, loss__forward="1e-2", path__loss=f"{q}", **LONG)
    share = given["retransmissions"] / given["segments_sent"]
    # A flow may repeat some segments twice, for a repeated one may be lost too: q^2 more.
    assert abs(share - q) < SIGMAS * math.sqrt(q / given["segments_sent"]) + 2 * q * q
    unprotected = row("throughput", "none", loss__forward="1e-2", path__loss=f"{q}", **LONG)
    both = 1 - (1 - 1e-2) * (1 - q)
    found = unprotected["retransmissions"] / unprotected["segments_sent"]
    assert found > 0.8 * both


def test_short_cuts_change_no_digit() -> None:
    for settings in ({"path.loss": "2%"}, {"path.loss_back": "gilbert-elliott:mean=1%,burst=200us"}):
        for protection in ("none", "lg"):
            rows = [
                lossylink.run(
                    "tcp-fct",
                    protection=protection,
                    settings=settings | {"flow.trials": 1_000, "run.skip": skip},
                ).records[0]
                for skip in (True, False)
            ]
            kept = ("fct_us_mean", "fct_us_max", "retransmissions", "timeouts", "flows_hit")
            assert [rows[0][key] for key in kept] == [rows[1][key] for key in kept], (settings, protection)


def test_refusals() -> None:
    with pytest.raises(UserError, match="no hop lies behind it"):
        resolve("tcp-fct", settings={"path.loss": "1%", "run.backend": "live"})
    with pytest.raises(UserError, match="take traffic.source=tcp"):
        resolve("fec", settings={"path.loss": "1%", "traffic.source": "udp-smooth"})
    with pytest.raises(UserError, match=r"path\.loss"):
        resolve("stress", settings={"path.loss": "1%"})
    with pytest.raises(UserError, match=r"path\.loss: .*did you mean 'bernoulli'"):
        resolve("tcp-fct", settings={"path.loss": "bernouli:1%"})


def test_a_recording_beside_the_scenario_is_found_again(tmp_path: Path) -> None:
    (tmp_path / "hop.txt").write_text("0001")
    (tmp_path / "one.toml").write_text('experiment = "tcp-fct"\n[path]\nloss = "trace:hop.txt"\n')
    resolved = resolve(tmp_path / "one.toml")
    assert resolved.settings["path"]["loss"] == f"trace:{tmp_path / 'hop.txt'}"
    before = fingerprint(resolved, "1")
    (tmp_path / "hop.txt").write_text("0011")
    assert fingerprint(resolve(tmp_path / "one.toml"), "1") != before
