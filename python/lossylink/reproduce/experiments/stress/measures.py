"""Quantities of the stress test that its claims are about, and the constants of its runs."""

from __future__ import annotations

from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import Finished, Published
from lossylink.reproduce.shared.declaring import published_at
from lossylink.reproduce.shared.single_flows import REQUESTED_LOSS

PUBLISHED_JOB = "tofino1, generator"
SATURATED_JOB = "tofino1, saturated"
PROTECTIONS = ("lg", "lg-nb")
PUBLISHED_PACKETS = 100_000_000
SPEED = "effective_link_speed_gbps"

FRAME_OCTETS = 1538
"""A full frame on the wire: 1514 B, frame check sequence, preamble and gap."""
HEADER_OCTETS = 3
"""LinkGuardian's data header."""
COPIES = 2
"""Copies of a retransmission at a loss of 1e-3 for a target of 1e-8."""
LOSS_OF_ALL_COPIES = REQUESTED_LOSS ** (COPIES + 1)
"""Share of frames that stays lost, by theory."""


def published_cost_percent(published: Published) -> float | None:
    """What ordering costs of the link's speed, as published."""
    ordered, free = (
        published_at(published, f"linkguardian.stress.{name}.{SPEED}") for name in ("lg", "lg_nb")
    )
    return None if ordered is None or free is None else (1.0 - ordered / free) * 100.0


def silence_per_loss_us(finished: Finished) -> float:
    """Time that ordering adds to the run, for each lost frame."""
    seconds = {name: finished.number(PUBLISHED_JOB, name, "simulated_seconds") for name in PROTECTIONS}
    sent = {name: finished.number(PUBLISHED_JOB, name, "packets_sent") for name in PROTECTIONS}
    losses = finished.number(PUBLISHED_JOB, "lg", "actual_loss_rate") * sent["lg"]
    if losses == 0:
        raise NotRunError("no frame was lost")
    return (seconds["lg"] - seconds["lg-nb"] * sent["lg"] / sent["lg-nb"]) / losses * 1e6


def ordering_cost_percent(finished: Finished) -> float:
    """What ordering costs of the link's speed."""
    ordered, free = (finished.number(PUBLISHED_JOB, name, SPEED) for name in PROTECTIONS)
    return (1.0 - ordered / free) * 100.0


def saturated_against_theory(finished: Finished) -> float:
    """Measured speed over rate * 1538/1541 / (1 + N p), with the loss that the run had."""
    loss = finished.number(SATURATED_JOB, "lg-nb", "actual_loss_rate")
    rate = finished.number(SATURATED_JOB, "lg-nb", "link_gbps")
    theory = rate * FRAME_OCTETS / (FRAME_OCTETS + HEADER_OCTETS) / (1.0 + COPIES * loss)
    return finished.number(SATURATED_JOB, "lg-nb", SPEED) / theory
