"""The claims of the stress test: speed, buffers, losses, and what the protocol's arithmetic says of them."""

from __future__ import annotations

from lossylink.charts.palette import name_of
from lossylink.reproduce.framework.judging import (
    CONSISTENCY_CONFIDENCE,
    at_least,
    between,
    bounded,
    consistent,
    rare_events,
)
from lossylink.reproduce.framework.missing import NotRunError
from lossylink.reproduce.framework.model import Basis, Claim, Finished, Published
from lossylink.reproduce.framework.published import lookup
from lossylink.reproduce.shared.measures import derived, exact, lost_after_protection, realised_loss
from lossylink.reproduce.shared.single_flows import REQUESTED_LOSS

PUBLISHED_JOB = "tofino1, generator"
SATURATED_JOB = "tofino1, saturated"
IDEAL_JOB = "ideal, generator"
PROTECTIONS = ("lg", "lg-nb")
PUBLISHED_PACKETS = 100_000_000
SPEED = "effective_link_speed_gbps"

FRAME_OCTETS = 1538
"""A full frame on the wire: 1514 B, frame check sequence, preamble and gap."""
HEADER_OCTETS = 3
"""LinkGuardian's data header."""
FITTED_DELAYS = tuple(
    f"tofino1:{key}"
    for key in (
        *("data_pipeline_ns", "retransmission_pipeline_ns", "notification_port_ns"),
        *("ack_register_ns", "ack_cycle_ns", "control_return_ns", "copy_first_check_ns", "tx_loop_fixed_ns"),
        *("retransmit_ns", "multicast_extra_ns", "rx_loop_fixed_ns", "timer_packet_ns"),
        *("resume_flight_ns", "pause_reaction_ns"),
    )
)
"""A set that was fitted together to the published stress test at 100G."""
COPIES = 2
"""Copies of a retransmission at a loss of 1e-3 for a target of 1e-8."""


def claims(published: Published) -> tuple[Claim, ...]:
    """What the artifact's table and the protocol's arithmetic say."""
    return (*_speed_claims(published), *_buffer_claims(published), *_loss_claims(published), *_our_claims())


def _figure(published: Published, protection: str, key: str, place: int | None = None) -> float | None:
    value = lookup(published, "linkguardian", "stress", protection, key)
    return value[place] if value is not None and place is not None else value


def _silence_per_loss_us(finished: Finished) -> float:
    """Time that ordering adds to the run, for each lost frame."""
    seconds = {name: finished.number(PUBLISHED_JOB, name, "simulated_seconds") for name in PROTECTIONS}
    sent = {name: finished.number(PUBLISHED_JOB, name, "packets_sent") for name in PROTECTIONS}
    losses = finished.number(PUBLISHED_JOB, "lg", "actual_loss_rate") * sent["lg"]
    if losses == 0:
        raise NotRunError("no frame was lost")
    return (seconds["lg"] - seconds["lg-nb"] * sent["lg"] / sent["lg-nb"]) / losses * 1e6


def _ordering_cost_percent(finished: Finished) -> float:
    ordered, free = (finished.number(PUBLISHED_JOB, name, SPEED) for name in PROTECTIONS)
    return (1.0 - ordered / free) * 100.0


def _saturated_against_theory(finished: Finished) -> float:
    """Measured speed over rate * 1538/1541 / (1 + N p), with the loss that the run had."""
    loss = finished.number(SATURATED_JOB, "lg-nb", "actual_loss_rate")
    rate = finished.number(SATURATED_JOB, "lg-nb", "link_gbps")
    theory = rate * FRAME_OCTETS / (FRAME_OCTETS + HEADER_OCTETS) / (1.0 + COPIES * loss)
    return finished.number(SATURATED_JOB, "lg-nb", SPEED) / theory


def _speed_claims(published: Published) -> tuple[Claim, ...]:
    ordered, free = _figure(published, "lg", SPEED), _figure(published, "lg_nb", SPEED)
    cost = None if ordered is None or free is None else (1.0 - ordered / free) * 100.0
    return (
        Claim(
            "Non-blocking protection keeps the generator's whole rate",
            bounded(
                exact(PUBLISHED_JOB, "lg-nb", SPEED),
                between(98.66, 98.86),
                published=free,
                unit="Gb/s",
                digits=4,
                remark="the generator's period sets this speed, not the protocol: see the saturated source",
            ),
            Basis.CALIBRATED,
            "Figure 8",
            ("tofino1:generator_period_ps",),
        ),
        Claim(
            "Ordered protection delivers about 92 Gb/s of 100",
            bounded(
                exact(PUBLISHED_JOB, "lg", SPEED),
                between(90.25, 94.25),
                published=ordered,
                unit="Gb/s",
                digits=4,
            ),
            Basis.CALIBRATED,
            "Figure 8",
            FITTED_DELAYS,
        ),
        Claim(
            "Ordering costs between 4 and 9 % of the link's speed at a loss of 1e-3",
            bounded(derived(_ordering_cost_percent), between(4.0, 9.0), published=cost, unit="%"),
            Basis.CALIBRATED,
            "Figure 8",
            FITTED_DELAYS,
        ),
        Claim(
            "Ordering silences the sender for about 10 us a loss",
            bounded(derived(_silence_per_loss_us), between(8.0, 12.0), unit="us"),
            Basis.CALIBRATED,
            "derived from Figure 8",
            FITTED_DELAYS,
        ),
    )


