"""``lossylink validate``: the same scenarios on the simulator and under a kernel's TCP, side by side."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

import click

from lossylink.cli.exits import FAILED, leave
from lossylink.cli.options.declaring import Command, flag, option
from lossylink.cli.options.kinds import whole
from lossylink.errors import UserError, unknown
from lossylink.linux.kernel import require_kernel
from lossylink.linux.lab.comparison import Comparison, compare, points
from lossylink.results.result import jsonable
from lossylink.results.screen import Grid
from lossylink.running.run import Run
from lossylink.running.runner import run

if TYPE_CHECKING:
    from lossylink.linux.guest.comparison import Throughput, Times
    from lossylink.linux.guest.writes import Writes
    from lossylink.statistics.estimates import Estimate

#: Where throughput is compared with the live lab: loss ratio and round trip. In the first a flow of Reno or
#: CUBIC is bound now by the link and now by its losses; in the others by its losses. BBR fills the link.
PLACES = ((1e-3, "6ms"), (1e-2, "6ms"), (3e-3, "20ms"))
CONTROLS = ("reno", "cubic", "bbr")
#: The largest difference from the live lab that passes.
LIMIT = 0.15


T = TypeVar("T")


class Beside(StrEnum):
    """What the simulator is held against."""

    live = "live"
    kernel = "kernel"


class Figure(StrEnum):
    """What is compared with the kernel."""

    throughput = "throughput"
    times = "times"
    writes = "writes"


@click.command("validate", cls=Command)
@option(
    "--backend",
    kind=click.Choice(Beside),
    default=Beside.live,
    help="The live lab in real time, or the kernel in virtual time.",
)
@option("--runs", kind=whole(least=2, most=10), default=4, help="Runs of each point on each backend.")
@option("--events", kind=whole(least=10), default=80, help="Live: loss events that a run is to see.")
@option("--cc", "control", multiple=True, help="Algorithms; all of the backend when not given.")
@option(
    "--place", kind=whole(least=1), multiple=True, help="Only these of the points for throughput, from 1 on."
)
@option(
    "--only",
    kind=click.Choice(Figure),
    help="Kernel: throughput of long flows, times of short ones, or RDMA writes.",
)
@flag("--json", "as_json", help="Print one JSON object.")
def command(
    backend: Beside,
    runs: int,
    events: int,
    control: tuple[str, ...],
    place: tuple[int, ...],
    only: Figure | None,
    as_json: bool,
) -> None:
    """Hold the simulator against a kernel's own TCP, with intervals.

    Live, the throughput of Reno, CUBIC and BBR is compared at three points. A point passes when the means
    differ by at most 15 %. A live run that the machine disturbed is repeated twice at the most.

    In virtual time, both see the same losses. Throughput passes within 5 %. A percentile of completion times
    passes within 1 %, or when each lies in the other's interval; of RDMA writes, when the intervals overlap.
    Those that a timer decides are shown and not judged. A point that fails makes the exit code 1.

    Examples
    --------
        lossylink validate --cc reno

        lossylink validate --backend kernel --runs 3

        lossylink validate --backend kernel --only times --cc dctcp

        lossylink validate --backend kernel --only writes
    """
    passes = (
        _kernel(runs, control, place, only, as_json=as_json)
        if backend is Beside.kernel
        else _live(runs, events, control, place, as_json=as_json)
    )
    if not passes:
        leave(FAILED)


def _chosen(place: Sequence[int], places: Sequence[T]) -> list[T]:
    if place and max(place) > len(places):
        raise UserError(f"--place {max(place)}: there are {len(places)} points")
    return [places[number - 1] for number in place or range(1, len(places) + 1)]


def _kernel(
    runs: int, control: Sequence[str], place: Sequence[int], only: Figure | None, *, as_json: bool
) -> bool:
    from lossylink.linux.guest import comparison
    from lossylink.linux.guest.writes import writes

    require_kernel()
    controls = control or comparison.CONTROLS
    for one in controls:
        if one not in comparison.CONTROLS:
            raise unknown("congestion control", one, comparison.CONTROLS)
    places = _chosen(place, comparison.PLACES)
    speeds: list[Throughput] = []
    times: list[Times] = []
    found: list[Writes] = []
    is_interrupted = False
    try:
        if only in (None, Figure.throughput):
            _take(comparison.throughputs(controls, runs=runs, measure=_run, places=places), speeds)
        if only in (None, Figure.times):
            _take(comparison.times(controls, measure=_run), times)
        if only in (None, Figure.writes):
            _take(writes(measure=_run), found)
    except KeyboardInterrupt:
        is_interrupted = True
    if as_json:
        parts = {
            "throughputs": [one.as_json() for one in speeds],
            "times": [one.as_json() for one in times],
            "writes": [one.as_json() for one in found],
        }
        print(json.dumps(jsonable(parts), allow_nan=False))
    else:
        _print(_table_of_speeds(speeds), _table_of_times(times), _table_of_writes(found))
    if is_interrupted:
        raise KeyboardInterrupt
    return all(
        [*(one.passes for one in speeds), *(one.passes for one in times), *(one.passes for one in found)]
    )


def _take(results: Iterator[T], into: list[T]) -> None:
    """Keep each result as it comes, and tell it."""
    for one in results:
        into.append(one)
        click.echo(str(one), err=True)


def _run(experiment: str, protection: str, backend: str, settings: dict[str, Any], seed: int) -> Run:
    return run(experiment, protection=[protection], settings=settings, seed=seed, backend=backend)


def _table_of_speeds(results: Sequence[Throughput]) -> Grid:
    lines = []
    for one in results:
        known = (one.difference.high - one.difference.low) / 2
        means = (f"{one.sim_mbps:.1f}", f"{one.kernel_mbps:.1f}")
        told = (f"{one.difference.value:+.1%} +- {known:.1%}", _yes(one.passes), f"{one.lateness_ns:.2f}")
        lines.append([one.control, str(one.place), *means, *told])
    labels = ("algorithm", "place", "simulated", "kernel", "difference", "agrees", "late")
    return Grid([labels, ("", "", "Mb/s", "Mb/s", "", "", "ns")], lines, left=frozenset({0, 1}), keys=2)


def _table_of_times(results: Sequence[Times]) -> Grid:
    lines = [
        [
            *(one.control, str(one.place), f"{one.size_bytes:,}", f"p{one.percent:g}"),
            *(_with_interval(one.sim_us), _with_interval(one.kernel_us), _yes(one.passes)),
        ]
        for one in results
    ]
    labels = ("algorithm", "place", "flow", "percentile", "simulated", "kernel", "agrees")
    return Grid([labels, ("", "", "B", "", "us", "us", "")], lines, left=frozenset({0, 1}), keys=4)


def _table_of_writes(results: Sequence[Writes]) -> Grid:
    lines = [
        [
            *(one.loss, one.protection, f"p{one.percent:g}"),
            *(_with_interval(one.sim_us), _with_interval(one.kernel_us)),
            "a timer's" if one.is_of_timer else _yes(one.passes),
        ]
        for one in results
    ]
    labels = ("loss", "protection", "percentile", "simulated", "kernel", "agrees")
    return Grid([labels, ("ratio", "", "", "us", "us", "")], lines, left=frozenset({1}), keys=3)


def _with_interval(one: Estimate) -> str:
    return f"{one.value:.3f} ({one.low:.3f} to {one.high:.3f})"


def _live(runs: int, events: int, control: Sequence[str], place: Sequence[int], *, as_json: bool) -> bool:
    from lossylink.running.backends.live.bench import available_congestion_controls

    available = available_congestion_controls()
    chosen = tuple(one for one in control or CONTROLS if one in available)
    results = []
    for point in points(chosen, tuple(_chosen(place, PLACES))):
        results.append(compare(point, runs=runs, events=events, measure=_measure_live))
        click.echo(_line(results[-1]), err=True)
    if as_json:
        print(json.dumps(jsonable({"comparisons": [one.as_json() for one in results]}), allow_nan=False))
    else:
        _print(_table_of_live(results))
        for one in results:
            if one.invalid_because:
                print(f"{_line(one)}: {one.invalid_because}")
    return all(abs(one.difference) <= LIMIT for one in results)


def _measure_live(backend: str, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    return dict(_run("throughput", "none", backend, settings, seed).records[0])


def _line(one: Comparison) -> str:
    point = one.point
    means = " and ".join(f"{mean.mbps:.2f} +- {mean.half_width_mbps:.2f}" for mean in (one.sim, one.live))
    return f"{point.congestion_control} {point.loss_ratio:g} {point.rtt}: {means} Mb/s, {_difference(one)}"


def _difference(one: Comparison) -> str:
    return f"{one.difference:+.1%} +- {one.difference_half_width:.1%}"


def _table_of_live(results: Sequence[Comparison]) -> Grid:
    lines = [
        [
            *(one.point.congestion_control, f"{one.point.loss_ratio:g}", one.point.rtt),
            *(f"{mean.mbps:.2f} +- {mean.half_width_mbps:.2f}" for mean in (one.sim, one.live)),
            *(_difference(one), _yes(abs(one.difference) <= LIMIT), _yes(not one.invalid_because)),
        ]
        for one in results
    ]
    labels = ("algorithm", "loss", "RTT", "simulated", "live", "difference", "<= 15 %", "undisturbed")
    return Grid([labels, ("", "ratio", "", "Mb/s", "Mb/s", "", "", "")], lines, keys=3)


def _print(*tables: Grid) -> None:
    from lossylink.results.drawn import Drawn, new_console, show

    show(new_console(), *(Drawn(table) for table in tables if table.rows))


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"
