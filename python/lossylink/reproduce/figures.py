"""Matplotlib figures of finished runs, by the name of the file that they are saved under.

Figures are for papers and are drawn last; `lossylink.plot`, and with it matplotlib, is loaded only then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lossylink.report.link_budget import LinkBudget
from lossylink.reproduce.measures import Source, completion_times
from lossylink.reproduce.model import Finished, NotRunError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def completion_figure(
    finished: Finished,
    samples: Mapping[str, Source],
    published: Mapping[str, Mapping[str, float]] | None,
    *,
    name: str,
) -> dict[str, Figure]:
    """The distribution of completion times, of the samples that there are."""
    from lossylink import plot

    found = {}
    for key, source in samples.items():
        try:
            found[key] = completion_times(finished, source)
        except NotRunError:
            continue
    return {name: plot.ccdf(samples=found, published=published)} if found else {}


def stress_figures(finished: Finished, job: str, budgets: Sequence[LinkBudget]) -> dict[str, Figure]:
    """Buffers of one job, and where the capacity of every job went."""
    from lossylink import plot

    figures = {"link-speed": plot.link_speed(budgets)} if budgets else {}
    try:
        run = finished.run(job)
    except NotRunError:
        return figures
    return figures | ({"buffers": plot.buffers(run)} if "series" in run.tables else {})
