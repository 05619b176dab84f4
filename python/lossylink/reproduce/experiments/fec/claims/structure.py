"""What was built and how it was run: encoder, faulty link, decoder, and the size of the experiment."""

from __future__ import annotations

from lossylink.reproduce.experiments.fec import jobs
from lossylink.reproduce.experiments.fec.claims.numbered import size, statement
from lossylink.reproduce.experiments.fec.measures import (
    code_of,
    mapped,
    point,
    residual_deviation,
    series,
)
from lossylink.reproduce.framework.judging import (
    CONSISTENCY_CONFIDENCE,
    at_most,
    between,
    bounded,
    consistent,
)
from lossylink.reproduce.framework.model import Basis, Claim, Finished, Published
from lossylink.reproduce.shared.measures import realised_loss
from lossylink.theory import fec as theory

FRAMES = jobs.stress_job(1e-1)
HEADER_BYTES = 6
"""Of the encoder."""
CORRUPTION_BYTES = 1
"""Of the model of the faulty link, assumed: the least that a switch can write; its size was not published."""
GROWTH_BYTES = HEADER_BYTES + CORRUPTION_BYTES
MOST_DEVIATIONS = 3.7
"""Standard errors within which the worst of five codes lies, 999 times in 1000."""
LATE_END = 1.1
"""A packet leaves the decoder up to a round of recirculation after its block has ended."""


def claims(wharf: Published) -> tuple[Claim, ...]:
    """Statements 1 to 7, 20 and 21."""
    return (*_encoder(), *_link_and_decoder(), *_method(wharf))


def _encoder() -> tuple[Claim, ...]:
    return (
        statement(
            1,
            "The encoder adds a header to every data packet",
            bounded(
                mapped(_header_bytes),
                between(GROWTH_BYTES, GROWTH_BYTES),
                unit="B",
                remark="6 B, and 1 B for the mark of the faulty link",
            ),
            Basis.SET_UP,
        ),
        statement(
            1,
            "The encoder adds h parity packets to every k data packets",
            bounded(
                mapped(_parity_per_block),
                between(0.9999, 1.0001),
                unit="x",
                digits=5,
                remark="parity packets over h / k of the data packets, the code farthest from 1",
            ),
            Basis.SET_UP,
        ),
        statement(
            21,
            "A parity packet is a clone of the last data packet of its block",
            bounded(
                mapped(_parity_octets),
                between(jobs.WIRE_BYTES + GROWTH_BYTES, jobs.WIRE_BYTES + GROWTH_BYTES),
                unit="B",
                remark="on the wire; a coded parity frame would be 20 B longer",
            ),
            Basis.SET_UP,
        ),
        statement(
            20,
            "The code can be changed while packets flow",
            bounded(
                mapped(_rate_after_change),
                between(0.95, 1.05),
                unit="x",
                remark="rate after a change from (25, 1) to (5, 5) over that of (5, 5) from the start; "
                "`lossylink run timeline` changes the loss",
            ),
            Basis.PREDICTION,
        ),
    )


def _link_and_decoder() -> tuple[Claim, ...]:
    return (
        *(
            statement(
                2,
                f"The link marks each packet at random, a share of {loss:g}",
                consistent(
                    realised_loss(jobs.stress_job(loss), "fec-model:25/5", confidence=CONSISTENCY_CONFIDENCE),
                    loss,
                ),
                Basis.SET_UP,
            )
            for loss in jobs.STRESS_LOSSES
            if loss > 0
        ),
        statement(
            3,
            "Marked packets are withheld until their block ends",
            bounded(
                mapped(_wait_over_theory),
                between(1.0, LATE_END),
                unit="x",
                remark="mean wait under (25, 5) at line rate over (k-1)/2 + h packet times; a round of "
                "recirculation may come on top",
            ),
            Basis.THEORY,
        ),
        statement(
            4,
            "A block is recovered when k of its k + h packets arrive, and only then",
            bounded(
                mapped(_worst_deviation),
                at_most(MOST_DEVIATIONS),
                unit="standard errors",
                remark="residual loss of five codes at 1e-1 against p P[Bin(k+h-1, p) >= h], the farthest",
            ),
            Basis.THEORY,
        ),
    )


