"""A whole fabric: what corrupting links cost it in a year, under CorrOpt, with and without a protection."""

from __future__ import annotations

from lossylink.declared.column import Column
from lossylink.declared.experiment import Experiment

#: Figures that have an interval over the years.
_MEANS = (
    *("links_disabled_mean", "links_corrupting_mean", "corrupting_time_share"),
    *("penalty_mean", "penalty_gain_p50"),
    *("capacity_share_mean", "capacity_least_share_mean"),
    *("capacity_least_share_p1", "capacity_least_share_p0_1"),
)

EXPERIMENT = Experiment(
    name="fabric",
    summary="years of failures and repairs of a whole fabric's links",
    own_keys=("fabric.*", "traffic.packets", "traffic.frame", "traffic.source", "run.looks"),
    row_keys=(
        *("protection", "link_gbps", "links", "paths_per_tor", "pod_gbps"),
        *("constraint_share", "deployment_share", "years"),
        *("failures", "failures_skipped", "failures_kept", "repairs"),
        *("links_disabled_max", "links_corrupting_max", "penalty_max", "penalty_gain_max"),
        *("paths_least_share_min", "capacity_least_share_min", "capacity_decrease_share_max"),
        "protected_ports_per_pipe_max",
        *(key for mean in _MEANS for key in (mean, f"{mean}_ci95")),
    ),
    headline=(
        Column("penalty_mean", "penalty", "mean sum", versus=True),
        Column("capacity_least_share_mean", "least pod", "mean share"),
        Column("capacity_least_share_min", "least pod", "min share"),
        Column("paths_least_share_min", "least paths", "min share"),
        Column("links_disabled_mean", "disabled", "links"),
        Column("links_corrupting_mean", "corrupting", "links"),
    ),
    spreads="trials",
    sources=("saturated",),
    refused={
        "live": "a fabric of thousands of links is simulated only",
        "kernel": "a fabric is simulated only: a guest has one link",
    },
)
