"""Where the capacity of a protected link goes: everything that is not a frame, stacked."""

from __future__ import annotations

from collections.abc import Sequence

from lossylink.charts.chart import Axis, Chart, Series, Sheet, embedded
from lossylink.charts.kinds._kind import CannotDrawError, Kind
from lossylink.charts.link_budget import LinkBudget, link_budget
from lossylink.charts.palette import name_of
from lossylink.charts.samples import Sample, lines_of


def sheet(samples: Sequence[Sample]) -> Sheet:
    """One bar a sample."""
    budgets = [
        (line.label, budget)
        for line in lines_of(samples)
        for sample in line.samples
        if (budget := link_budget(sample.row, title="")) is not None
    ]
    if not budgets:
        raise CannotDrawError("no run counts the octets of its link; run stress")
    return Sheet("link-speed", (budget_chart(budgets, identifier="link-speed"),))


def budget_chart(budgets: Sequence[tuple[str, LinkBudget]], *, identifier: str) -> Chart:
    """Stack the parts of budgets, given by label; the axis ends at the link's rate."""
    places = tuple(float(place) for place in range(len(budgets)))
    left = [0.0] * len(budgets)
    series = []
    for place, part in enumerate(budgets[0][1].parts):
        widths = [budget.parts[place].gbps for _, budget in budgets]
        series.append(
            Series(part.name, part.slot, embedded(widths), places, kind="bars", base=embedded(left))
        )
        left = [start + width for start, width in zip(left, widths, strict=True)]
    least = min(budget.parts[0].gbps for _, budget in budgets)
    rate = max(budget.link_gbps for _, budget in budgets)
    # The frames fill most of every bar: the axis starts just below the smallest, and says so.
    start = max(0.0, least - 0.15 * (rate - least))
    words = "share of the link, from above zero on" if start > 0 else "share of the link"
    return Chart(
        identifier,
        "Where the capacity of the link goes",
        "Beside frames: framing, headers, copies, control, pauses and idling.",
        Axis(words, "Gb/s", low=start, high=rate),
        Axis("", categories=tuple(label for label, _ in budgets)),
        tuple(series),
        read="nearest",
    )


def budget_label(budget: LinkBudget) -> str:
    """Name a budget by its protection and its title."""
    return f"{name_of(budget.protection)}, {budget.title}"


KIND = Kind(name="link-speed", place=120, summary="where the capacity of the link goes", sheet=sheet)