def _method(wharf: Published) -> tuple[Claim, ...]:
    return (
        statement(
            5,
            "A transfer lasts 10 s",
            size(mapped(_seconds), float(wharf["trial_seconds"]), unit="s", remark="span of the series"),
            Basis.SET_UP,
            of_published_amount=True,
        ),
        statement(
            6,
            "There are 25 trials of every configuration",
            size(
                mapped(lambda finished: point(finished, 1e-2, jobs.STRONGEST, "trials")),
                float(wharf["trials"]),
                unit="trials",
                remark=f"fewer where standard errors are within {jobs.PRECISION} (flow.precision)",
            ),
            Basis.SET_UP,
            of_published_amount=True,
        ),
        statement(
            7,
            "The link is 10 Gigabit Ethernet",
            bounded(
                mapped(_wire_rate),
                between(9.9, jobs.LINK_GBPS),
                published=jobs.LINK_GBPS,
                unit="Gb/s",
                remark="payload of an unprotected flow without loss, times 1538 / 1460",
            ),
            Basis.SET_UP,
        ),
    )


def _header_bytes(finished: Finished) -> float:
    octets = finished.number(FRAMES, jobs.STRONGEST, "octets_header")
    return octets / finished.number(FRAMES, jobs.STRONGEST, "packets_sent")


def _parity_packets(finished: Finished, protection: str) -> float:
    frames = (finished.number(FRAMES, protection, f"frames_{kind}") for kind in ("simulated", "skipped"))
    return sum(frames) - finished.number(FRAMES, protection, "packets_sent")


def _parity_per_block(finished: Finished) -> float:
    def ratio(protection: str) -> float:
        k, h = code_of(protection)
        sent = finished.number(FRAMES, protection, "packets_sent")
        return _parity_packets(finished, protection) / (sent * h / k)

    return max((ratio(protection) for protection in jobs.CODED), key=lambda found: abs(found - 1))


def _parity_octets(finished: Finished) -> float:
    octets = finished.number(FRAMES, jobs.STRONGEST, "octets_parity")
    return octets / _parity_packets(finished, jobs.STRONGEST)


def _wait_over_theory(finished: Finished) -> float:
    k, h = 25, 5
    row = finished.row(FRAMES, f"fec-model:{k}/{h}")
    wait_us = float(row["latency_us_recovered_mean"]) - float(row["latency_us_intact_mean"])
    bound_s = theory.recovery_delay_mean_s(
        data_packets=k,
        parity_packets=h,
        rate_bps=jobs.LINK_GBPS * 1e9,
        frame_wire_bytes=jobs.WIRE_BYTES + GROWTH_BYTES,
    )
    return wait_us / (float(bound_s) * 1e6)


def _worst_deviation(finished: Finished) -> float:
    loss = 1e-1

    def deviation(protection: str) -> float:
        k, h = code_of(protection)
        packets = finished.number(FRAMES, protection, "packets_sent")
        expected = theory.residual_loss_ratio(data_packets=k, parity_packets=h, loss_ratio=loss)
        found = finished.number(FRAMES, protection, "effective_loss_rate")
        return abs(found - float(expected)) / residual_deviation(k, h, loss, round(packets))

    return max(deviation(protection) for protection in jobs.CODED)


def _rate_after_change(finished: Finished) -> float:
    (protection,) = finished.run(jobs.CHANGED).rows["protection"].to_list()
    time_s, gbps = series(finished, jobs.CHANGED, protection, "throughput_gbps")
    late = gbps[time_s > 0.75 * time_s.max()]
    return float(late.mean()) / point(finished, 1e-2, jobs.STRONGEST, "throughput_gbps")


def _seconds(finished: Finished) -> float:
    time_s, _ = series(finished, jobs.grid_job(1e-2), jobs.STRONGEST, "queue_bytes")
    # Samples stand at the end of their interval.
    return float(round(time_s.max(), 3))


def _wire_rate(finished: Finished) -> float:
    payload = point(finished, 0.0, "none", "throughput_gbps")
    return payload * jobs.WIRE_BYTES / jobs.MSS_BYTES
