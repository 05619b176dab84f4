"""A link whose way back has a rate of its own: what ACKs limit, by closed form."""

from __future__ import annotations

from typing import Any

import pytest

import lossylink
from lossylink.errors import UserError
from lossylink.scenario.native import configuration
from lossylink.scenario.resolving import resolve

#: Octets on the line of a frame's preamble and gap, and of the least frame with both.
BETWEEN_FRAMES, LEAST_OCTETS = 20, 84
#: Octets of Ethernet's header and check sequence.
ETHERNET = 18
#: Octets of LinkGuardian's header, and of a control set of link-level retry with the distance to the next.
LG_HEADER, LLR_CONTROL, LLR_SPACING = 3, 8, 2048
MSS = 1460
#: Packets for which selective repeat asks for one acknowledgement, by RDMA-5, and their payload.
RDMA_ASKS, RDMA_MTU = 256, 1024
#: IP bytes of an RDMA acknowledgement, by RDMA-1.
RDMA_ACK_IP = 20 + 8 + 12 + 4 + 4

LONG = {
    "host.profile": "ideal",
    "path.rtt": "1ms",
    "loss.forward": "0",
    "run.duration": "1s",
    "run.warmup": "500ms",
    "run.cooldown": "0s",
}
TCP = LONG | {
    "transport.congestion_control": "reno",
    "transport.timestamps": False,
    "transport.receive_window": "1MB",
    "switch.queue": "4MB",
    "switch.ecn_threshold": "4MB",
}


def row(experiment: str, protection: str, settings: dict[str, Any]) -> dict[str, Any]:
    return dict(lossylink.run(experiment, protection=protection, settings=settings).records[0])


def octets_of(ip_bytes: int) -> int:
    """Octets on the line of a frame that carries an IP packet."""
    return max(ip_bytes + ETHERNET + BETWEEN_FRAMES, LEAST_OCTETS)


def gbps(payload: float, octets: float, rate: float) -> float:
    """Goodput of so much payload for each frame of so many octets."""
    return payload / octets * rate / 1e9


@pytest.mark.parametrize(
    ("protection", "ack_octets"),
    [
        ("none", LEAST_OCTETS),
        ("fec:25/5", LEAST_OCTETS),
        # An ACK of the hosts takes one of LinkGuardian along; no explicit one finds the line free (LG-17).
        ("lg", LEAST_OCTETS + LG_HEADER),
        # A control set leaves once in a spacing, and takes its octets off the line (LLR-6, LLR-7).
        ("llr", LEAST_OCTETS / (1 - LLR_CONTROL / LLR_SPACING)),
    ],
)
def test_acks_limit_a_flow(protection: str, ack_octets: float) -> None:
    """One delayed ACK for two segments, one behind the other on the way back."""
    keys = TCP | {"link.rate": "1Gbps", "link.rate_back": "5Mbps"}
    found = row("throughput", protection, keys)
    # An ACK more or less at either end of the span that counts, of 3,720.
    assert found["average_throughput_gbps"] == pytest.approx(gbps(2 * MSS, ack_octets, 5e6), rel=2e-3)
    assert (found["retransmissions"], found["timeouts"]) == (0, 0)


def test_acks_with_timestamps_are_longer() -> None:
    keys = TCP | {"transport.timestamps": True, "link.rate": "1Gbps", "link.rate_back": "5Mbps"}
    found = row("throughput", "none", keys)
    payload, octets = 2 * (MSS - 12), octets_of(20 + 32)
    assert found["average_throughput_gbps"] == pytest.approx(gbps(payload, octets, 5e6), rel=2e-3)


@pytest.mark.parametrize("share", [0.9, 1.1])
def test_the_slower_of_both_ways_decides(share: float) -> None:
    """The line carries a segment in 1538 octets; a way back of 84 / (2 x 1538) of it carries the ACKs."""
    even = 1e9 * LEAST_OCTETS / (2 * 1538)
    keys = TCP | {"link.rate": "1Gbps", "link.rate_back": f"{round(even * share)}bps"}
    found = row("throughput", "none", keys)
    expected = gbps(MSS, 1538, 1e9) * min(share, 1)
    assert found["average_throughput_gbps"] == pytest.approx(expected, rel=2e-3)


