"""The check of an RDMA run: whether connections died, so that its figures are those of broken flows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lossylink.checks.verdict import Check, failed, passed

CAUSES = {
    "timeouts": "timeouts",
    "frames_lost": "frames lost on the link",
    "queue_drops": "dropped by full queues",
}
"""What a row counts of the causes, and its words."""


def check_connections(row: Mapping[str, Any]) -> Check:
    """Fail where connections exceeded their retries, and say what they met.

    Parameters
    ----------
    row
        A row with `connection_failures`, and as many of the counters of `CAUSES` as it has.

    Examples
    --------
    >>> row = {"connection_failures": 4, "timeouts": 26, "frames_lost": 0, "queue_drops": 0}
    >>> told, mend = check_connections(row).message.split(": ")
    >>> told
    '4 connections exceeded their retries (26 timeouts, 0 frames lost on the link, 0 dropped by full queues)'
    >>> mend
    'what they carried counts only up to there; protect the link, or lower its loss or its load'
    """
    name, count = "connections", row["connection_failures"]
    if not count:
        return passed(name, "no connection exceeded its retries")
    met = ", ".join(f"{row[key]:,} {words}" for key, words in CAUSES.items() if row.get(key) is not None)
    whose = "connection exceeded its" if count == 1 else "connections exceeded their"
    told = f"{count:,} {whose} retries ({met})"
    return failed(
        name,
        f"{told}: what they carried counts only up to there; protect the link, or lower its loss or its load",
    )
