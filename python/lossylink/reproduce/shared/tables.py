"""Tables of samples that several published experiments share: a key of the rows a line, a sample a column."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lossylink.charts.palette import name_of
from lossylink.reproduce.framework.comparison import ComparisonTable, Row, filled
from lossylink.reproduce.framework.model import Finished
from lossylink.reproduce.shared.measures import Source


def samples_table(
    finished: Finished,
    title: str,
    samples: Mapping[str, Source],
    rows: Mapping[str, Row | str],
    *,
    published: Callable[[str, str], float | None] = lambda _key, _name: None,
    named: Callable[[str], str] = name_of,
    note: str = "",
) -> ComparisonTable:
    """A table of numbers of rows, by key, for each sample; ``published`` takes a key and a sample."""
    return filled(
        title,
        {name: named(name) for name in samples},
        rows,
        lambda key, name: finished.number(*samples[name], key),
        published=published,
        note=note,
    )
