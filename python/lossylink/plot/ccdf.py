"""Complementary distribution of flow completion times on two logarithmic axes."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from numpy.typing import ArrayLike

from lossylink.plot.style import colours_of, dash_of, new_figure
from lossylink.report.distribution import thinned_survival
from lossylink.report.palette import LOSS_FREE, name_of
from lossylink.results import Run
from lossylink.statistics import PERCENTILES


def completion_samples(run: Run) -> dict[str, ArrayLike]:
    """Completion times of a run in microseconds, by protection."""
    trials = run.tables["trials"]
    return {
        str(name): frame["fct_us"].drop_nulls().to_numpy()
        for (name,), frame in trials.group_by(["protection"], maintain_order=True)
    }


def ccdf(
    *, samples: Mapping[str, ArrayLike], published: Mapping[str, Mapping[str, float]] | None = None
) -> Figure:
    """Share of flows that took at least as long as x.

    Parameters
    ----------
    samples
        Completion times in microseconds by protection (``loss-free`` for a run without loss).
    published
        Published percentiles by protection, drawn as open squares: ``{"none": {"p99_9": 3595.3}}``.

    Examples
    --------
    >>> figure = ccdf(samples={"none": [90.0, 95.0, 3600.0], "lg": [90.0, 94.0, 99.0]})
    >>> figure.axes[0].get_xscale()
    'log'
    """
    colours = colours_of(tuple(samples))
    with new_figure() as (figure, (axes,)):
        for name, values in samples.items():
            x, share = thinned_survival(values)
            axes.step(
                x,
                share,
                where="pre",
                color=colours[name],
                linestyle=dash_of(name),
                label=name_of(name),
                zorder=3 if name == LOSS_FREE else 2,  # its dashes show over a line that it coincides with
            )
        for name, percentiles in (published or {}).items():
            keys = [key for key in PERCENTILES if key in percentiles]
            axes.plot(
                [percentiles[key] for key in keys],
                [1.0 - PERCENTILES[key] / 100.0 for key in keys],
                "s",
                markerfacecolor="none",
                color=colours.get(name, "#000000"),
                label=f"{name_of(name)}, published",
            )
        axes.set(xscale="log", yscale="log", xlabel="flow completion time (µs)", ylim=(None, 1.2))
        axes.set_ylabel("share of flows at least as slow")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _place: f"{value:,.0f}"))
        axes.legend(loc="upper right", fontsize="small")
    return figure
