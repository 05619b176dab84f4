"""Link budgets as bars and figures: the whole link above, what is not frames magnified below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lossylink.charts.link_budget import LinkBudget, Part
from lossylink.charts.palette import name_of

BAR_UNITS = 1000.0
"""Width of a bar in the drawing's own units."""
WHOLE = {"y": 0, "height": 6}
MAGNIFIED = {"y": 9, "height": 15}


def budgets_view(budgets: Sequence[LinkBudget]) -> dict[str, Any] | None:
    """The rows of the budget table, all with one magnification so that they compare."""
    if not budgets:
        return None
    widest = max(1.0 - budget.parts[0].gbps / budget.link_gbps for budget in budgets)
    magnification = max(1, int(1.0 / widest)) if widest > 0 else 1
    return {
        "legend": [{"name": part.name, "slot": part.slot} for part in budgets[0].parts],
        "magnification": magnification,
        "rows": [_budget_row(budget, magnification) for budget in budgets],
    }


def _budget_row(budget: LinkBudget, magnification: int) -> dict[str, Any]:
    scale = BAR_UNITS / budget.link_gbps
    return {
        "title": budget.title,
        "protection": name_of(budget.protection),
        "aria": ", ".join(f"{part.name} {part.gbps:.2f} Gb/s" for part in budget.parts),
        "rects": _bar(budget.parts, scale, WHOLE) + _bar(budget.parts[1:], scale * magnification, MAGNIFIED),
        "texts": [_gbps(part.gbps) for part in budget.parts],
    }


def _bar(parts: Sequence[Part], scale: float, place: dict[str, int]) -> list[dict[str, Any]]:
    rects, left = [], 0.0
    for part in parts:
        width = part.gbps * scale
        title = f"{part.name}: {_gbps(part.gbps)} Gb/s"
        if width > 0:
            rect = {"x": f"{left:.2f}", "width": f"{width:.2f}", "slot": part.slot, "title": title}
            rects.append({**rect, **place})
        left += width
    return rects


def _gbps(value: float) -> str:
    """Two decimals; a share that is there but rounds to nothing still shows as such."""
    return "< 0.01" if 0 < value < 0.005 else f"{value:.2f}" if value else "0"
