"""The check of RDMA runs and of workloads: whether connections died, or flows did not finish."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lossylink.checks.verdict import Check, failed, passed

CAUSES: Final = {
    "timeouts": "timeouts",
    "frames_lost": "frames lost on the link",
    "queue_drops": "dropped by full queues",
}
"""What a row counts of the causes, and its words."""

NAME: Final = "connections"
MEND: Final = "protect the link, or lower its loss or its load"


def check_connections(row: Mapping[str, Any]) -> Check:
    """Fail where connections exceeded their retries, or flows did not finish, and say what they met.

    Parameters
    ----------
    row
        A row with `connection_failures` (long flows), or with `flows_unfinished` and `trials` (flows that
        end), and as many of the counters of `CAUSES` as it has.

    Examples
    --------
    >>> row = {"connection_failures": 4, "timeouts": 26, "frames_lost": 0, "queue_drops": 0}
    >>> told, mend = check_connections(row).message.split(": ")
    >>> told
    '4 connections exceeded their retries (26 timeouts, 0 frames lost on the link, 0 dropped by full queues)'
    >>> mend
    'what they carried counts only up to there; protect the link, or lower its loss or its load'
    >>> check_connections({"flows_unfinished": 3, "trials": 97, "frames_lost": 18}).message.split(": ")[0]
    '3 of 100 flows did not finish (18 frames lost on the link)'
    """
    if "connection_failures" in row:
        return _long_flows(row)
    return _flows_that_end(row)


def _long_flows(row: Mapping[str, Any]) -> Check:
    count = row["connection_failures"]
    if not count:
        return passed(NAME, "no connection exceeded its retries")
    whose = "connection exceeded its" if count == 1 else "connections exceeded their"
    told = f"{count:,} {whose} retries ({_met(row)})"
    return failed(NAME, f"{told}: what they carried counts only up to there; {MEND}")


def _flows_that_end(row: Mapping[str, Any]) -> Check:
    count, finished = row["flows_unfinished"], row["trials"]
    if not count:
        return passed(NAME, "every flow finished")
    told = f"{count:,} of {count + finished:,} flows did not finish"
    met = _met(row)
    return failed(NAME, f"{told}{f' ({met})' if met else ''}: they are in no other figure; {MEND}")


def _met(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{row[key]:,} {words}" for key, words in CAUSES.items() if row.get(key) is not None)
