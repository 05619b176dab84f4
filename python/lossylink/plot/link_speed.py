"""What a protected link spends beside its frames: framing, header, copies, control, pauses, idling."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from lossylink.plot.style import new_figure
from lossylink.report.link_budget import LinkBudget
from lossylink.report.palette import OKABE_ITO, name_of

GREY = "#bbbbbb"
INCHES_A_BAR = 0.32


def link_speed(budgets: Sequence[LinkBudget]) -> Figure:
    """Stacked bars of everything that is not a frame, one a budget; the axis ends at the link's rate.

    Examples
    --------
    >>> from lossylink.report.link_budget import Part
    >>> parts = (Part("frames", "blue", 92.0), Part("idle", "grey", 8.0))
    >>> float(link_speed([LinkBudget("generator", "lg", 100.0, parts)]).axes[0].get_xlim()[1])
    100.0
    """
    height = 0.9 + INCHES_A_BAR * len(budgets)
    with new_figure(size_inches=(7.0, height)) as (figure, (axes,)):
        names = [f"{name_of(budget.protection)}, {budget.title}" for budget in budgets]
        left = [0.0] * len(budgets)
        for place, part in enumerate(budgets[0].parts):
            widths = [budget.parts[place].gbps for budget in budgets]
            axes.barh(
                names, widths, left=left, color=OKABE_ITO.get(part.slot, GREY), label=part.name, height=0.7
            )
            left = [start + width for start, width in zip(left, widths, strict=True)]
        least = min(budget.parts[0].gbps for budget in budgets)
        rate = max(budget.link_gbps for budget in budgets)
        # The frames fill most of every bar: the axis starts just below the smallest, and says so.
        start = least - 0.15 * (rate - least)
        axes.set(xlim=(max(0.0, start), rate), xlabel="Gb/s (axis does not start at zero)")
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        figure.legend(loc="outside upper center", ncols=4)
    return figure