def test_a_write_waits_for_its_acknowledgement() -> None:
    """One acknowledgement for each message (RDMA-5): a slower way back adds what it takes longer."""
    keys = {"host.profile": "ideal", "flow.size": 1024, "flow.trials": 10, "loss.forward": "0"}
    keys |= {"link.rate": "10Gbps"}
    even = row("rdma-fct", "none", keys)
    slow = row("rdma-fct", "none", keys | {"link.rate_back": "100Mbps"})
    longer_us = octets_of(RDMA_ACK_IP) * 8 * (1 / 100e6 - 1 / 10e9) * 1e6
    for figure in ("fct_us_min", "fct_us_mean", "fct_us_max"):
        assert slow[figure] - even[figure] == pytest.approx(longer_us, abs=1e-5)


def test_acknowledgements_limit_long_writes() -> None:
    """Selective repeat has 1,024 packets under way, and asks at every 256th and the last of a message."""
    keys = LONG | {"transport.protocol": "rdma", "transport.recovery": "selective-repeat"}
    keys |= {"path.rtt": "20us", "link.rate": "10Gbps", "link.rate_back": "1Mbps"}
    found = row("throughput", "none", keys)
    # A message has 1,000 packets: a whole number of turns of 256 and 1,000 has 125 + 32 - 1 acknowledgements.
    turn = 32_000
    asks = turn // RDMA_ASKS + turn // 1000 - 1
    payload = turn * RDMA_MTU / asks
    expected = gbps(payload, octets_of(RDMA_ACK_IP), 1e6)
    assert found["average_throughput_gbps"] == pytest.approx(expected, rel=2e-2)


@pytest.mark.parametrize("protection", ["none", "lg", "lg-nb", "llr", "fec:25/5", "fec-model:25/5"])
def test_the_rate_of_the_data_is_as_no_rate_at_all(protection: str) -> None:
    lossy = {"loss.forward": "1%", "loss.reverse": "0.1%", "link.rate": "25Gbps"}
    for experiment, work in {"tcp-fct": ("flow.trials", 300), "stress": ("traffic.packets", 20_000)}.items():
        keys = lossy | dict([work])
        rows = [row(experiment, protection, keys | more) for more in ({}, {"link.rate_back": "25Gbps"})]
        for one in rows:
            one.pop("packets_per_wall_second", None)
        assert rows[0] == rows[1]


def test_a_key_that_is_left_out_is_not_handed_down() -> None:
    resolved = resolve("stress")
    assert "rate_back_bps" not in configuration(resolved, resolved.protections[0])["link"]


@pytest.mark.parametrize("protection", ["none", "lg", "lg-nb", "llr", "fec:25/5"])
def test_short_cuts_change_no_digit(protection: str) -> None:
    keys = {"loss.forward": "1%", "link.rate": "10Gbps", "link.rate_back": "30Mbps", "flow.trials": 300}
    rows = [row("tcp-fct", protection, keys | {"run.skip": skip}) for skip in (True, False)]
    kept = ("fct_us_min", "fct_us_mean", "fct_us_max", "retransmissions", "timeouts", "flows_hit")
    assert [rows[0][key] for key in kept] == [rows[1][key] for key in kept]


@pytest.mark.parametrize("protection", ["lg", "lg-nb", "llr"])
def test_a_slow_way_back_leaves_no_more_lost(protection: str) -> None:
    """The timers of a protection wait for what it is told on the slow way back: no frame is given up.

    A notification takes 67 us there, and LinkGuardian's published wait at 10G is 13.6 us.
    """
    keys = {"loss.forward": "1e-3", "link.rate": "10Gbps", "link.rate_back": "10Mbps"}
    found = row("stress", protection, keys | {"traffic.packets": 200_000})
    assert found["packets_delivered"] == found["packets_sent"]


def test_refusals() -> None:
    with pytest.raises(UserError, match="link.rate_back: the link of the live lab has one rate"):
        resolve("tcp-fct", settings={"link.rate_back": "1Mbps", "run.backend": "live"})
    for experiment in ("mathis", "fabric"):
        with pytest.raises(UserError, match=r"does not use 'link\.rate_back'"):
            resolve(experiment, settings={"link.rate_back": "1Mbps"})
    with pytest.raises(UserError, match=r"link\.rate_back = 0"):
        resolve("tcp-fct", settings={"link.rate_back": "0"})
