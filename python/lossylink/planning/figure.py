"""The figure of a plan: effective loss and speed of its protections as the link gets better or worse."""

from __future__ import annotations

from typing import Final

import numpy as np

from lossylink.charts.chart import Axis, Chart, Guide, Series, Sheet, embedded
from lossylink.charts.palette import name_of, slots_of
from lossylink.planning.planner import Plan

LOSS_RATIOS: Final = np.logspace(-6, -0.5, 111)
LOSS: Final = Axis("loss ratio of the link", "", "log")


def plan_sheet(plan: Plan) -> Sheet:
    """Draw effective loss and effective speed against the link's loss; the planned loss is marked."""
    # Parameters were chosen here: each protection has the look of its bare spelling.
    words = tuple(prediction.protection.partition(":")[0] for prediction in plan.predictions)
    slots = slots_of(words)
    losses, speeds = [], []
    for prediction, word in zip(plan.predictions, words, strict=True):
        effective, speed = zip(*(prediction.at(float(ratio)) for ratio in LOSS_RATIOS), strict=True)
        name, slot, x = name_of(prediction.protection), slots[word], embedded(LOSS_RATIOS)
        losses.append(Series(name, slot, x, embedded(effective)))
        speeds.append(Series(name, slot, x, embedded(speed)))
    here = Guide("x", plan.link.loss_ratio, "this link")
    target = Guide("y", plan.target, "target")
    left = Axis("effective loss ratio", "", "log", low=plan.target / 1e4, high=1.0)
    rate = Axis("effective speed", "Gb/s", low=0.0)
    return Sheet(
        "plan",
        (
            Chart("plan-loss", "Effective loss", "", LOSS, left, tuple(losses), (here, target)),
            Chart("plan-speed", "Effective speed", "", LOSS, rate, tuple(speeds), (here,)),
        ),
    )
