"""The check of LinkGuardian in order: whether its reorder buffer overflowed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lossylink.results.checks.verdict import Check, failed, passed

#: The profile of a switch that would carry faster links, which nobody has built.
STUDY = "reorder-memory"


def check_reorder_buffer(row: Mapping[str, Any], *, beyond: str | None = None) -> Check:
    """Fail where frames found the reorder buffer full.

    The receiver asks for a pause once, and not again when the pause has run out or was lost (LG-24, LG-25).
    From then on the buffer stays full as long as frames come as fast as they leave, and each frame that it
    drops costs a wait.

    Parameters
    ----------
    row
        A row with `rx_buffer_drops` and, where it is known, `pauses_expired`.
    beyond
        Why the switch profile does not carry the rate of the link, if it does not.

    Examples
    --------
    >>> row = {"rx_buffer_drops": 29_257, "pauses_expired": 1}
    >>> told, mend = check_reorder_buffer(row).message.split(": ")
    >>> told
    '29,257 frames found the reorder buffer full, and 1 pause ran out'
    >>> mend
    'the loss ratio grows with the length of such a run; take lg-nb, which keeps no order, or lower the load'

    The thresholds and loops of a switch do not carry any rate:

    >>> beyond = "the switch profile tofino1 was measured up to 100 Gb/s"
    >>> check_reorder_buffer(row, beyond=beyond).message.split("; ")[1:]
    ['the switch profile tofino1 was measured up to 100 Gb/s', 'take ... switch.profile=reorder-memory']
    """
    name, drops = "reorder_buffer", row["rx_buffer_drops"]
    if not drops:
        return passed(name, "no frame found the reorder buffer full")
    expired = row.get("pauses_expired") or 0
    pauses = f", and {expired:,} {'pause' if expired == 1 else 'pauses'} ran out" if expired else ""
    told = f"{drops:,} {'frame' if drops == 1 else 'frames'} found the reorder buffer full{pauses}"
    mend = "take lg-nb, which keeps no order, or lower the load"
    if beyond is not None:
        mend = f"{beyond}; take lg-nb, which keeps no order, a lower load, or --set switch.profile={STUDY}"
    return failed(name, f"{told}: the loss ratio grows with the length of such a run; {mend}")
