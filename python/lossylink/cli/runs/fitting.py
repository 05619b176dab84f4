"""How much of a short table fits a screen, and what is said below it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lossylink.results.headline import BASELINE, FEW, Headline, why_failed
from lossylink.results.screen import GAP, Grid
from lossylink.statistics.percentiles import LEAST_BEYOND, NEVER


def grid_of(table: Headline, count: int) -> Grid:
    """Return the first columns of a short table."""
    lines = [line[:count] for line in (table.labels, table.units, *table.rows)]
    left = frozenset(place for place, label in enumerate(table.labels) if label == "protection")
    return Grid(lines[:2], lines[2:], left=left)


def fitting(table: Headline, width: int | None) -> int:
    """Return how many columns fit beside each other; all of them where there is no width."""
    if width is None:
        return len(table.labels)
    taken = 0
    for place, (label, unit) in enumerate(zip(table.labels, table.units, strict=True)):
        taken += max(len(text) for text in (label, unit, *(row[place] for row in table.rows))) + GAP
        if taken - GAP > width:
            return max(place, 1)
    return len(table.labels)


def notes(
    table: Headline, count: int, rows: Sequence[Mapping[str, Any]], places: Sequence[str] = ()
) -> Iterator[tuple[str, str]]:
    """Yield what stands below a table of so many columns, each with its style."""
    if any(text == FEW for row in table.rows for text in row[:count]):
        yield f"{FEW}: fewer than {LEAST_BEYOND} were slower; more trials tell", "dim"
    if any(text == NEVER for row in table.rows for text in row[:count]):
        yield f"{NEVER}: falls among what did not finish, or did not come", "dim"
    for words in limits(rows):
        yield words, "yellow"
    yield from ((words, "yellow") for words in (*crowded(rows), *beside_the_law(rows)))
    for words in why_failed(rows, places):
        yield words, "red"
    left_out = len({key for row in rows for key in row}) - count
    hidden = [label for label in table.labels[count:] if not label.startswith("/")]
    words = f" ({', '.join(hidden)} did not fit)" if hidden else ""
    if left_out > 0:
        yield f"--all shows the other {left_out} figures{words}", "dim"


def crowded(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what is to be known of flows whose tail is the wait in the one interface of their host.

    So it is where that interface kept more waiting than the queue in front of the link, and for longer than
    half of the flows take at all.

    Examples
    --------
    >>> row = {"protection": "llr", "queue_bytes_max": 107_200, "interface_queue_bytes_max": 5_000_000}
    >>> crowded([row | {"link_gbps": 100.0, "fct_us_p50": 164.1}])[0].partition(",")[0]
    'tails are waits in the one interface of the sending host (llr: up to 400 us)'
    >>> crowded([row | {"link_gbps": 100.0, "fct_us_p50": 410.0}])
    []
    """
    waits = []
    for row in rows:
        kept, median = row.get("interface_queue_bytes_max") or 0, row.get("fct_us_p50")
        wait_us = kept * 8e-3 / row["link_gbps"] if kept else 0.0
        if median is not None and wait_us > median and kept > row["queue_bytes_max"]:
            waits.append(f"{row['protection']}: up to {wait_us:,.0f} us")
    if not waits:
        return []
    return [
        f"tails are waits in the one interface of the sending host ({', '.join(waits)}), which marks "
        "nothing: losses keep its queue short, and the fewer of them a flow sees the longer others wait "
        "for it. --set path.rtt=8us gives each flow an interface of its own"
    ]


def beside_the_law(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what is to be known of a study of the Mathis law over a link that hides its losses.

    Examples
    --------
    >>> row = {"protection": "llr", "model_mbps": 38.9, "frames_lost": 91_974, "retransmissions": 0}
    >>> beside_the_law([row])[0].partition(":")[0]
    'llr hid losses from the flow (resent 0 of 91,974)'
    >>> beside_the_law([row | {"protection": "none"}])
    []
    """
    sums: dict[str, list[int]] = {}
    for row in rows:
        if "model_mbps" in row and row["protection"] != BASELINE:
            told = sums.setdefault(row["protection"], [0, 0])
            told[0] += row.get("retransmissions") or 0
            told[1] += row.get("frames_lost") or 0
    return [
        f"{protection} hid losses from the flow (resent {resent:,} of {lost:,}): the model is of the loss of "
        "the link, which the flow did not see. It gets what the link leaves, and a queue forms"
        for protection, (resent, lost) in sums.items()
        if resent < lost
    ]


def limits(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each row of a run that ended before everything had happened.

    Examples
    --------
    >>> limits([{"protection": "llr", "limit": "ended at 3.2e-02 s, when nothing moved any more"}, {}])
    ['llr: ended at 3.2e-02 s, when nothing moved any more']
    """
    return [f"{row['protection']}: {row['limit']}" for row in rows if row.get("limit")]
