"""``lossylink validate``: the same scenarios on the simulator and on the live lab, side by side."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from lossylink.lab.comparison import Comparison

#: Where throughput is compared: loss ratio and round trip. In the first a flow of Reno or CUBIC is bound now
#: by the link and now by its losses; in the others by its losses alone. BBR fills the link everywhere.
PLACES = ((1e-3, "6ms"), (1e-2, "6ms"), (3e-3, "20ms"))
CONTROLS = ("reno", "cubic", "bbr")
#: The largest difference that passes.
LIMIT = 0.15


def command(
    runs: Annotated[int, typer.Option(min=2, max=10, help="Runs of each point on each backend.")] = 4,
    events: Annotated[int, typer.Option(min=10, help="Loss events that a live run is to see.")] = 80,
    control: Annotated[
        list[str] | None, typer.Option("--cc", help="Algorithms; all three when not given.")
    ] = None,
    place: Annotated[
        list[int] | None, typer.Option(min=1, max=len(PLACES), help="Only these of the three points.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Hold the simulator against the live lab: TCP throughput under loss, with both intervals.

    A point passes when the means differ by at most 15 %; one that does not makes the exit code 1. A live run
    that the machine disturbed is repeated twice at the most.

    Examples
    --------
        lossylink validate --cc reno
    """
    from lossylink.backends.live.bench import available_congestion_controls
    from lossylink.lab.comparison import compare, points

    available = available_congestion_controls()
    chosen = tuple(one for one in control or CONTROLS if one in available)
    results = []
    for point in points(chosen, tuple(PLACES[number - 1] for number in place or range(1, len(PLACES) + 1))):
        results.append(compare(point, runs=runs, events=events, measure=_measure))
        typer.echo(_line(results[-1]), err=True)
    if as_json:
        print(json.dumps({"comparisons": [one.as_json() for one in results]}))
    else:
        _print(results)
    if any(abs(one.difference) > LIMIT for one in results):
        raise typer.Exit(1)


def _measure(backend: str, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    from lossylink import run

    result = run("throughput", protection=["none"], settings=settings, seed=seed, backend=backend)
    return dict(result.records[0])


def _line(one: Comparison) -> str:
    point = one.point
    means = " and ".join(f"{mean.mbps:.2f} +- {mean.half_width_mbps:.2f}" for mean in (one.sim, one.live))
    return f"{point.congestion_control} {point.loss_ratio:g} {point.rtt}: {means} Mb/s, {_difference(one)}"


def _difference(one: Comparison) -> str:
    return f"{one.difference:+.1%} +- {one.difference_half_width:.1%}"


def _print(results: list[Comparison]) -> None:
    from rich.console import Console

    console = Console()
    console.print(_table(results))
    for one in results:
        if one.invalid_because:
            console.print(f"{_line(one)}: {one.invalid_because}", soft_wrap=True)


def _table(results: list[Comparison]) -> Table:
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    headings = (
        "algorithm",
        "loss",
        "RTT",
        "simulated Mb/s",
        "live Mb/s",
        "difference",
        "<= 15 %",
        "undisturbed",
    )
    for heading in headings:
        table.add_column(heading, justify="right")
    for one in results:
        table.add_row(
            one.point.congestion_control,
            f"{one.point.loss_ratio:g}",
            one.point.rtt,
            *(f"{mean.mbps:.2f} +- {mean.half_width_mbps:.2f}" for mean in (one.sim, one.live)),
            _difference(one),
            "yes" if abs(one.difference) <= LIMIT else "no",
            "no" if one.invalid_because else "yes",
        )
    return table
