"""``lossylink validate``: the same scenarios on the simulator and on the live lab, side by side."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer

#: Points at which throughput is compared: loss ratio and round trip. The link is 100 Mb/s, which two cores
#: emulate exactly; some flows are limited by loss and delay, others by the link.
POINTS = ((1e-3, "6ms"), (1e-2, "6ms"), (1e-3, "20ms"))
CONTROLS = ("reno", "cubic", "bbr")
_LINK = "100Mbps"
#: Two-sided 95 % quantiles of Student's t for 1 to 9 degrees of freedom.
_STUDENT_95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)


@dataclass(frozen=True)
class Comparison:
    """One scenario on both backends: means and half-widths of their 95 % intervals, in Mb/s."""

    congestion_control: str
    loss_ratio: float
    rtt: str
    sim_mbps: float
    sim_half_width_mbps: float
    live_mbps: float
    live_half_width_mbps: float
    live_valid: bool

    @property
    def difference(self) -> float:
        """How far the live mean lies from the simulated one, relative to the latter."""
        return self.live_mbps / self.sim_mbps - 1


def interval(values: list[float]) -> tuple[float, float]:
    """Return the mean of a few runs and the half-width of its 95 % interval (Student's t).

    Examples
    --------
    >>> mean, half = interval([10.0, 11.0, 12.0])
    >>> mean, round(half, 2)
    (11.0, 2.48)
    """
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, float("nan")
    return mean, _STUDENT_95[len(values) - 2] * statistics.stdev(values) / len(values) ** 0.5


def compare(
    *, controls: tuple[str, ...], points: tuple[tuple[float, str], ...], runs: int, duration_s: int
) -> Iterator[Comparison]:
    """Measure every point on both backends, ``runs`` times each with seeds of their own."""
    from lossylink.live.bench import available_congestion_controls

    available = available_congestion_controls()
    for control in (one for one in controls if one in available):
        for loss, rtt in points:
            rows = {
                backend: [_row(backend, control, loss, rtt, seed, duration_s) for seed in range(1, runs + 1)]
                for backend in ("sim", "live")
            }
            means = {
                backend: interval([row["average_throughput_gbps"] * 1e3 for row in group])
                for backend, group in rows.items()
            }
            yield Comparison(
                congestion_control=control,
                loss_ratio=loss,
                rtt=rtt,
                sim_mbps=means["sim"][0],
                sim_half_width_mbps=means["sim"][1],
                live_mbps=means["live"][0],
                live_half_width_mbps=means["live"][1],
                live_valid=all(row["valid"] for row in rows["live"]),
            )


def _row(backend: str, control: str, loss: float, rtt: str, seed: int, duration_s: int) -> dict[str, Any]:
    from lossylink import run

    settings = {
        "link.rate": _LINK,
        "loss.forward": f"bernoulli:{loss!r}",
        "path.rtt": rtt,
        "switch.profile": "ideal",
        "switch.queue": "560KB",
        "host.profile": "ideal",
        "transport.congestion_control": control,
        "run.duration": f"{duration_s}s",
        "run.warmup": "2s",
        "run.cooldown": "0s",
    }
    result = run("throughput", protection=["none"], settings=settings, seed=seed, backend=backend)
    row: dict[str, Any] = result.rows.to_dicts()[0]
    return row


def command(
    runs: Annotated[int, typer.Option(min=2, max=10, help="Runs of each point on each backend.")] = 3,
    duration: Annotated[int, typer.Option(min=4, help="Seconds of each run.")] = 12,
    control: Annotated[
        list[str] | None, typer.Option("--cc", help="Algorithms; all three when not given.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Hold the simulator against the live lab: TCP throughput under loss, with both intervals."""
    from rich.console import Console
    from rich.table import Table

    chosen = tuple(control) if control else CONTROLS
    results = []
    for result in compare(controls=chosen, points=POINTS, runs=runs, duration_s=duration):
        results.append(result)
        if not as_json:
            typer.echo(
                f"{result.congestion_control} {result.loss_ratio:g} {result.rtt}: {result.difference:+.1%}",
                err=True,
            )
    if as_json:
        print(json.dumps({"comparisons": [asdict(one) | {"difference": one.difference} for one in results]}))
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in (
        "algorithm",
        "loss",
        "RTT",
        "simulated Mb/s",
        "live Mb/s",
        "difference",
        "live runs valid",
    ):
        table.add_column(heading, justify="right")
    for one in results:
        table.add_row(
            one.congestion_control,
            f"{one.loss_ratio:g}",
            one.rtt,
            f"{one.sim_mbps:.2f} +- {one.sim_half_width_mbps:.2f}",
            f"{one.live_mbps:.2f} +- {one.live_half_width_mbps:.2f}",
            f"{one.difference:+.1%}",
            "yes" if one.live_valid else "no",
        )
    Console().print(table)
