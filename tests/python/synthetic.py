"""SYNTHETIC runs: made-up numbers in the shape of the simulator's, for tests of reports only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars
from msgspec import structs

from lossylink.reproduce.experiments.mathis import trials as study
from lossylink.reproduce.framework.model import Job
from lossylink.reproduce.framework.runner import Report
from lossylink.results.result import alike
from lossylink.running.run import Run
from lossylink.statistics.estimates import describe
from lossylink.theory.fec import residual_loss_ratio

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
        records=alike(rows),
        parts=dict(tables or {}),
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
            | {"flows_hit": int(slow.sum())}
        )
        frames.append(polars.DataFrame({"protection": [protection] * trials, "fct_us": fct}))
    return run_of(job.experiment, rows, {"trials": polars.concat(frames)})


def stress_run(job: Job, seed: int) -> Run:
    """Stress rows near the published ones, octet counters that add up, and a buffer series."""
    rows, frames = [], []
    for place, protection in enumerate(job.protections):
        packets = int(job.settings["traffic.packets"])
        coded = "fec-model:5/5" in job.protections
        loss = float(job.settings["loss.forward"]) if coded else 0.0
        rows.append(fec_stress_row(protection, packets, loss) if coded else stress_row(protection, packets))
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
        "effective_loss_ci95": [0.0, 3.7 / packets],
        "effective_loss_design_effect": 1.0,
        "effective_loss_batches": 0,
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
        "duplicates_delivered": 0,
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
    # Ports that are four times as fast as the link to the bit need no pauses.
    keeps_step = "switch.rx_buffer" in job.settings and "switch.recirculation" not in job.settings
    for protection in job.protections:
        draws = np.random.default_rng(seed)
        time_s = np.arange(bins) * 0.1
        lossy, protected = (time_s > 0.99) & (time_s < 2.99), time_s > 2.99
        paused = protection == "lg" or keeps_step
        rate = np.where(lossy, 14.0, np.where(protected, 23.5 if paused else 20.0, 24.0))
        frames.append(
            polars.DataFrame(
                {
                    "protection": [protection] * bins,
                    "time_s": time_s,
                    "send_gbps": rate + draws.normal(0, 0.1, bins),
                    "queue_kb": draws.uniform(60, 120, bins),
                    "rx_buffer_kb": np.where(protected, 40.0 if paused else 200.0, 0.0),
                    "retransmissions": np.where(lossy, 30.0, np.where(protected & (not paused), 500.0, 0.0)),
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
    """Sixty trials that follow the law, below it where losses are frequent; or one of the study's."""
    if "grid.loss_count" not in job.settings:
        return run_of(job.experiment, [study_row(job)])
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


STUDY_RATIOS = {
    study.TRIAL_5_NAIVE: 207 / 49.2,
    study.TRIAL_5: 1.68 / 4.92,
    study.TRIAL_7_NAIVE: 1.5,
    study.TRIAL_7: 3.0,
}
"""Measured over modelled bandwidth, as published."""


def study_row(job: Job) -> dict[str, Any]:
    """A trial of the study, with the figures of its text."""
    mss, loss = int(job.settings["transport.mss"]), float(job.settings["loss.forward"])
    model = mss * 8 / (6e-3 * np.sqrt(loss)) / 1e6
    usual = 5.81 if job.settings["transport.segmentation_offload"] else 1.17
    ratio = STUDY_RATIOS.get(job.key, usual)
    capped = job.settings.get("link.mtu") == 1500
    return {
        "protection": "none",
        "mss_bytes": 1460 if capped else mss,
        "loss_ratio": loss,
        "model_mbps": model,
        "measured_mbps": ratio * model,
        "measured_mbps_ci95": [0.97 * ratio * model, 1.03 * ratio * model],
        "ratio": ratio * (1 + 1e-3 * (job.seed_offset % 2)),
        "rtt_mean_ms": 9.0 if job.key == study.TRIAL_8_NAIVE else 6.1,
        "rtt_min_ms": 6.0,
    }


def fec_run(job: Job, seed: int) -> Run:
    """Throughput that falls with loss unless a code repairs it, a queue that codes fill, and a sawtooth."""
    rows, trials, series = [], [], []
    for protection in job.protections:
        row = fec_row(job, protection)
        rows.append(row)
        draws = np.random.default_rng(seed)
        count = int(job.settings["flow.trials"])
        columns = {key: row[key] * draws.normal(1.0, 1e-3, count) for key in FEC_TRIAL_COLUMNS}
        trials.append(polars.DataFrame({"protection": [protection] * count, **columns}))
        series.append(_fec_series(job, protection, row))
    return run_of(job.experiment, rows, {"trials": polars.concat(trials), "series": polars.concat(series)})


