"""RDMA writes over the kernel's own RDMA: exact, the same every time, and beside the simulator."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from lossylink._package.resources import SCENARIOS
from lossylink.declared.experiments import all_experiments
from lossylink.declared.protections import parse_protection
from lossylink.errors import UserError
from lossylink.linux.guest import Guest, rdma
from lossylink.running.backends.kernel.rdma_writes import plan_of
from lossylink.scenario.native import configuration
from lossylink.scenario.resolving import resolve

from .kernel_support import guest_of_nobody, need_verbs, needed_kernel, public_folder, row_of
from .test_documents import DICTIONARY, first_column

KERNEL = needed_kernel()
need_verbs()
#: A kernel counts whole nanoseconds, and to read the clock takes one. The bound is the issue's for one frame.
PUNCTUALITY_NS = 10.0
#: What a write takes there and back is late by no more.
ROUNDING_US = PUNCTUALITY_NS / 1e3
#: A message of the usual scenario in packets, and what a full one takes at 100 Gb/s, with Ethernet's own
#: octets 1,106.
PACKETS, FULL_US = 24, 0.08848
TICK_US = 1000
HOSTS = SCENARIOS / "host"


def writes(backend: str, protection: str = "none", **settings: Any) -> dict[str, Any]:
    return row_of("rdma-fct", backend, protection, **settings)


def configured(protection: str = "none", *, seed: int = 1, **settings: Any) -> dict[str, Any]:
    chosen = {"host.profile": "ideal"} | {name.replace("__", "."): value for name, value in settings.items()}
    return configuration(resolve("rdma-fct", settings=chosen, seed=seed), parse_protection(protection))


def test_writes_without_loss_take_what_the_simulator_says() -> None:
    settings: dict[str, Any] = {"loss__forward": "0", "flow__trials": 20}
    real, simulated = writes("kernel", **settings), writes("sim", **settings)
    for key in ("fct_us_min", "fct_us_p50", "fct_us_max"):
        assert real[key] == pytest.approx(simulated[key], abs=ROUNDING_US), key
    assert real["lateness_ns_max"] <= PUNCTUALITY_NS
    # Every packet crosses the link, once.
    assert real["frames_offered"] == 20 * PACKETS
    assert real["largest_frame_bytes"] == 1024 + 14 + 20 + 8 + 12 + 16 + 4


def test_a_packet_more_takes_what_its_line_takes() -> None:
    two, three = (
        writes("kernel", loss__forward="0", flow__trials=1, flow__size=packets * 1024) for packets in (2, 3)
    )
    assert three["fct_us_max"] - two["fct_us_max"] == pytest.approx(FULL_US, abs=0.002)


@pytest.mark.parametrize("mtu", [256, 4096])
def test_packets_are_as_large_as_the_scenario_says(mtu: int) -> None:
    settings: dict[str, Any] = {
        "loss__forward": "0",
        "flow__trials": 3,
        "transport__mtu": mtu,
        "link__mtu": 9000,
    }
    real, simulated = writes("kernel", **settings), writes("sim", **settings)
    assert real["frames_offered"] == 3 * -(-24_387 // mtu)
    assert real["fct_us_max"] == pytest.approx(simulated["fct_us_max"], abs=ROUNDING_US)


@pytest.mark.parametrize(("frame", "again"), [(0, 24), (5, 19), (22, 2)])
def test_a_lost_packet_that_others_follow_costs_what_the_simulator_says(frame: int, again: int) -> None:
    """The next packet shows the gap, the responder reports it, and the requester goes back."""
    settings: dict[str, Any] = {"loss__forward": f"at:{frame}", "flow__trials": 1}
    real, simulated = writes("kernel", **settings), writes("sim", **settings)
    # The repair is a second way there and back.
    assert real["fct_us_max"] == pytest.approx(simulated["fct_us_max"], abs=2 * ROUNDING_US)
    assert real["retransmissions"] == simulated["retransmissions"] == again
    for row in (real, simulated):
        assert (row["repaired_nak"], row["repaired_timeout"], row["flows_hit"]) == (1, 0, 1)
    assert real["naks"] == 1


def test_a_lost_last_packet_waits_for_a_tick() -> None:
    """4.096 us x 2^8 are one whole tick for rxe, and its timer expires at the end of the tick after."""
    clean = writes("kernel", loss__forward="0", flow__trials=1)["fct_us_max"]
    lost = range(PACKETS - 1, 20 * 2 * PACKETS, 2 * PACKETS)
    frames = ",".join(map(str, lost))
    row = writes("kernel", loss__forward=f"at:{frames}", flow__trials=20)
    assert row["timeouts"] == row["repaired_timeout"] == row["flows_hit"] == 20
    # Nothing was acknowledged: the whole message comes again.
    assert row["retransmissions"] == 20 * PACKETS
    waited = row["fct_us_min"] - clean, row["fct_us_max"] - clean
    assert TICK_US <= waited[0] < waited[1] <= 2 * TICK_US
    # Writes begin anywhere between two ticks.
    assert waited[1] - waited[0] > TICK_US / 2


def test_rxe_does_not_hear_of_a_second_gap() -> None:
    """A difference from InfiniBand: before an acknowledgement comes, rxe goes back for one NAK only."""
    settings: dict[str, Any] = {"loss__forward": "at:5,30", "flow__trials": 1}
    real, simulated = writes("kernel", **settings), writes("sim", **settings)
    assert (simulated["repaired_nak"], simulated["repaired_timeout"]) == (1, 0)
    assert (real["naks"], real["timeouts"], real["repaired_timeout"]) == (2, 1, 1)
    assert real["fct_us_max"] > TICK_US > simulated["fct_us_max"]


def test_a_write_fails_after_its_last_retry_and_the_next_one_succeeds() -> None:
    """Five retries: the first write is sent six times, and in vain."""
    settings: dict[str, Any] = {"loss__forward": f"at:0-{6 * PACKETS - 1}", "flow__trials": 2}
    real, simulated = writes("kernel", **settings), writes("sim", **settings)
    for row in (real, simulated):
        assert (row["trials"], row["flows_unfinished"], row["fct_us_max"]) == (1, 1, None)
    assert real["fct_us_min"] == pytest.approx(simulated["fct_us_min"], abs=ROUNDING_US)
    assert real["frames_lost"] == 6 * PACKETS


def test_losses_cost_what_the_simulator_says() -> None:
    """Under 1 % loss a fifth of the messages is hit. Percentiles below those of the timer agree."""
    settings: dict[str, Any] = {"loss__forward": "1%", "flow__trials": 2000}
    real, simulated = writes("kernel", **settings), writes("sim", **settings)
    for key in ("fct_us_p50", "fct_us_p90"):
        assert real[key] == pytest.approx(simulated[key], abs=2 * ROUNDING_US), key
    assert real["flows_hit"] == pytest.approx(simulated["flows_hit"], rel=0.15)
    assert real["lateness_ns_max"] <= PUNCTUALITY_NS


@pytest.mark.parametrize("protection", ["lg", "llr"])
def test_what_the_link_repairs_in_order_is_not_sent_again(protection: str) -> None:
    settings: dict[str, Any] = {"loss__forward": "1%", "flow__trials": 300}
    real, simulated = writes("kernel", protection, **settings), writes("sim", protection, **settings)
    assert real["frames_lost"] > 0
    assert (real["retransmissions"], real["naks"], real["timeouts"]) == (0, 0, 0)
    assert real["fct_us_p50"] == pytest.approx(simulated["fct_us_p50"], abs=ROUNDING_US)
    assert real["lateness_ns_max"] <= PUNCTUALITY_NS


def test_what_the_link_repairs_out_of_order_is_sent_again() -> None:
    settings: dict[str, Any] = {"loss__forward": "1%", "flow__trials": 1000}
    real, simulated = writes("kernel", "lg-nb", **settings), writes("sim", "lg-nb", **settings)
    assert real["repaired_nak"] == pytest.approx(simulated["repaired_nak"], rel=0.2)
    assert real["fct_us_p90"] == pytest.approx(simulated["fct_us_p90"], abs=2 * ROUNDING_US)


def test_a_long_message_is_punctual_too() -> None:
    """rxe sends bursts while packets arrive: each of them takes the kernel's clock on by a nanosecond."""
    settings: dict[str, Any] = {
        "loss__forward": "0",
        "flow__trials": 3,
        "flow__size": "1MB",
        "link__rate": "25Gbps",
    }
    real, simulated = writes("kernel", **settings), writes("sim", **settings)
    assert real["fct_us_max"] == pytest.approx(simulated["fct_us_max"], abs=ROUNDING_US)
    assert real["lateness_ns_max"] <= PUNCTUALITY_NS


