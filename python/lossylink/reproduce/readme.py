"""The README's figure, drawn from what `lossylink reproduce` left behind.

``python -m lossylink.reproduce.readme runs/reproduce docs/figures`` writes ``fct-ccdf.png``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from lossylink._package import published
from lossylink.charts.chart import Sheet
from lossylink.errors import UserError
from lossylink.reproduce.experiments.tcp_fct import EXPERIMENT
from lossylink.reproduce.framework.files import run_folder
from lossylink.reproduce.framework.model import Finished
from lossylink.reproduce.shared.single_flows import SAMPLES
from lossylink.running.loading import load_run

NAME = "fct-ccdf"


def readme_figure(runs: Path, folder: Path) -> Path:
    """Draw the completion times of a finished reproduction into ``folder``; gives the file.

    Raises
    ------
    UserError
        ``runs`` holds no finished tcp-fct.
    """
    from lossylink.charts.drawing import save  # matplotlib: after the runs were found

    jobs = {job for job, _ in SAMPLES.values()}
    finished = Finished({job: load_run(runs / "tcp-fct" / run_folder(job)) for job in jobs})
    (chart,) = EXPERIMENT.charts(finished, published.load())
    (file,) = save(Sheet(NAME, (chart,)), folder, formats=("png",))
    return file


def main(arguments: Sequence[str]) -> int:
    """Draw the figure from the command line."""
    if len(arguments) != 2:
        print("use: python -m lossylink.reproduce.readme RUNS FOLDER", file=sys.stderr)
        return 2
    try:
        print(readme_figure(Path(arguments[0]), Path(arguments[1])))
    except UserError as error:
        print(f"no finished tcp-fct: {error}; run lossylink reproduce first", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
