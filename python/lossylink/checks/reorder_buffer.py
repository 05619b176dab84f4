"""The check of LinkGuardian in order: whether its reorder buffer overflowed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lossylink.checks.verdict import Check, failed, passed


def check_reorder_buffer(row: Mapping[str, Any]) -> Check:
    """Fail where frames found the reorder buffer full.

    The receiver asks for a pause once, and not again when the pause has run out or was lost (LG-24, LG-25).
    From then on the buffer stays full as long as frames come as fast as they leave, and each frame that it
    drops costs a wait.

    Parameters
    ----------
    row
        A row with `rx_buffer_drops` and, where it is known, `pauses_expired`.

    Examples
    --------
    >>> row = {"rx_buffer_drops": 29_257, "pauses_expired": 1}
    >>> told, mend = check_reorder_buffer(row).message.split(": ")
    >>> told
    '29,257 frames found the reorder buffer full, and 1 pause ran out'
    >>> mend
    'the loss ratio grows with the length of such a run; take lg-nb, which keeps no order, or lower the load'
    """
    name, drops = "reorder_buffer", row["rx_buffer_drops"]
    if not drops:
        return passed(name, "no frame found the reorder buffer full")
    expired = row.get("pauses_expired") or 0
    pauses = f", and {expired:,} {'pause' if expired == 1 else 'pauses'} ran out" if expired else ""
    told = f"{drops:,} {'frame' if drops == 1 else 'frames'} found the reorder buffer full{pauses}"
    mend = "take lg-nb, which keeps no order, or lower the load"
    return failed(name, f"{told}: the loss ratio grows with the length of such a run; {mend}")