def test_the_delays_of_a_profile_are_waited_for() -> None:
    settings: dict[str, Any] = {"loss__forward": "0", "flow__trials": 300, "host__profile": "ae-hosts"}
    real, simulated = writes("kernel", **settings), writes("sim", **settings)
    # Nine in ten messages of this profile meet no delay but that of fetching their payload.
    assert real["fct_us_p50"] == pytest.approx(simulated["fct_us_p50"], abs=ROUNDING_US)
    assert real["fct_us_max"] > real["fct_us_p50"] + 0.5


def test_every_key_is_in_the_dictionary() -> None:
    row = writes("kernel", "lg", loss__forward="1%", flow__trials=50)
    assert set(row) <= {key for text in DICTIONARY.values() for key in first_column(text)}
    assert set(all_experiments()["rdma-fct"].row_keys) <= set(row)
    known = set(first_column(DICTIONARY["On the kernel backend"]))
    assert {"naks", "duplicates", "rdma_timer_us", "flows_hit"} <= known & set(row)


def test_a_long_timer_is_coarse(tmp_path: Path) -> None:
    """4.096 us x 2^14 are 67 whole ticks. Linux rounds timers of 64 ticks and more up to eights."""
    profile = tmp_path / "patient.toml"
    text = (HOSTS / "ideal.toml").read_text()
    profile.write_text(
        re.sub(r"^rdma_timeout_us = \d+", "rdma_timeout_us = 67_000", text, flags=re.MULTILINE)
    )
    row = writes("kernel", loss__forward=f"at:{PACKETS - 1}", flow__trials=1, host__profile=str(profile))
    assert row["rdma_timer_us"] == 4.096 * 2**14
    assert row["timeouts"] == 1
    assert 67 * TICK_US <= row["fct_us_max"] <= (67 + 1 + 8) * TICK_US


