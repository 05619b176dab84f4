"""The numbers of a sheet as text: one line a point as CSV, or everything as JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

from lossylink._package.writing import whole
from lossylink.charts.chart import Chart, Series, Sheet
from lossylink.statistics.percentiles import NEVER

COLUMNS = ("chart", "series", "x", "y", "y_low", "y_high", "label")


def save_numbers(
    sheet: Sheet, folder: Path, *, name: str | None = None, formats: Sequence[str]
) -> tuple[Path, ...]:
    """Write the numbers of a sheet as ``csv``, as ``json`` or both; gives the files.

    Parameters
    ----------
    folder
        Made when absent.
    name
        Another name of the files than the sheet's, without a suffix.
    """
    folder.mkdir(parents=True, exist_ok=True)
    texts = {"csv": sheet_csv, "json": sheet_json}
    files = []
    for one in formats:
        file = folder / f"{name or sheet.identifier}.{one}"
        with whole(file) as partial:
            partial.write_text(texts[one](sheet), encoding="utf-8")
        files.append(file)
    return tuple(files)


def sheet_csv(sheet: Sheet) -> str:
    """Return one line a point.

    Columns ``x`` and ``y`` are called by the label and the unit of their axes where all charts have the same.

    Examples
    --------
    >>> from lossylink.charts.chart import Axis
    >>> line = Series("lg", "blue", (0.0,), (2.5,))
    >>> chart = Chart("speed", "Speed", "", Axis("time", "s"), Axis("speed", "Gb/s"), (line,))
    >>> print(sheet_csv(Sheet("speed", (chart,))), end="")
    chart,series,time (s),speed (Gb/s),y_low,y_high,label
    speed,lg,0.0,2.5,,,
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_columns(sheet))
    for chart in sheet.charts:
        for series in chart.series:
            writer.writerows(_points(chart, series))
    return text.getvalue()


def sheet_json(sheet: Sheet) -> str:
    """Return every chart as the browser reads it."""
    return json.dumps([chart.to_json() for chart in sheet.charts], indent=1, allow_nan=False) + "\n"


def _columns(sheet: Sheet) -> list[str]:
    names = list(COLUMNS)
    for name in ("x", "y"):
        titles = {getattr(chart, name).title for chart in sheet.charts}
        if len(titles) == 1:
            names[names.index(name)] = titles.pop()
    return names


def _points(chart: Chart, series: Series) -> list[list[object]]:
    rows: list[list[object]] = []
    for at in series.never or ():
        where = (NEVER, at) if series.kind == "step" else (_word(chart.x.categories, at), NEVER)
        rows.append([chart.identifier, series.name, *where, "", "", ""])
    for place, (x, y) in enumerate(zip(series.x, series.y, strict=True)):
        low = "" if series.y_low is None else series.y_low[place]
        high = "" if series.y_high is None else series.y_high[place]
        label = "" if series.labels is None else series.labels[place]
        words = (_word(chart.x.categories, x), _word(chart.y.categories, y))
        rows.append([chart.identifier, series.name, *words, low, high, label])
    return rows


def _word(categories: tuple[str, ...] | None, value: float) -> float | str:
    return value if categories is None else categories[round(value)]
