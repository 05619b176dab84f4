"""The plan of one link as a table: predictions beside each other, what they rest on, and what to take."""

from __future__ import annotations

import math
from typing import Any

from lossylink.planning import Comparison, Link, Plan, Prediction
from lossylink.planning.planner import count_words
from lossylink.planning.prediction import KEYS
from lossylink.units import describe_ratio


def _tail(value: float, digits: str) -> str:
    return f"* {value:{digits}}" if math.isfinite(value) else "flows do not end"


def show(plan: Plan, comparisons: list[Comparison] | None) -> None:
    """Print a plan, and beside it what the simulator says where it was asked."""
    from rich.console import Console
    from rich.table import Table

    link = plan.link
    process = "" if link.loss is None or link.native_loss["model"] == "bernoulli" else f" ({loss_text(link)})"
    loss = f"{describe_ratio(link.loss_ratio)}{process}"
    print(f"link {link.rate_bps / 1e9:g} Gb/s, {loss}, target {plan.target:g}")
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("", no_wrap=True)
    for prediction in plan.predictions:
        table.add_column(prediction.protection.replace(",", ",\n"), justify="right", overflow="fold")
    for key in KEYS:
        figures = [prediction.figure(key) for prediction in plan.predictions]
        table.add_row(key, *(_cell(figure.value, figure.validation) for figure in figures))
    table.add_row("effective loss by", *(row["loss_method"] for row in plan.rows()))
    if any(row["loss_high"] is not None for row in plan.rows()):
        table.add_row(
            "  95 % interval", *(_interval(row["loss_low"], row["loss_high"]) for row in plan.rows())
        )
    if any(row["loss_by_model"] is not None for row in plan.rows()):
        table.add_row("  by the model", *(_modelled(one) for one in plan.predictions))
    if plan.carried:
        table.add_row("fct_us_p99", *(_tail(one.fct_us_p99, ",.0f") for one in plan.carried))
        table.add_row("  95 % interval", *(_interval(one.low, one.high) for one in plan.carried))
    if plan.loaded is not None:
        tails = [plan.loaded.slowdowns[prediction.protection] for prediction in plan.predictions]
        table.add_row("slowdown_p99_9", *(_tail(one.value, ".3g") for one in tails))
        table.add_row("  95 % interval", *(_interval(one.low, one.high) for one in tails))
    for key in ("meets_target", "meets_budget") if plan.budget_us is not None else ("meets_target",):
        table.add_row(key, *(_TOLD[row[key]] for row in plan.rows()))
    console = Console(highlight=False)
    console.print(table)
    console.print(LEGEND)
    for note in (*(link.loss.notes if link.loss is not None else ()), *plan.notes):
        console.print(f"note: {note}")
    if comparisons is not None:
        console.print(_comparison_table(comparisons))
    for line in _not_testable(plan):
        console.print(line)
    took = f"take [bold]{plan.recommended}[/bold]: " if plan.recommended else ""
    console.print(took + plan.reason)
    if plan.transport is not None and plan.recommended is not None:
        console.print(f"covers {plan.covers}")


_TOLD = {True: "yes", False: "no", None: "not testable"}


def _not_testable(plan: Plan) -> list[str]:
    """Say how many frames the shortest run would need to tell."""
    untold = [one for one in plan.predictions if one.meets(target=plan.target) is None]
    if not untold:
        return []
    nearest = min(untold, key=lambda one: one.frames_to_test(target=plan.target))
    frames, wanted = f"{nearest.frames_run:,}", count_words(nearest.frames_to_test(target=plan.target))
    return [
        f"not testable: a run of {frames} frames cannot show {plan.target:g} at 95 % (two-sided);"
        f" {wanted} frames or more without a loss would"
    ]


_MARKS = {"exact": "=", "chain": "#", "estimate": "~", "bound": "<", "simulated": "*"}

LEGEND = "= closed form  # chain of losses  ~ estimate within 30 %  < upper bound  * simulated just now"


def loss_text(link: Link) -> str:
    """Spell the loss as the user did."""
    return link.loss.spelling if link.loss is not None else f"{link.loss_ratio:g}"


def _interval(low: float | None, high: float | None) -> str:
    if low is None or high is None or math.isinf(low):
        return "-"
    if math.isinf(high):
        return f"over {low:.2g}"
    return f"{low:,.0f}..{high:,.0f}" if low >= 100 else f"{low:.2g} to {high:.2g}"


def _modelled(prediction: Prediction) -> str:
    figure = prediction.by_model
    return "-" if figure is None else _cell(figure.value, figure.validation)


def _cell(value: float | None, validation: str) -> str:
    return "-" if value is None else f"{_MARKS[validation]} {value:.4g}"


def _comparison_table(comparisons: list[Comparison]) -> Any:
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("protection", "quantity", "predicted", "measured", ""):
        is_text = name in {"protection", "quantity", ""}
        table.add_column(name, justify="left" if is_text else "right", overflow="fold")
    for comparison in comparisons:
        predicted = _cell(comparison.predicted, comparison.validation)
        verdict = comparison.verdict if comparison.agrees else comparison.verdict.upper()
        table.add_row(comparison.protection, comparison.quantity, predicted, _measured(comparison), verdict)
    return table


def _measured(comparison: Comparison) -> str:
    """What was measured, a loss with its interval."""
    if comparison.measured is None:
        return "-"
    text = f"{comparison.measured:.4g}"
    if comparison.high is None:
        return text
    return f"{text} [{comparison.low:.2g}, {comparison.high:.2g}]"
