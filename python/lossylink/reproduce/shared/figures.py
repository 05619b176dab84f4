"""Matplotlib figures of finished runs, by the name of the file that they are saved under.

Figures are for papers and are drawn last; `lossylink.plot`, and with it matplotlib, is loaded only then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import Finished
from lossylink.reproduce.shared.measures import Source, completion_times

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
