"""SYNTHETIC runs: made-up numbers in the shape of the simulator's, for tests of reports only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars

from lossylink.reproduce.model import Job
from lossylink.reproduce.runner import Report
from lossylink.results import Run
from lossylink.statistics import describe

RTO_SHARE = {"none": 0.004, "lg": 0.0, "lg-nb": 0.0}


def run_of(
    experiment: str,
    rows: list[dict[str, Any]],
    tables: Mapping[str, polars.DataFrame] | None = None,
    *,
    scenario: dict[str, Any] | None = None,
    interrupted: bool = False,
) -> Run:
    """A run around rows that a test made up."""
    return Run(
        experiment=experiment,
        backend="synthetic",
        version="0.0.0",
        seed=1,
        wall_seconds=1.5,
        scenario=scenario or {"experiment": experiment, "link": {"rate": "100Gbps"}},
        rows=polars.DataFrame(rows),
        tables=dict(tables or {}),
        interrupted=interrupted,
    )


def completion_run(job: Job, seed: int) -> Run:
    """Flow completion times: a body near 85 us and, without protection, a few in the milliseconds."""
    trials = int(job.settings["flow.trials"])
    loss_free = job.settings.get("loss.forward") == "0%"
    rows, frames = [], []
    for place, protection in enumerate(job.protections):
        draws = np.random.default_rng([seed, place, loss_free])
        fct = 62.0 + draws.gamma(2.2, 13.0, trials)
        slow = np.arange(trials) < (0 if loss_free else trials * RTO_SHARE.get(protection, 0.0))
        fct = np.where(slow, draws.uniform(3300.0, 3900.0, trials), fct)
        summary = {f"fct_us_{key}": value for key, value in describe(fct).items() if key != "count"}
        rows.append(
            {"protection": protection, "loss_rate": 1e-3, "link_gbps": 100.0, "trials": trials, **summary}
        )
        frames.append(polars.DataFrame({"protection": [protection] * trials, "fct_us": fct}))
    return run_of(job.experiment, rows, {"trials": polars.concat(frames)})


def stress_run(job: Job, seed: int) -> Run:
    """Stress rows near the published ones, octet counters that add up, and a buffer series."""
    rows, frames = [], []
    for place, protection in enumerate(job.protections):
        rows.append(stress_row(protection, int(job.settings["traffic.packets"])))
        frames.append(_buffer_series(protection, np.random.default_rng([seed, place])))
    return run_of(job.experiment, rows, {"series": polars.concat(frames)})


def stress_row(protection: str, packets: int) -> dict[str, Any]:
    """One stress row; the link carries 98.74 Gb/s, or 92.3 in ordered mode."""
    ordered = protection == "lg"
    unpaused = protection == "lg:backpressure=off"
    speed = 12.0 if unpaused else 92.31 if ordered else 98.756
    seconds = packets * 1538 * 8 / (speed * 1e9)
    losses = round(packets * 9.99e-4)
    return {
        "protection": protection,
        "loss_rate": 1e-3,
        "link_gbps": 100.0,
        "actual_loss_rate": losses / packets,
        "packets_sent": packets,
        "frames_simulated": packets + losses * 2,
        "frames_skipped": 0,
        "packets_delivered": packets,
        "effective_loss_rate": 0.0,
        "effective_loss_ci95": 3.7 / packets,
        "effective_link_speed_gbps": speed,
        "tx_buffer_kb_min": 0.0 if ordered else 4.8,
        "tx_buffer_kb_p50": 9.6,
        "tx_buffer_kb_max": 25.6 if ordered else 23.9,
        "rx_buffer_kb_min": 0.0,
        "rx_buffer_kb_p50": 0.0,
        "rx_buffer_kb_max": 8000.0 if unpaused else 83.9 if ordered else 0.0,
        "retransmissions": losses * 2,
        "retx_delay_us_p50": 3.1,
        "retx_delay_us_max": 3.9,
        "duplicates_dropped": losses,
        "timeouts": 0,
        "reordered_packets": 0 if ordered else losses,
        "simulated_seconds": seconds,
        "packets_per_wall_second": 4e6,
        "octets_data": packets * 1538,
        "octets_header": packets * 3,
        "octets_copies": losses * 2 * 1541,
        "octets_control": losses * 3 * 84,
        "pause_seconds": losses * 8e-6 if ordered else 0.0,
    }


def _buffer_series(protection: str, draws: np.random.Generator) -> polars.DataFrame:
    samples = 1246
    ordered = protection == "lg"
    return polars.DataFrame(
        {
            "protection": [protection] * samples,
            "time_s": np.arange(samples) * 0.01,
            "tx_buffer_kb": np.round(draws.gamma(4.0, 2.2, samples) / 1.6) * 1.6 + 4.8,
            "rx_buffer_kb": draws.choice([0.0, 1.6, 40.0, 72.0], samples) if ordered else np.zeros(samples),
        }
    )


def throughput_run(job: Job, _seed: int) -> Run:
    """One row a protection: 3 Gb/s without protection under loss, full speed otherwise."""
    loss_free = job.settings.get("loss.forward") == "0%"
    rows = []
    for protection in job.protections:
        slow = protection == "none" and not loss_free
        rows.append(
            {
                "protection": protection,
                "loss_rate": 0.0 if loss_free else 1e-3,
                "link_gbps": 10.0,
                "congestion_control": "cubic",
                "average_throughput_gbps": 3.05 if slow else 9.49,
                "retransmissions": 15_000 if slow else 0,
                "timeouts": 0,
            }
        )
    return run_of(job.experiment, rows)


def timeline_run(job: Job, seed: int) -> Run:
    """A rate that falls when loss starts and comes back with protection."""
    bins, frames = 50, []
    for protection in job.protections:
        draws = np.random.default_rng(seed)
        time_s = np.arange(bins) * 0.1
        lossy, protected = (time_s > 0.99) & (time_s < 2.99), time_s > 2.99
        paused = protection == "lg"
        rate = np.where(lossy, 14.0, np.where(protected, 23.5 if paused else 20.0, 24.0))
        frames.append(
            polars.DataFrame(
                {
                    "protection": [protection] * bins,
                    "time_s": time_s,
                    "send_gbps": rate + draws.normal(0, 0.1, bins),
                    "queue_kb": draws.uniform(60, 120, bins),
                    "rx_buffer_kb": np.where(protected, 40.0 if paused else 160.0, 0.0),
                    "retransmissions": np.where(lossy, 30.0, 0.0),
                }
            )
        )
    switched = {"protected_at_s": 1.1, "unprotected_at_s": 3.6, "protection_changes": 2}
    rows = [
        {"protection": name, "loss_rate": 1e-3, "link_gbps": 25.0, **switched} for name in job.protections
    ]
    return run_of(job.experiment, rows, {"timeline": polars.concat(frames)})


def workload_run(job: Job, seed: int) -> Run:
    """Slowdowns near two and, without protection, a few flows that wait for a timer; order costs a fifth."""
    trials = int(job.settings["flow.trials"])
    loss_free = job.settings.get("loss.forward") == "0%"
    rows, frames = [], []
    for place, protection in enumerate(job.protections):
        draws = np.random.default_rng([seed, place, loss_free])
        slowdown = (1.2 if protection == "lg" else 1.0) * (1.0 + draws.gamma(2.0, 0.5, trials))
        slow = np.arange(trials) < (0 if loss_free else trials * RTO_SHARE.get(protection, 0.0))
        slowdown = np.where(slow, draws.uniform(60.0, 80.0, trials), slowdown)
        flow_bytes = np.where(np.arange(trials) % 4 > 0, 500.0, 2e6)
        summary = {f"slowdown_{key}": value for key, value in describe(slowdown).items()}
        classes = {f"slowdown_p99_{name}": 5.0 for name in ("to_10kb", "above_1mb")}
        link = {"link_utilisation": 0.35, "queue_bytes_max": 1e5, "queue_drops": 0, "retransmissions": 9}
        rows.append({"protection": protection, "trials": trials, **summary, **classes, **link})
        table = {"protection": [protection] * trials, "flow_bytes": flow_bytes, "slowdown": slowdown}
        frames.append(polars.DataFrame(table))
    return run_of(job.experiment, rows, {"trials": polars.concat(frames)})


def mathis_run(job: Job, seed: int) -> Run:
    """Sixty trials that follow the law, and fall below it where losses are frequent."""
    draws = np.random.default_rng(seed)
    rows = []
    for mss in (536, 1460, 4312):
        for rtt_ms in (3.0, 77.25, 151.5, 225.75, 300.0):
            for _ in range(int(job.settings["grid.loss_count"])):
                loss = float(np.exp(draws.uniform(np.log(3e-5), np.log(0.3))))
                model = mss * 8 / (rtt_ms * 1e-3 * np.sqrt(loss)) / 1e6
                measured = model * np.sqrt(1.5) * draws.uniform(0.95, 1.05) * (0.3 if loss > 0.05 else 1.0)
                rows.append(
                    {
                        "protection": "none",
                        "mss_bytes": mss,
                        "mss_requested_bytes": mss,
                        "rtt_ms": rtt_ms,
                        "loss_ratio": loss,
                        "model_mbps": model,
                        "measured_mbps": measured,
                        "measured_mbps_ci95": [0.94 * measured, 1.06 * measured],
                        "ratio": measured / model,
                        "ratio_sqrt32": measured / model / np.sqrt(1.5),
                        "checks": {"loss_ratio": {"passed": True, "message": "as requested"}},
                    }
                )
    return run_of(job.experiment, rows)


def fec_run(job: Job, _seed: int) -> Run:
    """Throughput that falls with loss unless a code repairs it."""
    loss = float(job.settings["loss.forward"])
    rows = []
    for protection in job.protections:
        coded = protection.startswith("fec")
        k, h = (int(part) for part in protection.partition(":")[2].split("/")) if coded else (1, 0)
        residual = loss ** (h + 1) if coded else loss
        full = 9.4 if protection == "lg-nb" else 9.4 * k / (k + h)
        rate = min(full, 0.02 / np.sqrt(max(residual, 1e-12)) / 10) if protection != "lg-nb" else full
        rows.append(
            {
                "protection": protection,
                "loss_rate": loss,
                "link_gbps": 10.0,
                "fec_k": k,
                "fec_h": h,
                "throughput_gbps": rate,
                "cwnd_packets_mean": rate * 60,
                "latency_us_mean": 40.0 + 500.0 * h / k,
                "queue_bytes_max": 1_000_000.0,
                "residual_loss_rate": residual,
                "residual_loss_theory": residual,
            }
        )
    return run_of(job.experiment, rows)


MAKERS = {
    "stress": stress_run,
    "tcp-fct": completion_run,
    "rdma-fct": completion_run,
    "throughput": throughput_run,
    "timeline": timeline_run,
    "workload": workload_run,
    "mathis": mathis_run,
    "fec": fec_run,
}


def synthetic_runner(job: Job, *, seed: int, threads: int, report: Report) -> Run:
    """Stands in for the simulator."""
    report(0.5, 1.0)
    report(1.0, 1.0)
    return MAKERS[job.experiment](job, seed)
