"""Saves a figure in the formats that papers and pages take."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from lossylink.plot.style import RC

FORMATS = ("png", "svg", "pdf")

# Dates would make the same figure differ from run to run.
METADATA: dict[str, dict[str, str | None]] = {
    "png": {"Software": None},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}


def save(figure: Figure, path: Path, *, formats: Sequence[str] = FORMATS) -> tuple[Path, ...]:
    """Write ``path`` once for each format, whose name becomes the suffix; gives the files."""
    path.parent.mkdir(parents=True, exist_ok=True)
    files = tuple(path.parent / f"{path.name}.{kind}" for kind in formats)
    layout = figure.get_layout_engine()
    with mpl.rc_context(RC):
        # Laying out is half of the work: once for all formats.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        for file, kind in zip(files, formats, strict=True):
            figure.savefig(file, format=kind, metadata=METADATA.get(kind))
        figure.set_layout_engine(layout)
    return files
