"""The outcome of one check, and the thresholds that all of them judge by."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from msgspec import Struct

ETHERNET_HEADER_BYTES: Final = 14
"""Destination, source and EtherType; the FCS is not counted."""

IP_TCP_HEADER_BYTES: Final = 40
"""IPv4 (RFC 791) and TCP (RFC 9293) headers without options."""

TIMESTAMP_OPTION_BYTES: Final = 12
"""TCP timestamps with their padding (RFC 7323, appendix A), taken from every segment's payload."""


class Status(StrEnum):
    """How a check came out."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_APPLICABLE = "not_applicable"


class Check(Struct, frozen=True, kw_only=True):
    """One check of one flow: what was judged, how it came out, and what to change."""

    name: str
    status: Status
    message: str

    @property
    def failed(self) -> bool:
        """Whether the check found the mistake that it looks for."""
        return self.status is Status.FAILED


class Thresholds(Struct, frozen=True, kw_only=True):
    """Where each check draws its line."""

    loss_ratio_confidence: float = 0.9999
    """Confidence of the binomial interval: of 60 honest trials, one in 170 studies raises a false alarm."""
    expected_losses_at_least: float = 30
    """Lost frames that a run must expect for its loss ratio to be more than luck."""
    rtt_inflation_at_most: float = 1.05
    """Mean round-trip time over the minimum, above which a queue is suspected."""
    frame_slack_bytes: int = 16
    """What a frame may carry beside headers and MSS: FCS (4), VLAN tag (4), a protection's header (8)."""


def passed(name: str, message: str) -> Check:
    """Build the outcome of a check that found nothing wrong."""
    return Check(name=name, status=Status.PASSED, message=message)


def failed(name: str, message: str) -> Check:
    """Build the outcome of a check that found its mistake; the message says what is off and the mend."""
    return Check(name=name, status=Status.FAILED, message=message)


def not_applicable(name: str, message: str) -> Check:
    """Build the outcome of a check that has nothing to judge; the message says why."""
    return Check(name=name, status=Status.NOT_APPLICABLE, message=message)
