"""From a scenario as users write it to the study's rows."""

from __future__ import annotations

from typing import Any

import pytest

from lossylink.errors import UserError
from lossylink.running import mathis
from lossylink.running.mathis.scenario import design_of
from lossylink.running.run import Run
from lossylink.running.runner import run_scenario
from lossylink.scenario.resolving import resolve

from .fake_simulator import FakeSimulator
from .mathis_support import simulated_by


def study(simulator: FakeSimulator | None = None, strict: bool = False, **settings: Any) -> Run:
    """Run a scenario with keys written with a double underscore for the dot."""
    chosen = {key.replace("__", "."): value for key, value in settings.items()}
    scenario = resolve("mathis", settings=chosen, seed=1, strict=strict)
    with simulated_by(simulator):
        return run_scenario(scenario)


def test_packaged_scenario_is_the_published_study() -> None:
    simulator = FakeSimulator()
    result = study(simulator)
    assert result.rows.height == 60
    assert result.experiment == "mathis"
    assert design_of(resolve("mathis")) == mathis.Design()
    told = simulator.configurations[0]
    assert told["link"]["mtu_bytes"] == 4352
    assert told["switch"]["queue_bytes"] == 100_000_000
    assert told["transport"]["congestion_control"] == "reno"
    assert "grid" not in told


def test_rows_survive_json() -> None:
    rows = study(grid__mss="1460", grid__rtt="6ms", grid__loss="1e-2").summary()["rows"]
    assert rows[0]["checks"]["mss"] == {"passed": True, "message": "MSS 1460 B as requested"}
    assert len(rows[0]["measured_mbps_ci95"]) == 2


def test_explicit_grid_of_several_values() -> None:
    result = study(grid__mss="536,1460", grid__rtt="6ms, 20ms", grid__loss="0.1%,1e-2,5%")
    assert result.rows.height == 12
    assert sorted(result.rows["loss_ratio"].unique()) == pytest.approx([0.001, 0.01, 0.05])


def test_single_values_take_the_place_of_an_axis() -> None:
    result = study(transport__mss=1460, path__rtt="6ms", loss__forward="1%")
    assert result.rows.height == 1
    assert result.rows["rtt_ms"].to_list() == [6.0]
    assert result.rows["loss_ratio"].to_list() == [0.01]


def test_other_algorithms() -> None:
    result = study(transport__congestion_control="cubic", grid__mss=1460)
    assert result.rows["congestion_control"].unique().to_list() == ["cubic"]
    assert "cubic_mbps" in result.rows.columns


def test_every_protection_runs_the_same_trials() -> None:
    scenario = resolve("mathis", settings={"grid.mss": 1460}, protection=["none", "lg"], seed=1)
    told: list[float] = []
    with simulated_by(None):
        result = run_scenario(scenario, progress=lambda done, total: told.append(done / total))
    assert result.rows["protection"].value_counts(sort=True)["count"].to_list() == [20, 20]
    halves = result.rows.partition_by("protection")
    assert halves[0]["loss_ratio"].to_list() == halves[1]["loss_ratio"].to_list()
    assert max(told) == pytest.approx(1.0)


def test_bursty_loss_keeps_its_mean_for_the_model() -> None:
    result = study(transport__mss=1460, path__rtt="6ms", loss__forward="gilbert-elliott:mean=1e-2,burst=4")
    assert result.rows["loss_ratio"].to_list() == pytest.approx([0.01])
    assert result.rows["checks"].to_list()[0]["loss_ratio"]["passed"] is None


def test_stopped_study_keeps_what_finished() -> None:
    result = study(FakeSimulator(interrupt_after=3), run__threads=1)
    assert result.interrupted
    assert result.rows.height == 3


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"loss__forward": 15.66}, "15.66 % or a ratio?"),
        ({"grid__loss": "15.66"}, "15.66 % or a ratio?"),
        ({"path__rtt": "0ms"}, "zero"),
        ({"grid__rtt": "6ms,0ms"}, "zero"),
        ({"loss__forward": "0"}, "infinite bandwidth"),
        ({"loss__forward": "at:17"}, "no mean ratio"),
        ({"grid__loss": "0"}, "no loss ratio"),
    ],
)
def test_mistakes_are_one_line(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError) as caught:
        study(**settings)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_refusal_of_the_simulator_is_a_users_mistake() -> None:
    with pytest.raises(UserError, match="refuses everything"):
        study(FakeSimulator(refuse=True))


def test_strict_refuses_an_mss_above_the_mtu() -> None:
    with pytest.raises(UserError, match="1540"):
        study(strict=True, transport__mss=1500, link__mtu=1500)
    with pytest.raises(UserError, match="4352"):
        study(strict=True, link__mtu=1500)


def test_traps_run_on_a_scenario() -> None:
    with simulated_by(None):
        outcome = mathis.run_trap(resolve("mathis"), "mtu")
    assert outcome.row("naive")["mss_bytes"] == 1460
    with pytest.raises(UserError, match="unknown trap"):
        mathis.run_trap(resolve("mathis"), "mtus")
