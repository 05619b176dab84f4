"""Saves what is drawn: pictures for papers and pages, and its numbers as CSV or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl

from lossylink._package.writing import whole
from lossylink.charts.chart import Sheet
from lossylink.charts.data import save_numbers
from lossylink.charts.drawing.figure import draw_sheet
from lossylink.charts.drawing.style import RC

PICTURES = ("png", "svg", "pdf")

# Dates would make the same figure differ from run to run.
METADATA: dict[str, dict[str, str | None]] = {
    "png": {"Software": None},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}


def save(
    sheet: Sheet, folder: Path, *, name: str | None = None, formats: Sequence[str] = PICTURES
) -> tuple[Path, ...]:
    """Write a sheet once for each of ``formats``; gives the files, which are called after the sheet.

    Parameters
    ----------
    folder
        Made when absent.
    name
        Another name of the files, without a suffix.
    formats
        Of ``png``, ``svg``, ``pdf``, ``csv`` and ``json``.
    """
    numbers = save_numbers(sheet, folder, name=name, formats=[one for one in formats if one not in PICTURES])
    pictures = {one: folder / f"{name or sheet.identifier}.{one}" for one in formats if one in PICTURES}
    if pictures:
        _save_pictures(sheet, pictures)
    return (*pictures.values(), *numbers)


def _save_pictures(sheet: Sheet, files: dict[str, Path]) -> None:
    figure = draw_sheet(sheet)
    with mpl.rc_context(RC):
        # Laying out is half of the work: once for all formats.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        for kind, file in files.items():
            with whole(file) as partial:
                figure.savefig(partial, format=kind, metadata=METADATA[kind])
