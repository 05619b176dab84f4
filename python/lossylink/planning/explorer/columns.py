"""What the figures of a row are called and mean, by the data dictionary and the short tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lossylink.declared.experiments import experiment_named
from lossylink.results.parquet import units_of
from lossylink.scenario.explaining import meanings
from lossylink.statistics.percentiles import PERCENTILES

_ROW_OF = "row of "
#: The section of the data dictionary with keys of all experiments.
_EVERY = "Every experiment"


def columns_of(experiments: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return label, unit and meaning of the keys of rows.

    Examples
    --------
    >>> columns_of(["tcp-fct"])["fct_us_p99_9"]["label"]
    'p99.9'
    """
    found: dict[str, dict[str, str]] = {}
    for name in experiments:
        labels = {column.key: column.label for column in experiment_named(name).headline}
        texts = _texts(name)
        units = units_of(list(texts), name="rows", experiment=name)
        for key, text in texts.items():
            unit = units.get(key, "")
            meaning = text.removesuffix(f" ({unit})") if unit else text
            found.setdefault(key, {"label": labels.get(key, key), "unit": unit, "meaning": meaning})
    return found


def percentiles() -> list[dict[str, Any]]:
    """Return the percentiles of a table of completion times.

    Examples
    --------
    >>> percentiles()[-1]
    {'key': 'p99_999', 'percent': 99.999, 'label': 'p99.999'}
    """
    return [
        {"key": key, "percent": percent, "label": key.replace("_", ".")}
        for key, percent in PERCENTILES.items()
    ]


def _texts(experiment: str) -> dict[str, str]:
    """Return the meanings of the keys of an experiment's rows, those of all experiments first."""
    texts: dict[str, str] = {}
    for wanted in (_EVERY, experiment):
        for one in meanings():
            if one.of.startswith(_ROW_OF) and wanted in one.of.removeprefix(_ROW_OF).split(", "):
                texts[one.word] = one.text
    return texts