def _buffer_claims(published: Published) -> tuple[Claim, ...]:
    return (
        Claim(
            "The ordered receiver buffers 75 to 90 KB at most",
            bounded(
                exact(PUBLISHED_JOB, "lg", "rx_buffer_kb_max"),
                between(75.0, 90.0),
                published=_figure(published, "lg", "rx_buffer_kb", 1),
                unit="KB",
            ),
            Basis.CALIBRATED,
            "Figure 14",
            FITTED_DELAYS,
            of_published_amount=True,
        ),
        Claim(
            "The non-blocking sender buffers 18 to 25 KB at most",
            bounded(
                exact(PUBLISHED_JOB, "lg-nb", "tx_buffer_kb_max"),
                between(18.0, 25.0),
                published=_figure(published, "lg_nb", "tx_buffer_kb", 1),
                unit="KB",
            ),
            Basis.CALIBRATED,
            "Figure 14",
            FITTED_DELAYS,
            of_published_amount=True,
        ),
        Claim(
            "The ordered sender buffers about 42 KB at most",
            bounded(
                exact(PUBLISHED_JOB, "lg", "tx_buffer_kb_max"),
                between(35.0, 49.0),
                published=_figure(published, "lg", "tx_buffer_kb", 1),
                unit="KB",
                remark="no set of delays that fits the other figures was found to reach the published peak",
            ),
            Basis.PREDICTION,
            "Figure 14",
            of_published_amount=True,
        ),
    )


def _loss_claims(published: Published) -> tuple[Claim, ...]:
    exposure = int(lookup(published, "linkguardian", "stress", "packets") or PUBLISHED_PACKETS)
    expected = REQUESTED_LOSS ** (COPIES + 1)
    effective = tuple(
        Claim(
            f"{name_of(protection)} leaves about one frame in 1e9 unrecovered",
            rare_events(
                lost_after_protection(PUBLISHED_JOB, protection),
                expected_rate=expected,
                published_exposure=exposure,
                noun="frames lost",
            ),
            Basis.THEORY,
            "p^(N+1), N = 2",
        )
        for protection in PROTECTIONS
    )
    realised = Claim(
        "The link loses one frame in a thousand, as the 20-bit draw rounds it",
        consistent(
            realised_loss(PUBLISHED_JOB, "lg", confidence=CONSISTENCY_CONFIDENCE), REQUESTED_LOSS, digits=5
        ),
        Basis.SET_UP,
        "artifact's log",
    )
    return (*effective, realised)


def _our_claims() -> tuple[Claim, ...]:
    return (
        Claim(
            "A saturated source pays 3 octets of header a frame and N copies a loss, nothing else",
            bounded(
                derived(_saturated_against_theory),
                between(0.9998, 1.0002),
                digits=6,
                remark="ratio to rate * 1538/1541 / (1 + N p)",
            ),
            Basis.THEORY,
            "LinkGuardian NB on a saturated link",
        ),
        Claim(
            "Ordered mode never reorders",
            bounded(exact(PUBLISHED_JOB, "lg", "reordered_packets"), between(0.0, 0.0), unit="frames"),
            Basis.THEORY,
            "LG-20",
        ),
        Claim(
            "A retransmission leaves 2.7 to 3.5 us after the loss is seen",
            bounded(
                exact(PUBLISHED_JOB, "lg-nb", "retx_delay_us_p50"),
                between(2.7, 3.5),
                unit="us",
            ),
            Basis.CALIBRATED,
            "median, N = 2",
            FITTED_DELAYS,
        ),
        Claim(
            "Without recirculation, ordering costs less of the link",
            bounded(
                derived(_ideal_gain),
                at_least(1.0),
                unit="x",
                digits=4,
                remark="speed with the ideal profile over tofino1, generator",
            ),
            Basis.PREDICTION,
            "ours: switch profiles",
        ),
    )


def _ideal_gain(finished: Finished) -> float:
    return finished.number(IDEAL_JOB, "lg", SPEED) / finished.number(PUBLISHED_JOB, "lg", SPEED)
