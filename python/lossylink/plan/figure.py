"""The figure of a plan: effective loss and speed of its protections as the link gets better or worse."""

from __future__ import annotations

import re
from typing import Final

import numpy as np
from matplotlib.figure import Figure as Drawing

from lossylink.plan import fec, linkguardian
from lossylink.plan.planner import Plan
from lossylink.plan.prediction import Prediction
from lossylink.plot.style import colours_of, dash_of, new_figure
from lossylink.report.palette import name_of

LOSS_RATIOS: Final = np.logspace(-6, -0.5, 111)
SIZE_INCHES: Final = (5.0, 5.4)


def plan_figure(plan: Plan) -> Drawing:
    """Draw effective loss and effective speed against the link's loss; the planned loss is marked."""
    names = tuple(prediction.protection for prediction in plan.predictions)
    families = tuple(name if name.startswith("fec") else name.partition(":")[0] for name in names)
    colours = colours_of(families)
    with new_figure(rows=2, size_inches=SIZE_INCHES, share_x=True) as (drawing, (losses, speeds)):
        for prediction, family in zip(plan.predictions, families, strict=True):
            curve = [_at(plan, prediction, float(ratio)) for ratio in LOSS_RATIOS]
            look = {"color": colours[family], "linestyle": dash_of(family)}
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


def _at(plan: Plan, prediction: Prediction, loss_ratio: float) -> tuple[float, float]:
    """Effective loss and speed of a protection, its parameters as planned, at another loss."""
    link, name = plan.link, prediction.protection
    if name == "none":
        return loss_ratio, link.rate_bps * (1 - loss_ratio) / 1e9
    if match := re.fullmatch(r"fec:(\d+)/(\d+)", name):
        code = fec.Code(data_packets=int(match[1]), parity_packets=int(match[2]))
        return fec.residual_loss(code, loss_ratio), fec.speed_gbps(link, code, loss_ratio)
    options = linkguardian.Options(
        ordered=not name.startswith("lg-nb"),
        copies=int(re.search(r"copies=(\d+)", name)[1]),  # type: ignore[index]
        unlimited_holes="holes=unlimited" in name,
    )
    loss = linkguardian.effective_loss(options, loss_ratio)
    return loss, linkguardian.ordered_speed_gbps(
        link, options, loss_ratio, _time_lost_s(plan, prediction, options)
    )


def _time_lost_s(plan: Plan, prediction: Prediction, options: linkguardian.Options) -> float:
    """The time lost by a loss that the planned speed implies."""
    if not options.ordered:
        return 0.0
    link, speed = plan.link, prediction.effective_speed_gbps.value
    assert speed is not None
    slowdown = linkguardian.nonblocking_speed_gbps(link, options, link.loss_ratio) / speed - 1
    return max(0.0, slowdown * link.serialisation_s() / link.loss_ratio)
