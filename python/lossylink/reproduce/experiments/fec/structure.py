"""What was built and how it was run, as measured: encoder, faulty link, decoder, size of the experiment."""

from __future__ import annotations

from lossylink.reproduce.experiments.fec import jobs
from lossylink.reproduce.experiments.fec.measures import code_of, point, residual_deviation, series
from lossylink.reproduce.framework.model import Finished
from lossylink.theory import fec as theory

FRAMES = jobs.stress_job(1e-1)
HEADER_BYTES = 6
"""Of the encoder."""
CORRUPTION_BYTES = 1
"""Of the model of the faulty link, assumed: the least that a switch can write; its size was not published."""
GROWTH_BYTES = HEADER_BYTES + CORRUPTION_BYTES


def header_bytes(finished: Finished) -> float:
    """Octets that the encoder adds to a data packet, with the mark of the faulty link."""
    octets = finished.number(FRAMES, jobs.STRONGEST, "octets_header")
    return octets / finished.number(FRAMES, jobs.STRONGEST, "packets_sent")


def _parity_packets(finished: Finished, protection: str) -> float:
    frames = (finished.number(FRAMES, protection, f"frames_{kind}") for kind in ("simulated", "skipped"))
    return sum(frames) - finished.number(FRAMES, protection, "packets_sent")


def parity_per_block(finished: Finished) -> float:
    """Parity packets over h / k of the data packets, of the code farthest from 1."""

    def ratio(protection: str) -> float:
        k, h = code_of(protection)
        sent = finished.number(FRAMES, protection, "packets_sent")
        return _parity_packets(finished, protection) / (sent * h / k)

    return max((ratio(protection) for protection in jobs.CODED), key=lambda found: abs(found - 1))


def parity_octets(finished: Finished) -> float:
    """Octets of a parity packet on the wire."""
    octets = finished.number(FRAMES, jobs.STRONGEST, "octets_parity")
    return octets / _parity_packets(finished, jobs.STRONGEST)


def wait_over_theory(finished: Finished) -> float:
    """Mean wait of recovered packets under (25, 5) at line rate, over (k-1)/2 + h packet times."""
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


def worst_deviation(finished: Finished) -> float:
    """Standard errors from theory of the residual loss at 1e-1, of the code farthest from it."""
    loss = 1e-1

    def deviation(protection: str) -> float:
        k, h = code_of(protection)
        packets = finished.number(FRAMES, protection, "packets_sent")
        expected = theory.residual_loss_ratio(data_packets=k, parity_packets=h, loss_ratio=loss)
        found = finished.number(FRAMES, protection, "effective_loss_rate")
        return abs(found - float(expected)) / residual_deviation(k, h, loss, round(packets))

    return max(deviation(protection) for protection in jobs.CODED)


def rate_after_change(finished: Finished) -> float:
    """Rate after a change from (25, 1) to (5, 5) over that of (5, 5) from the start."""
    (protection,) = finished.run(jobs.CHANGED).rows["protection"].to_list()
    time_s, gbps = series(finished, jobs.CHANGED, protection, "throughput_gbps")
    late = gbps[time_s > 0.75 * time_s.max()]
    return float(late.mean()) / point(finished, 1e-2, jobs.STRONGEST, "throughput_gbps")


def seconds(finished: Finished) -> float:
    """Span of the series of a transfer."""
    time_s, _ = series(finished, jobs.grid_job(1e-2), jobs.STRONGEST, "queue_bytes")
    # Samples stand at the end of their interval.
    return float(round(time_s.max(), 3))


def wire_rate(finished: Finished) -> float:
    """Octets of an unprotected flow without loss on the wire, in Gb/s."""
    payload = point(finished, 0.0, "none", "throughput_gbps")
    return payload * jobs.WIRE_BYTES / jobs.MSS_BYTES
