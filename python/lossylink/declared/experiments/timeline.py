"""A long flow through a day of a link: corruption begins, protection is switched on, perhaps by a monitor."""

from __future__ import annotations

from lossylink.declared.column import CHECKS, RETRANSMISSIONS, SPEED, TIMEOUTS, Column
from lossylink.declared.experiment import COMMON_ROW, LONG_KEYS, PATH_KEYS, TCP_KEYS, Experiment

EXPERIMENT = Experiment(
    name="timeline",
    summary="a long flow while corruption starts and protection is switched on",
    own_keys=(*TCP_KEYS, *PATH_KEYS, *LONG_KEYS, "timeline.*", "monitor.*"),
    row_keys=(
        *COMMON_ROW,
        *("congestion_control", "average_throughput_gbps", "retransmissions", "timeouts"),
        *("protected_at_s", "unprotected_at_s", "protection_changes", "copies", "control_copies", "checks"),
    ),
    headline=(
        SPEED,
        RETRANSMISSIONS,
        TIMEOUTS,
        Column("protected_at_s", "protected", "at s"),
        Column("unprotected_at_s", "unprotected", "at s"),
        CHECKS,
    ),
    spreads="jobs",
    refused={"live": "a time line needs a link that changes at set moments; live, use `lossylink lab watch`"},
)
