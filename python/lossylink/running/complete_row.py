"""What Python adds to a simulated row: the user's spelling, intervals, checks, the clock on the wall."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from lossylink._native import clustered_interval, loss_design_effect
from lossylink.declared.protections import Protection
from lossylink.results import checks
from lossylink.scenario.loss import independent_ratio
from lossylink.scenario.profiles import beyond_measurement
from lossylink.scenario.scenario import Scenario
from lossylink.statistics import CONFIDENCE
from lossylink.units import CHECK_BYTES

#: Bytes of the smallest frame without its check sequence.
_LEAST_FRAME_BYTES = 60


def complete_row(
    scenario: Scenario,
    protection: Protection,
    native: Mapping[str, Any],
    *,
    configuration: Mapping[str, Any],
    wall_seconds: float,
) -> dict[str, Any]:
    """Return the row of one protection with every key of the data dictionary, in its order.

    Parameters
    ----------
    native
        The simulator's row; one without any key stays empty.
    configuration
        What the simulator was given, in base units.
    wall_seconds
        How long the simulation took.
    """
    if not native:
        return {}
    row: dict[str, Any] = {
        **({"loss_rate": scenario.forward.mean} if "loss_rate" in scenario.experiment.row_keys else {}),
        "link_gbps": scenario.values.link.rate / 1e9,
        **native,
        "protection": protection.label,
    }
    if "effective_lost_packets" in row:
        row |= clusters(row, configuration)
        row["effective_loss_ci95"] = _interval(row)
        row["packets_per_wall_second"] = row["packets_sent"] / wall_seconds
    if "residual_loss_theory" in scenario.experiment.row_keys or "rare_method" in row:
        row["residual_loss_theory"] = _residual_loss(scenario, protection)
    if "transport.mss" in scenario.experiment.keys and scenario.sizes is None:
        is_tcp = row.get("traffic_source", row.get("protocol", "tcp")) == "tcp"
        row["checks"] = _methodology(row, configuration) if is_tcp else _connections(row)
    elif "flows_unfinished" in row:
        row["checks"] = _connections(row)
    elif failed := _order(row, scenario):
        row["checks"] = failed
    return scenario.experiment.in_order(row)


def clusters(row: dict[str, Any], configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Return by how much losses came together, where the backend counted them by batches or not at all."""
    by_batch = [(lost, sent) for lost, sent in row.pop("lost_by_batch", [])]
    if "effective_loss_design_effect" in row:
        return {}
    factor, batches = loss_design_effect(json.dumps(configuration), by_batch)
    return {"effective_loss_design_effect": factor, "effective_loss_batches": batches}


def _interval(row: Mapping[str, Any]) -> list[float] | None:
    """Return the interval of the effective loss, or nothing when there was no frame."""
    if row["packets_sent"] < 1:
        return None
    counts = row["effective_lost_packets"], row["packets_sent"]
    clusters = row["effective_loss_design_effect"], row["effective_loss_batches"]
    return list(clustered_interval(*counts, *clusters, CONFIDENCE))


def _residual_loss(scenario: Scenario, protection: Protection) -> float | None:
    """Return what a protection leaves of independent losses; without one, what a line with a code loses."""
    ratio = independent_ratio(scenario.forward.native)
    if scenario.forward.native["model"] == "phy" and not protection.family.protects:
        ratio = _lost_on_line(scenario)
    if ratio is None:
        return None
    reverse = independent_ratio(scenario.reverse.native)
    return protection.family.residual_loss(protection.value, loss_ratio=ratio, reverse_loss_ratio=reverse)


def _lost_on_line(scenario: Scenario) -> float | None:
    """Return the share of frames that a line with a code loses; nothing where frames differ in size."""
    if scenario.values.traffic is None:
        return None
    from lossylink.scenario.coded_line import CodedLine  # scipy, for lines with a code alone
    from lossylink.theory.phy import mean_frame_loss_ratio

    loss = scenario.forward.native_at(scenario.values.link.rate)
    line, frame_bytes = CodedLine.of(loss), scenario.values.traffic.frame
    return mean_frame_loss_ratio(
        line.code,
        bit_error_ratio=loss["ber"],
        frame_bytes=max(frame_bytes, _LEAST_FRAME_BYTES) + CHECK_BYTES,
        **line.options(),
    )


def _methodology(row: Mapping[str, Any], configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Judge the method of a measured TCP flow, and say where flows did not finish."""
    found = checks.run_checks(checks.evidence_from(row, configuration))
    if row.get("flows_unfinished"):
        found.append(checks.check_connections(row))
    return checks.as_json(found)


def _connections(row: Mapping[str, Any]) -> dict[str, Any]:
    """Judge whether connections lived and flows finished; without either there is nothing to judge."""
    is_counted = "connection_failures" in row or "flows_unfinished" in row
    return checks.as_json([checks.check_connections(row)]) if is_counted else {}


def _order(row: Mapping[str, Any], scenario: Scenario) -> dict[str, Any]:
    """Say that a reorder buffer overflowed, or that repairs came too late; nothing where neither is so."""
    if not (row.get("rx_buffer_drops") or row.get("late_retransmissions")):
        return {}
    beyond = beyond_measurement(scenario.switch, rate_bps=round(scenario.values.link.rate))
    found = [checks.check_reorder_buffer(row, beyond=beyond), checks.check_late_repairs(row)]
    return checks.as_json([check for check in found if check.failed])
