"""A `Run`: the result of one experiment, which draws and saves itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lossylink.results.directory import staged, write_run
from lossylink.results.result import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Run(Result, frozen=True, dict=True):
    """One experiment as it was run, one row per protection (one per trial in the Mathis study).

    `Result` says what it holds.
    """

    def plot(self, kind: str | None = None) -> Figure:
        """Draw a figure of the run.

        Parameters
        ----------
        kind
            A kind of ``lossylink plot --help``; by default the first that the tables of the run admit.

        Returns
        -------
        matplotlib.figure.Figure
            Bound to no display: a notebook shows it, ``savefig`` saves it.

        Raises
        ------
        UserError
            There is no such kind, or the run lacks what it shows.

        Examples
        --------
        >>> import lossylink
        >>> run = lossylink.run("tcp-fct", protection="lg", settings={"flow.trials": 200})
        >>> run.plot("ccdf").axes[0].get_xlabel()
        'flow completion time (µs)'
        """
        from lossylink.charts.drawing.runs import draw_runs  # matplotlib: only where something is drawn

        return draw_runs([("", self)], kind)

    def save(self, directory: str | Path, *, with_csv: bool = False, replace: bool = False) -> Path:
        """Write the run as ``lossylink run --output`` does, for `lossylink.load`; gives the directory.

        ``with_csv`` adds rows and tables as CSV. With ``replace`` another result in the directory gives way.

        Raises
        ------
        UserError
            The directory cannot be written, or holds something else.
        """
        target = Path(directory)
        with staged(target, replace=replace) as stage:
            write_run(stage.folder, self, with_csv=with_csv)
        return stage.target
