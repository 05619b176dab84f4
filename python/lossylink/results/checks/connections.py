"""The check of RDMA runs and of workloads: whether connections died, or flows did not finish."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lossylink.results.checks.verdict import Check, failed, passed

CAUSES: Final = {
    "timeouts": "timeouts",
    "frames_lost": "frames lost on the link",
    "path_frames_lost": "lost behind the link",
    "queue_drops": "dropped by full queues",
}
"""What a row counts of the causes, and its words."""

NAME: Final = "connections"
MEND: Final = "protect the link, or lower its loss or its load"
"""Where a row does not say what stopped the flows."""


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

    Where the link lost more than full queues dropped, losses stopped the flows:

    >>> row = {"flows_unfinished": 3, "trials": 97, "frames_lost": 18, "recovery": "go-back-n"}
    >>> told, mend = check_connections(row).message.split(": ")
    >>> told
    '3 of 100 flows did not finish (18 frames lost on the link)'
    >>> mend.partition(", and ")[0]
    'they are slower than all that did; losses stopped them'
    >>> check_connections(row | {"queue_drops": 900}).message.partition("; ")[2]
    'full queues stopped them, and transport.dcqcn=on or a lower load lets more finish'
    >>> check_connections(row | {"path_frames_lost": 40}).message.partition("; ")[2].partition(", and ")[0]
    'losses behind the link stopped them'
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
    return failed(NAME, f"{told}: what they carried counts only up to there; {_mend(row)}")


def _flows_that_end(row: Mapping[str, Any]) -> Check:
    count, finished = row["flows_unfinished"], row["trials"]
    if not count:
        return passed(NAME, "every flow finished")
    told = f"{count:,} of {count + finished:,} flows did not finish"
    met = _met(row)
    return failed(
        NAME, f"{told}{f' ({met})' if met else ''}: they are slower than all that did; {_mend(row)}"
    )


def _met(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{row[key]:,} {words}" for key, words in CAUSES.items() if row.get(key) is not None)


def _mend(row: Mapping[str, Any]) -> str:
    """Name what stopped most of the flows, by the largest count, and what lets them finish.

    A link that loses nothing and a protection that brings all back both leave a load which go-back-N makes
    larger than the link: then queues drop far more frames than the link ever lost.
    """
    lost, behind, drops = (row.get(key) or 0 for key in ("frames_lost", "path_frames_lost", "queue_drops"))
    if behind > max(lost, drops):
        ways = [*_other_recovery(row), "a lower path.loss"]
        return f"losses behind the link stopped them, and {' or '.join(ways)} lets more finish"
    if drops > lost:
        return f"full queues stopped them, and {' or '.join(_against_queues(row))} lets more finish"
    if lost or row.get("loss_rate"):
        return f"losses stopped them, and {' or '.join(_against_losses(row))} lets more finish"
    return MEND


def _against_queues(row: Mapping[str, Any]) -> list[str]:
    # Only packets of senders that heed marks are marked.
    slows_down = row.get("dcqcn") or row.get("frames_marked")
    is_rdma = row.get("recovery") is not None
    return [*(["transport.dcqcn=on"] if is_rdma and not slows_down else []), "a lower load"]


def _against_losses(row: Mapping[str, Any]) -> list[str]:
    return ["a protection that leaves fewer", *_other_recovery(row)]


def _other_recovery(row: Mapping[str, Any]) -> list[str]:
    return ["transport.recovery=selective-repeat"] if row.get("recovery") == "go-back-n" else []
