"""The plan of one link as a table: a row for each protection, what its figures rest on, and what to take."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from lossylink.planning import Comparison, Link, Plan, Prediction
from lossylink.planning.planner import count_words
from lossylink.planning.prediction import HEADS, VERDICTS
from lossylink.results.screen import Grid
from lossylink.units import describe_ratio


def _tail(value: float, digits: str) -> str:
    return f"* {value:{digits}}" if math.isfinite(value) else "flows do not end"


def show(plan: Plan, comparisons: list[Comparison] | None) -> None:
    """Print a plan, and below it what the simulator says where it was asked."""
    from rich.text import Text

    from lossylink.results.drawn import Drawn, new_console
    from lossylink.results.drawn import show as put

    link = plan.link
    process = "" if link.loss is None or link.native_loss["model"] == "bernoulli" else f" ({loss_text(link)})"
    loss = f"{describe_ratio(link.loss_ratio)}{process}"
    print(f"link {link.rate_bps / 1e9:g} Gb/s, {loss}, target {plan.target:g}")
    console = new_console()
    put(console, Drawn(table_of(plan)), LEGEND)
    for note in (*(link.loss.notes if link.loss is not None else ()), *plan.notes):
        put(console, f"note: {note}")
    if comparisons is not None:
        put(console, Drawn(_comparison_table(comparisons)))
    put(console, *_not_testable(plan))
    took = (("take ", ""), (plan.recommended, "bold"), (": ", "")) if plan.recommended else ()
    put(console, Text.assemble(*took, plan.reason))
    if plan.transport is not None and plan.recommended is not None:
        put(console, f"covers {plan.covers}")


_INTERVAL: Final = "95 % interval"


def table_of(plan: Plan) -> Grid:
    """Return a plan as a table: a row for each protection, a column for each figure."""
    columns = [("protection", "", [one.protection for one in plan.predictions]), *_columns(plan)]
    labels, units, cells = zip(*columns, strict=True)
    joined = frozenset(place for place, label in enumerate(labels) if label == _INTERVAL)
    return Grid([labels, units], list(zip(*cells, strict=True)), joined=joined)


def _columns(plan: Plan) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the label, the unit and the cells of each column."""
    rows = plan.rows()
    for key, (label, unit) in HEADS.items():
        figures = [one.figure(key) for one in plan.predictions]
        yield label, unit, [_cell(one.value, one.validation) for one in figures]
    for key, label in (("meets_target", "target"), ("meets_budget", "budget")):
        if key == "meets_target" or plan.budget_us is not None:
            yield "meets", label, [VERDICTS[row[key]] for row in rows]
    if plan.carried:
        yield "p99", "us", [_tail(one.fct_us_p99, ",.0f") for one in plan.carried]
        yield _INTERVAL, "us", [_interval(one.low, one.high) for one in plan.carried]
    if plan.loaded is not None:
        tails = [plan.loaded.slowdowns[one.protection] for one in plan.predictions]
        yield "p99.9", "slowdown", [_tail(one.value, ".3g") for one in tails]
        yield _INTERVAL, "slowdown", [_interval(one.low, one.high) for one in tails]
    yield "loss", "from", [row["loss_method"] for row in rows]
    if any(row["loss_high"] is not None for row in rows):
        yield _INTERVAL, "ratio", [_interval(row["loss_low"], row["loss_high"]) for row in rows]
    if any(row["loss_by_model"] is not None for row in rows):
        yield "by the model", "ratio", [_modelled(one) for one in plan.predictions]


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


def _comparison_table(comparisons: list[Comparison]) -> Grid:
    lines = []
    for one in comparisons:
        predicted = _cell(one.predicted, one.validation)
        quantity = "{} ({})".format(*HEADS[one.quantity])
        verdict = one.verdict if one.agrees else one.verdict.upper()
        lines.append([one.protection, quantity, predicted, _measured(one), verdict])
    heads = ["protection", "quantity", "predicted", "measured", ""]
    return Grid([heads], lines, left=frozenset({0, 1, 4}), keys=2)


def _measured(comparison: Comparison) -> str:
    """What was measured, a loss with its interval."""
    if comparison.measured is None:
        return "-"
    text = f"{comparison.measured:.4g}"
    if comparison.high is None:
        return text
    return f"{text} [{comparison.low:.2g}, {comparison.high:.2g}]"
