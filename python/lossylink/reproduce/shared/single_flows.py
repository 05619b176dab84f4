"""What experiments on completion times share: one link under each protection, and the same without loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lossylink.reproduce.framework.judging import ROUNDED_BOUND_SLACK, at_most, bounded
from lossylink.reproduce.framework.model import Basis, Claim, Job
from lossylink.reproduce.shared.measures import Source, completion_ratio

REQUESTED_LOSS = 1048 / 2**20
"""0.001 as the artifact's 20-bit draw realises it."""
GROWS = "flow.trials"
"""What is raised where a claim needs more flows."""
LOSSY_JOB = "loss 1e-3"
LOSS_FREE_JOB = "no loss"
SAMPLES: Mapping[str, Source] = {
    "loss-free": (LOSS_FREE_JOB, "none"),
    "none": (LOSSY_JOB, "none"),
    "lg": (LOSSY_JOB, "lg"),
    "lg-nb": (LOSSY_JOB, "lg-nb"),
}
"""Each sample by its name in tables and charts."""


def single_flow_jobs(
    experiment: str,
    settings: Mapping[str, Any],
    *,
    weight: float,
    protections: tuple[str, ...] = ("none", "lg", "lg-nb"),
) -> tuple[Job, Job]:
    """Every protection on the link that loses, none on the one that does not; ``weight`` is in seconds."""
    loss_free = {**settings, "loss.forward": "0%"}
    return (
        Job(LOSSY_JOB, experiment, protections, settings, weight, grows=GROWS),
        Job(LOSS_FREE_JOB, experiment, ("none",), loss_free, weight, grows=GROWS),
    )


def near_loss_free_claim(basis: Basis, source: str, rests_on: tuple[str, ...] = ()) -> Claim:
    """The tail under LinkGuardian is hardly longer than on a link without loss."""
    return Claim(
        "With LinkGuardian the 99.9th percentile is within 1.3 times that of a link without loss",
        bounded(
            completion_ratio(SAMPLES["lg"], SAMPLES["loss-free"], 99.9),
            at_most(1.3, slack=ROUNDED_BOUND_SLACK),
            unit="x",
        ),
        basis,
        source,
        rests_on,
    )
