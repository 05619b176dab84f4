"""The stress test under real hosts: what one packet socket sends and another counts, beside the simulator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lossylink
from lossylink.declared.protections import parse_protection
from lossylink.errors import UserError
from lossylink.running.backends.kernel.stress import Load, load_of
from lossylink.scenario.native import configuration
from lossylink.scenario.resolving import resolve

from .kernel_support import needed_kernel

KERNEL = needed_kernel()
#: A kernel counts whole nanoseconds. The bound is the issue's for one frame.
PUNCTUALITY_NS = 10.0
PACKETS = 100_000


def row_of(backend: str, protection: str = "none", **settings: Any) -> dict[str, Any]:
    """Run the test with one loss in a thousand and return its one row; ``__`` in a name stands for a dot."""
    chosen: dict[str, Any] = {"traffic.packets": PACKETS, "loss.forward": "1e-3"}
    chosen |= {name.replace("__", "."): value for name, value in settings.items()}
    run = lossylink.run("stress", protection=[protection], settings=chosen, backend=backend, seed=1)
    return dict(run.records[0])


def loaded(protection: str = "none", **settings: Any) -> Load:
    """Return what the program is told for a scenario."""
    chosen = {name.replace("__", "."): value for name, value in settings.items()}
    scenario = resolve("stress", settings=chosen, protection=[protection])
    return load_of(configuration(scenario, parse_protection(protection)))


def test_frames_arrive_but_for_those_that_the_link_corrupts() -> None:
    """The same frames are lost as in the simulator, the line is never idle, and no byte is altered."""
    real, simulated = row_of("kernel"), row_of("sim")
    assert real["packets_sent"] == PACKETS
    assert real["packets_delivered"] == PACKETS - real["frames_lost"]
    assert real["effective_lost_packets"] == simulated["effective_lost_packets"] > 0
    low, high = real["effective_loss_ci95"]
    assert low < 1e-3 < high
    # The first and the last frame are stamped in whole nanoseconds.
    assert real["effective_link_speed_gbps"] == pytest.approx(
        simulated["effective_link_speed_gbps"], rel=1e-6
    )
    for key in (
        "altered_packets",
        "duplicates_delivered",
        "reordered_packets",
        "queue_drops",
        "source_stalls",
    ):
        assert real[key] == 0, key
    assert real["lateness_ns_max"] <= PUNCTUALITY_NS


@pytest.mark.parametrize("protection", ["lg", "lg-nb", "llr", "fec:25/5"])
def test_protections_do_what_the_simulator_says(protection: str) -> None:
    real, simulated = row_of("kernel", protection), row_of("sim", protection)
    assert real["frames_lost"] > 0
    assert real["effective_lost_packets"] == 0
    speed = simulated["effective_link_speed_gbps"]
    assert real["effective_link_speed_gbps"] == pytest.approx(speed, rel=0.01)
    assert (real["reordered_packets"] > 0) == (simulated["reordered_packets"] > 0)
    for key in ("octets_data", "octets_header", "octets_parity", "duplicates_delivered"):
        assert real[key] == simulated[key], key
    # Where the frames fall between two ticks of the switch's timer decides one frame more or two.
    assert real["retransmissions"] == pytest.approx(simulated["retransmissions"], abs=2)
    for key in ("tx_buffer_kb_max", "rx_buffer_kb_max"):
        assert real[key] == pytest.approx(simulated[key], abs=2 * 1.6), key
    assert (real["queue_drops"], real["source_stalls"]) == (0, 0)
    assert real["lateness_ns_max"] <= PUNCTUALITY_NS


def test_a_code_that_is_too_weak_leaves_what_the_simulator_says() -> None:
    """Half of the line is parity, and blocks are short: the source must not keep the encoder waiting."""
    settings = {"loss__forward": "5%", "link__rate": "10Gbps", "traffic__packets": 20_000}
    real, simulated = row_of("kernel", "fec:2/2", **settings), row_of("sim", "fec:2/2", **settings)
    assert real["effective_lost_packets"] == simulated["effective_lost_packets"] > 0
    assert real["octets_parity"] == simulated["octets_parity"]
    low, high = real["effective_loss_ci95"]
    assert low < simulated["effective_loss_rate"] < high


def test_a_generator_sends_a_frame_each_period() -> None:
    """One each 124.59 ns, which a link of 100 Gb/s carries in 123.04 ns; one of 25 Gb/s is busy."""
    fast = row_of("kernel", loss__forward="0", traffic__source="generator", traffic__packets=20_000)
    assert fast["effective_link_speed_gbps"] == pytest.approx(1538 * 8 / 124.59, rel=1e-6)
    slow = row_of(
        "kernel", loss__forward="0", traffic__source="generator", traffic__packets=20_000, link__rate="25Gbps"
    )
    assert slow["effective_link_speed_gbps"] == pytest.approx(25.0, rel=1e-6)


def test_the_same_seed_gives_the_same_row() -> None:
    first, second = (row_of("kernel", "lg-nb", traffic__packets=20_000) for _ in range(2))
    for row in (first, second):
        del row["packets_per_wall_second"]
    assert first == second


def test_a_link_that_is_dead_for_longer_than_a_window_delivers_the_rest() -> None:
    """The source does not wait for ever for a sign of frames that are lost."""
    window = loaded().window_frames
    real = row_of("kernel", loss__forward=f"at:1000-{999 + 3 * window}", traffic__packets=10 * window)
    assert real["effective_lost_packets"] == 3 * window
    assert real["packets_delivered"] == 7 * window
    assert real["source_stalls"] in (2, 3)


def test_a_sweep_goes_on_until_a_loss_is_known(tmp_path: Path) -> None:
    """The row is that of a plain run with as many frames."""
    words: dict[str, Any] = {
        "settings": {"run.backend": "kernel", "traffic.packets": 2_000},
        "protection": "none",
    }
    swept = lossylink.sweep(
        "stress", grid={"loss": ["1e-2"]}, until="rel=25%@95%", output=tmp_path, seed=1, **words
    )
    (row,) = swept.rows.to_dicts()
    assert row["until_met"]
    assert row["packets_sent"] > 2_000
    plain = row_of("kernel", loss__forward="1e-2", traffic__packets=row["packets_sent"])
    for key in ("effective_lost_packets", "effective_link_speed_gbps", "octets_data", "lateness_ns_max"):
        assert row[key] == plain[key], key


def test_losses_too_rare_to_count_are_refused() -> None:
    with pytest.raises(UserError, match=r"run.rare steers .* leave it out") as refused:
        row_of("kernel", "lg", run__rare=True)
    assert "\n" not in str(refused.value)


def test_the_window_keeps_the_link_busy() -> None:
    """More than what a protection holds back for 200 us, and what is on a long cable, at any rate."""
    assert loaded(link__rate="100Gbps").window_frames * 1538 * 8 / 100 > 200_000
    long = loaded(link__rate="100Gbps", link__propagation="1ms")
    assert long.window_frames * 1538 * 8 / 100 > 2_000_000
    # What would take longer than the kernel waits for a frame is not under way.
    slow = loaded(link__rate="10Mbps")
    assert slow.window_frames * 1538 * 8 / 10e6 < 0.05


@pytest.mark.parametrize("protection", ["fec:5/1", "fec:25/5", "fec-model:5/1"])
def test_frames_for_a_code_wait_at_the_interface(protection: str) -> None:
    """A little more than what the code lets pass: the link is busy, and the encoder waits for no frame."""
    speed = row_of("sim", protection, loss__forward="0")["effective_link_speed_gbps"]
    assert 1.0 < loaded(protection).interface_bps / speed / 1e9 < 1.006


@pytest.mark.parametrize("option", ["change=5/5@2s", "priority=data"])
def test_codes_that_depend_on_the_simulated_source_are_refused(option: str) -> None:
    with pytest.raises(UserError, match=r"leave it out, or --set run.backend=sim$"):
        loaded(f"fec:5/1,{option}")
