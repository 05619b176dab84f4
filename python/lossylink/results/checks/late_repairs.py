"""The check of LinkGuardian in order: whether repairs come in time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lossylink.results.checks.verdict import Check, failed, passed

#: Share of the frames sent again that may come late. A wait that fits leaves far fewer.
LATE_SHARE = 0.5


def check_late_repairs(row: Mapping[str, Any]) -> Check:
    """Fail where most repairs come after the receiver has given their frames up (LG-21).

    The published waits fit frames of 1500 B. The repair of a larger frame takes longer, because the frames in
    front of it take longer on the line, while the wait stays.

    Parameters
    ----------
    row
        A row with `late_retransmissions` and `retransmissions`.

    Examples
    --------
    >>> row = {"late_retransmissions": 60, "retransmissions": 60}
    >>> told, mend = check_late_repairs(row).message.split(": ")
    >>> told
    '60 of 60 frames that were sent again came after their wait'
    >>> mend
    'in order a repair must be shorter than the wait; take lg-nb, which does not wait, or smaller frames'
    >>> check_late_repairs({"late_retransmissions": 3, "retransmissions": 60}).failed
    False
    """
    name, late, sent = "late_repairs", row["late_retransmissions"], row["retransmissions"]
    if late <= LATE_SHARE * sent:
        return passed(name, "repairs come before their frames are given up")
    return failed(
        name,
        f"{late:,} of {sent:,} frames that were sent again came after their wait: in order a repair must be"
        " shorter than the wait; take lg-nb, which does not wait, or smaller frames",
    )