def record_of(*, seed: int = 1) -> bytes:
    plan = plan_of(configured(seed=seed, loss__forward="1%", flow__trials=100))
    with Guest(KERNEL, plan) as guest:
        finished = guest.run(on_output=lambda _: None)
        assert finished.status == 0
        return (finished.work / "record.pcap").read_bytes() + (finished.work / "results").read_bytes()


def test_the_same_seed_gives_the_same_bytes() -> None:
    """Three times, the third time on a machine with other work."""
    records = []
    for run in range(3):
        busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(2 if run == 2 else 0)]
        try:
            records.append(record_of())
        finally:
            for process in busy:
                process.kill()
                process.wait()
    assert len(records[0]) > 100 * PACKETS * 128
    assert records[0] == records[1] == records[2]
    assert record_of(seed=2) != records[0]


@pytest.mark.skipif(os.geteuid() != 0, reason="every other test is one without privileges")
def test_nobody_may_run_it(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of(configured(loss__forward="1%", flow__trials=50))
    lines: list[str] = []
    with public_folder() as public, guest_of_nobody(KERNEL, plan, public, monkeypatch) as guest:
        finished = guest.run(on_output=lines.append)
        results = (finished.work / "results").read_text().split()
    assert finished.status == 0
    assert "done 50" in lines
    assert len(results) == 50


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"transport__recovery": "selective-repeat"}, "--set transport.recovery=go-back-n"),
        ({"transport__dcqcn": "on"}, "--set transport.dcqcn=off"),
        ({"flow__size": "3GB"}, "a message has 2147483648 B at the most"),
    ],
)
def test_what_rxe_is_not_is_refused_in_one_line(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words) as told:
        plan_of(configured(**settings))
    assert "\n" not in str(told.value)


def test_a_profile_that_rxe_cannot_follow_is_refused() -> None:
    config = configured()
    for key, value, words in (("tick_us", 4000, "ticks every 1000 us"), ("rdma_retry_count", 7, "for ever")):
        with pytest.raises(UserError, match=words):
            rdma.check({**config, "host": {**config["host"], key: value}})


def test_what_is_missing_is_named_with_its_package(tmp_path: Path) -> None:
    needed = {tmp_path / "verbs.h": "libibverbs-dev", tmp_path / "rxe.driver": "ibverbs-providers"}
    with pytest.raises(UserError, match=r"verbs\.h, .*apt-get install ibverbs-providers libibverbs-dev"):
        rdma.require_verbs(needed)
    for path in needed:
        path.touch()
    rdma.require_verbs(needed)
