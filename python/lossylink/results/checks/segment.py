"""Checks 4, 5 and 6: whether a segment was as large as asked for, could be, and crossed the link alone."""

from __future__ import annotations

from lossylink.results.checks.evidence import FlowEvidence
from lossylink.results.checks.verdict import (
    ETHERNET_HEADER_BYTES,
    IP_TCP_HEADER_BYTES,
    TIMESTAMP_OPTION_BYTES,
    Check,
    Thresholds,
    failed,
    not_applicable,
    passed,
)


def check_mss(evidence: FlowEvidence, _: Thresholds) -> Check:
    """Hold the effective segment size against the requested one (trap 4)."""
    name = "mss"
    requested, effective = evidence.requested_mss_bytes, evidence.effective_mss_bytes
    if requested is None or effective is None:
        return not_applicable(name, "the segment size was not measured")
    if effective == requested:
        return passed(name, f"MSS {effective} B as requested")
    return failed(
        name, f"MSS {effective} B instead of {requested} B: {_cause_of_mss(evidence, requested, effective)}"
    )


def _cause_of_mss(evidence: FlowEvidence, requested: int, effective: int) -> str:
    causes = []
    mtu_needed = requested + IP_TCP_HEADER_BYTES
    capped = evidence.mtu_bytes is not None and evidence.mtu_bytes < mtu_needed
    if capped:
        causes.append(f"the MTU of {evidence.mtu_bytes} caps it, set the MTU to {mtu_needed}")
    as_timestamps_would = requested - effective == TIMESTAMP_OPTION_BYTES
    if evidence.timestamps or (evidence.timestamps is None and as_timestamps_would):
        causes.append(f"TCP timestamps take {TIMESTAMP_OPTION_BYTES} B of each segment, turn them off")
    return "; ".join(causes) or "the peer or the path announced a smaller one, compare both ends' MTU"


def check_mtu(evidence: FlowEvidence, _: Thresholds) -> Check:
    """Hold the MTU against what the requested segment needs (trap 5)."""
    name = "mtu"
    requested, mtu = evidence.requested_mss_bytes, evidence.mtu_bytes
    if requested is None or mtu is None:
        return not_applicable(name, "the MTU is not known")
    needed = requested + IP_TCP_HEADER_BYTES
    if mtu >= needed:
        return passed(name, f"MTU {mtu} holds an MSS of {requested} B and {IP_TCP_HEADER_BYTES} B of headers")
    return failed(
        name,
        f"MTU {mtu} caps the MSS at {mtu - IP_TCP_HEADER_BYTES} B: "
        f"an MSS of {requested} B needs an MTU of {needed} on every hop",
    )


def check_offload(evidence: FlowEvidence, thresholds: Thresholds) -> Check:
    """Hold the largest frame on the link against one segment with its headers (trap 6)."""
    name = "offload"
    mss, largest = evidence.effective_mss_bytes, evidence.largest_frame_bytes
    if mss is None or largest is None:
        return not_applicable(name, "frame sizes on the link were not measured")
    options = TIMESTAMP_OPTION_BYTES if evidence.timestamps else 0
    segment = mss + options + IP_TCP_HEADER_BYTES + ETHERNET_HEADER_BYTES
    if largest <= segment + thresholds.frame_slack_bytes:
        return passed(name, f"largest frame {largest} B is one segment with its headers")
    return failed(
        name,
        f"a frame of {largest} B carries {(largest - segment + mss) / mss:.1f} segments of {mss} B: "
        "the interface joins segments and each loss decision hits all of them; "
        "turn segmentation offload off (gso, tso, gro, lro) on every interface",
    )