FEC_TRIAL_COLUMNS = ("throughput_gbps", "cwnd_packets_mean", "latency_us_mean")


def fec_row(job: Job, protection: str) -> dict[str, Any]:
    """One row of the fec experiment: (k, h) carries its share, and a little more where nothing is lost."""
    loss = float(job.settings["loss.forward"])
    coded = protection.startswith("fec")
    code = protection.partition(":")[2].partition(",")[0] if coded else "1/0"
    k, h = (int(part) for part in code.split("/"))
    theory = residual_loss_ratio(data_packets=k, parity_packets=h, loss_ratio=loss)
    residual = 1e-4 if ",priority" in protection else float(theory)
    rate = _fec_rate(job, k, h, residual if coded else loss * (protection == "none"))
    limited = (
        job.settings["host.nic_rate"] == "4.5Gbps" or ",meter" in protection or ",priority" in protection
    )
    queue = 950_000.0 - 10_000.0 * k / h if coded and not limited and rate > 4 else 4_000.0
    latency = 2.0 + queue * 8e-4
    if h == 0:
        queue, latency = 0.0, 2.0
    return {
        "protection": protection,
        "loss_rate": loss,
        "link_gbps": 10.0,
        "fec_k": k if coded else None,
        "fec_h": h if coded else None,
        "trials": job.settings["flow.trials"],
        "throughput_gbps": rate,
        "cwnd_packets_mean": rate * 1e9 * (82e-6 + (latency - 2.0) * 1e-6) / 8 / 1460,
        "latency_us_p50": latency,
        "latency_us_mean": latency,
        "latency_us_p99": 1.2 * latency,
        "latency_us_p99_99": 1.5 * latency,
        "latency_intact_us_mean": latency,
        "latency_intact_us_max": 1.5 * latency,
        **_fec_waits(job, protection, k, latency),
        "queue_bytes_mean": queue,
        "queue_bytes_max": 1_000_000.0 if queue > 1e5 else queue,
        "queue_drops_data": 1,
        "queue_drops_parity": 1000 if queue > 1e5 else 0,
        "frames_offered": 1_000_000,
        "parity_frames": 1_000_000,
        "residual_loss_rate": residual,
        "residual_loss_theory": residual,
    }


def _fec_rate(job: Job, k: int, h: int, residual: float) -> float:
    if "traffic.rate" in job.settings:
        return float(str(job.settings["traffic.rate"]).removesuffix("Mbps")) / 1e3 * 0.97
    full = min(9.49, 9.49 * k / (k + h) * (1.3 if residual < 1e-25 and h == k else 1.0))
    if job.settings["host.nic_rate"] == "4.5Gbps":
        full = min(full, 4.27)
    return full if residual == 0 else min(full, 0.05 / np.sqrt(residual), 1e-4 / residual**2.2)


def _fec_waits(job: Job, protection: str, k: int, latency: float) -> dict[str, float]:
    """How late recovered packets are: their block at the source's rate, or the flush timer."""
    slow = job.settings.get("traffic.rate") == "100Mbps"
    timed = protection.startswith("fec:")
    wait = min(122.0 * (k - 1) / 2 + 6.0, 120.0 if timed else np.inf) if slow else 20.0
    bursty = job.settings.get("traffic.source") == "udp-bursty" and not timed
    return {
        "latency_recovered_us_mean": latency + wait,
        "latency_recovered_us_p99": latency + 2 * wait,
        "latency_recovered_us_max": 8_950.0 if bursty else latency + 2 * wait,
    }


def _fec_series(job: Job, protection: str, row: dict[str, Any]) -> polars.DataFrame:
    """A sawtooth: halves for Reno, 0.7 for CUBIC; it covers the whole run."""
    seconds = float(str(job.settings["run.duration"]).removesuffix("ms")) / 1e3
    time_s = np.linspace(0, seconds, 401)[1:]
    kept = 0.7 if job.key.endswith("cubic") else 0.5
    tooth = kept + (1 - kept) * (np.arange(400) % 50) / 49
    rate = row["throughput_gbps"]
    changed = "change=" in protection
    return polars.DataFrame(
        {
            "protection": [protection] * 400,
            "time_s": time_s,
            "latency_us_ewma": row["latency_us_mean"] * tooth,
            "queue_bytes": row["queue_bytes_mean"] * tooth,
            "cwnd_packets": 100.0 * tooth,
            "throughput_gbps": np.where(time_s > seconds / 2, 4.745, rate) if changed else np.full(400, rate),
        }
    )


