"""The figure of a plan: effective loss and speed of its protections as the link gets better or worse."""

from __future__ import annotations

from typing import Final

import numpy as np
from matplotlib.figure import Figure as Drawing

from lossylink.plan.planner import Plan
from lossylink.plot.style import colours_of, dash_of, new_figure
from lossylink.report.palette import name_of

LOSS_RATIOS: Final = np.logspace(-6, -0.5, 111)
SIZE_INCHES: Final = (5.0, 5.4)


def plan_figure(plan: Plan) -> Drawing:
    """Draw effective loss and effective speed against the link's loss; the planned loss is marked."""
    # Parameters were chosen here: each protection has the look of its bare spelling.
    words = tuple(prediction.protection.partition(":")[0] for prediction in plan.predictions)
    colours = colours_of(words)
    with new_figure(rows=2, size_inches=SIZE_INCHES, share_x=True) as (drawing, (losses, speeds)):
        for prediction, word in zip(plan.predictions, words, strict=True):
            curve = [prediction.at(float(ratio)) for ratio in LOSS_RATIOS]
            look = {"color": colours[word], "linestyle": dash_of(word)}
            losses.plot(
                LOSS_RATIOS, [loss for loss, _ in curve], label=name_of(prediction.protection), **look
            )
            speeds.plot(LOSS_RATIOS, [speed for _, speed in curve], **look)
        losses.axhline(plan.target, color="#888888", linestyle=(0, (1, 2)), linewidth=1)
        for axes in (losses, speeds):
            axes.axvline(plan.link.loss_ratio, color="#888888", linewidth=0.8)
        losses.set(xscale="log", yscale="log", ylabel="effective loss ratio", ylim=(plan.target / 1e4, 1))
        speeds.set(xlabel="loss ratio of the link", ylabel="effective speed (Gb/s)", ylim=(0, None))
        losses.legend()
    return drawing
