"""The README's figure, drawn from what `lossylink reproduce` left behind.

``python -m lossylink.plot.readme runs/reproduce docs/figures`` writes ``fct-ccdf.png``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import polars

from lossylink.plot.ccdf import ccdf
from lossylink.plot.save import save
from lossylink.reproduce.framework.files import run_folder
from lossylink.reproduce.framework.published import load
from lossylink.reproduce.shared.completion import percentiles_by_protection
from lossylink.reproduce.shared.single_flows import SAMPLES

NAME = "fct-ccdf"


def readme_figure(runs: Path, folder: Path) -> Path:
    """Draw the completion times of a finished reproduction into ``folder``; gives the file.

    Raises
    ------
    FileNotFoundError
        ``runs`` holds no finished tcp-fct.
    """
    samples = {}
    for name, (job, protection) in SAMPLES.items():
        trials = polars.read_parquet(runs / "tcp-fct" / run_folder(job) / "trials.parquet")
        samples[name] = trials.filter(polars.col("protection") == protection)["fct_us"].to_numpy()
    published = percentiles_by_protection(load()["linkguardian"]["tcp_fct"])
    (file,) = save(ccdf(samples=samples, published=published), folder / NAME, formats=("png",))
    return file


def main(arguments: Sequence[str]) -> int:
    """Draw the figure from the command line."""
    if len(arguments) != 2:
        print("use: python -m lossylink.plot.readme RUNS FOLDER", file=sys.stderr)
        return 2
    try:
        print(readme_figure(Path(arguments[0]), Path(arguments[1])))
    except FileNotFoundError as error:
        print(f"no finished tcp-fct: {error.filename}; run lossylink reproduce first", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
