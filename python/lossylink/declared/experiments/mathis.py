"""What the study declares about itself; everything heavy is imported when it runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lossylink.declared.column import CHECKS, Column
from lossylink.declared.experiment import COMMON_ROW, LONG_KEYS, TCP_KEYS, Experiment

if TYPE_CHECKING:
    from lossylink.declared.job import Job
    from lossylink.scenario import Scenario


def _jobs(scenario: Scenario) -> Sequence[Job]:
    from lossylink.running.mathis.scenario import jobs  # theory and checks, which a list does not need

    return jobs(scenario)


EXPERIMENT = Experiment(
    name="mathis",
    summary="TCP under random loss against the Mathis law",
    own_keys=(*TCP_KEYS, *LONG_KEYS, "grid.*"),
    row_keys=(
        *COMMON_ROW,
        *("congestion_control", "mss_bytes", "rtt_ms", "loss_ratio"),
        *("model_mbps", "measured_mbps", "ratio", "realised_loss_ratio"),
        *("rtt_mean_ms", "rtt_min_ms", "loss_events", "checks"),
    ),
    headline=(
        Column("mss_bytes", "MSS", "B", kind="count"),
        Column("rtt_ms", "RTT", "ms"),
        Column("loss_ratio", "loss", kind="share"),
        Column("model_mbps", "model", "Mb/s"),
        Column("measured_mbps", "measured", "Mb/s"),
        Column("ratio", "ratio"),
        CHECKS,
    ),
    spreads="jobs",
    queueless=True,
    jobs=_jobs,
)