def fec_stress_row(protection: str, packets: int, loss: float) -> dict[str, Any]:
    """Frames at line rate under a code that behaves as its closed forms say."""
    k, h = (int(part) for part in protection.partition(":")[2].split("/")) if ":" in protection else (1, 0)
    header = 7 if h else 0
    share = k * 1538 / ((k + h) * (1538 + header))
    residual = residual_loss_ratio(data_packets=k, parity_packets=h, loss_ratio=loss)
    return stress_row(protection, packets) | {
        "actual_loss_rate": loss,
        "frames_simulated": packets + packets * h // k,
        "effective_link_speed_gbps": 10.0 * share,
        "effective_loss_rate": float(residual),
        "latency_us_intact_mean": 4.4,
        "latency_us_recovered_mean": 4.4 + ((k - 1) / 2 + h) * 1.2352 * 1.01,
        "octets_header": packets * header,
        "octets_parity": packets * h // k * 1545,
    }


def fabric_run(job: Job, seed: int) -> Run:
    """Years whose counts are near the published ones, and a protection that is far better than none."""
    years = int(job.settings.get("fabric.years", 1))
    constraint = float(job.settings["fabric.constraint"].removesuffix("%")) / 100
    share = float(job.settings.get("fabric.deployment", 1.0))
    rows, frames = [], []
    for place, protection in enumerate(job.protections):
        gain = 1.0 if protection == "none" else 3e5 if share == 1.0 else 1.0 / (1.0 - 0.5 * share)
        row = {
            "protection": protection,
            "link_gbps": 100.0,
            "links": 100_224,
            "paths_per_tor": 192,
            "pod_gbps": 19_200.0,
            "constraint_share": constraint,
            "deployment_share": share,
            "years": years,
            "penalty_mean": 0.24 / gain,
            "penalty_gain_p50": gain,
            "penalty_gain_max": 6 * gain if gain > 1 else 1.0,
            "paths_least_share_min": constraint,
            "capacity_least_share_min": 0.93,
            "capacity_decrease_share_max": 0.0022 if gain > 1 else 0.0,
            "links_disabled_mean": 570.0,
            "links_corrupting_mean": 290.0,
            "protected_ports_per_pipe_max": 0 if gain == 1 else 4,
        }
        rows.append(row)
        frames.append(_fabric_tables(row, np.random.default_rng([seed, place])))
    tables = {name: polars.concat([one[name] for one in frames]) for name in frames[0]}
    return run_of("fabric", rows, tables)


def _fabric_tables(row: dict[str, Any], draws: np.random.Generator) -> dict[str, polars.DataFrame]:
    years, gain = int(row["years"]), float(row["penalty_gain_p50"])
    failures = draws.normal(90_100, 300, years).round()
    of_years = {
        "failures": failures,
        "failures_skipped": (failures * 0.005727).round(),
        "repairs": (failures * 0.9942).round(),
        "failures_kept": draws.normal(465, 20, years).round(),
        "penalty_gain_p50": draws.normal(gain, 0.01 * gain, years),
        "penalty_gain_max": draws.normal(6 * gain, 0.01 * gain, years),
        "capacity_decrease_share_max": np.full(years, row["capacity_decrease_share_max"]),
    }
    share = np.linspace(0, 1, 401)
    each = np.repeat(np.arange(years), share.size)
    time_s = 345_600.0 + np.arange(0, 365 * 24) * 3600.0
    events = {
        "time_s": time_s,
        "effective_penalty": np.full(time_s.size, row["penalty_mean"]),
        "paths_least": np.full(time_s.size, 192 * row["constraint_share"]),
        "capacity_gbps_least": 19_200 * (0.95 - 0.01 * (np.arange(time_s.size) % 24 == 0)),
    }
    tables = {
        "years": {"year": np.arange(years), **of_years},
        "shares": {
            "year": each,
            "share": np.tile(share, years),
            "penalty_gain": gain ** np.tile(share, years),
            "capacity_decrease_share": np.tile(np.maximum(0, share - 0.9), years) * 0.02,
        },
        "events": events,
    }
    return {
        name: polars.DataFrame(
            {"protection": [row["protection"]] * len(next(iter(columns.values()))), **columns}
        )
        for name, columns in tables.items()
    }


MAKERS = {
    "fabric": fabric_run,
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
    made = MAKERS[job.experiment](job, seed)
    forward, rate = (str(job.settings.get(key, "")) for key in ("loss.forward", "link.rate"))
    if not forward.startswith("phy:"):
        return made
    scenario = {"experiment": job.experiment, "link": {"rate": rate}, "loss": {"forward": forward}}
    records = [{**row, "link_gbps": float(rate.removesuffix("Gbps"))} for row in made.records]
    return structs.replace(made, scenario=scenario, records=records)
