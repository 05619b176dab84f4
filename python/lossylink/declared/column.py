"""Columns of the short table that a run ends with: a label and a unit for a key of the row."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Kind = Literal["figure", "count", "share", "text"]


class Column(Struct, frozen=True):
    """A key of the row as it is shown.

    Attributes
    ----------
    key
        Of the row.
    label
        What stands above it, short.
    unit
        Below the label; nothing for counts and ratios.
    kind
        A ``figure`` has four digits, a ``count`` none behind the point. A ``share`` is a count over a count:
        where nothing was counted it is an upper bound, not zero.
    bound
        Of a share: the key of its 95 % interval.
    of
        Of a count or a share: the key of what it is counted among.
    versus
        Whether a column with the ratio to no protection stands beside it.
    """

    key: str
    label: str
    unit: str = ""
    kind: Kind = "figure"
    bound: str = ""
    of: str = ""
    versus: bool = False


CHECKS = Column("checks", "checks", kind="text")
RETRANSMISSIONS = Column("retransmissions", "resent", kind="count")
TIMEOUTS = Column("timeouts", "timeouts", kind="count")
SPEED = Column("average_throughput_gbps", "speed", "Gb/s", versus=True)
#: Completion times, to the tail that this is all about.
FCT = (
    Column("fct_us_p50", "p50", "us"),
    Column("fct_us_p99", "p99", "us"),
    Column("fct_us_p99_9", "p99.9", "us", versus=True),
    Column("fct_us_max", "max", "us"),
    Column("flows_hit", "hit", kind="count", of="trials"),
)
