"""The fec experiment: every statement of the source under its number, and measures that can fail."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs

import lossylink
from lossylink._package.published import load
from lossylink.charts.drawing import save
from lossylink.reproduce.experiments.fec import EXPERIMENT, jobs
from lossylink.reproduce.experiments.fec.measures import dropped_share, residual_deviation
from lossylink.reproduce.framework.model import (
    QUICK_DIVISOR,
    Claim,
    Finished,
    Outcome,
    Scale,
    Verdict,
    judge,
)
from lossylink.reproduce.reproduction import registry
from lossylink.running.run import Run
from lossylink.theory.fec import residual_loss_ratio

from .synthetic import synthetic_runner

PUBLISHED = load()
FRAMES = jobs.stress_job(1e-1)
REFUTED = {8, 22, 25, 26, 31, 33}
"""Statements of which a part is contradicted in a world that is otherwise as published."""


def numbers(claim: Claim) -> tuple[int, ...]:
    """The statements that a claim tests."""
    return tuple(int(number) for number in re.findall(r"\d+", claim.source))


def finished_runs(scale: Scale) -> Finished:
    return Finished(
        {
            job.key: synthetic_runner(job, seed=1, threads=1, report=lambda _done, _total: None)
            for job in EXPERIMENT.jobs(scale)
        }
    )


def verdicts(finished: Finished) -> list[Verdict]:
    return [judge(claim, finished) for claim in EXPERIMENT.claims(PUBLISHED)]


@pytest.fixture(scope="module")
def full() -> Finished:
    return finished_runs(Scale())


def test_every_statement_has_a_verdict() -> None:
    covered = {number for claim in EXPERIMENT.claims(PUBLISHED) for number in numbers(claim)}
    assert covered == set(range(1, 34))


def test_statements_that_are_wrong_are_refuted(full: Finished) -> None:
    refuted = {
        number
        for verdict in verdicts(full)
        if verdict.judgement.outcome is Outcome.REFUTED
        for number in numbers(verdict.claim)
    }
    assert refuted == REFUTED


def test_a_world_that_is_as_published_fails_nothing(full: Finished) -> None:
    failed = [
        verdict.claim.source for verdict in verdicts(full) if verdict.judgement.outcome is Outcome.FAILS
    ]
    assert failed == ["statement 18"]  # 41 us: the hosts of their test bed, which these runs do not have


@pytest.mark.parametrize(
    ("divisor", "size", "outcome"),
    [
        (1, ("10.0 s", "25.0 trials"), Outcome.SET_UP),
        (QUICK_DIVISOR, ("0.500 s", "4.00"), Outcome.UNDECIDED),
    ],
)
def test_the_size_of_the_experiment_is_part_of_the_set_up(
    divisor: int, size: tuple[str, str], outcome: Outcome
) -> None:
    found = {numbers(one.claim): one.judgement for one in verdicts(finished_runs(Scale(divisor)))}
    for number, text in zip((5, 6), size, strict=True):
        assert found[(number,)].outcome is outcome
        assert f"{text}" in found[(number,)].reason


def changed(finished: Finished, job: str, protection: str, key: str, value: float) -> Finished:
    """All runs with one number of one row replaced."""
    run = finished.run(job)
    records = [{**row, key: value} if row["protection"] == protection else row for row in run.records]
    return Finished({**finished.runs, job: structs.replace(run, records=records)})


@pytest.mark.parametrize(
    ("number", "job", "protection", "key", "value"),
    [
        (1, FRAMES, "fec-model:5/5", "octets_header", 0.0),
        (1, FRAMES, "fec-model:25/1", "frames_simulated", 4_000_000.0),
        (2, FRAMES, "fec-model:25/5", "actual_loss_rate", 0.11),
        (3, FRAMES, "fec-model:25/5", "latency_us_recovered_mean", 10.0),
        (4, FRAMES, "fec-model:50/5", "effective_loss_rate", 0.05),
        (7, "no loss", "none", "throughput_gbps", 4.7),
        (11, "loss 1e-2", "none", "throughput_gbps", 9.9),
        (13, "no loss", "none", "latency_us_mean", 9_000.0),
        (14, "loss 1e-1", "fec-model:5/5", "queue_drops_parity", 0.0),
        (15, "loss 1e-2", "fec-model:5/5", "queue_bytes_max", 4e5),
        (17, "host at 4.5 Gb/s, loss 1e-2", "fec-model:5/5", "queue_bytes_max", 3e4),
        (21, FRAMES, "fec-model:5/5", "octets_parity", 1.0),
        (24, "no loss", "fec-model:5/5", "latency_us_mean", 2_000.0),
        (26, jobs.stress_job(0.0), "fec-model:5/5", "effective_link_speed_gbps", 5.2),
        (28, jobs.UDP_SMOOTH, "fec-model:5/5", "latency_intact_us_mean", 50.0),
        (29, jobs.UDP_SMOOTH, "fec-model:50/5", "latency_recovered_us_mean", 200.0),
        (30, jobs.UDP_BURSTY, "fec-model:50/5", "latency_recovered_us_max", 400.0),
        (31, "loss 1e-2", "fec-model:25/5", "latency_recovered_us_mean", 9_000.0),
        (32, "loss 1e-2", "fec-model:25/5", "queue_bytes_mean", 10.0),
    ],
)
def test_a_world_that_differs_fails(
    full: Finished, number: int, job: str, protection: str, key: str, value: float
) -> None:
    found = verdicts(changed(full, job, protection, key, value))
    outcomes = {verdict.judgement.outcome for verdict in found if number in numbers(verdict.claim)}
    assert Outcome.FAILS in outcomes


def test_a_share_of_drops_counts_what_was_made(full: Finished) -> None:
    assert dropped_share(full, "loss 1e-2", "fec-model:5/5", "parity") == pytest.approx(1000 / 1_001_000)
    assert dropped_share(full, "loss 1e-2", "fec-model:5/5", "data") == pytest.approx(1 / 1_000_001)


@pytest.mark.parametrize(("k", "h"), [(5, 1), (25, 5), (50, 5)])
def test_losses_of_a_block_stay_together(k: int, h: int) -> None:
    """Residual losses of drawn blocks scatter as the closed form says, more than independent ones would."""
    draws = np.random.default_rng(7)
    loss, blocks, repeats = 0.1, 400, 300
    lost = draws.random((repeats, blocks, k + h)) < loss
    unrecovered = np.where(lost.sum(axis=2) > h, lost[:, :, :k].sum(axis=2), 0)
    rates = unrecovered.sum(axis=1) / (blocks * k)
    expected = residual_deviation(k, h, loss, blocks * k)
    assert rates.std(ddof=1) == pytest.approx(expected, rel=0.15)  # 4 % expected of 300 draws
    mean = float(residual_loss_ratio(data_packets=k, parity_packets=h, loss_ratio=loss))
    assert rates.mean() == pytest.approx(mean, abs=4 * expected / repeats**0.5)
    assert expected > (mean * (1 - mean) / (blocks * k)) ** 0.5


def test_the_suite_runs_in_full_only_when_it_is_named() -> None:
    def scale(only: list[str] | None, *, quick: bool = False) -> int:
        chosen = registry.choose(only, quick=quick)
        return next(one.scale.divisor for one in chosen if one.experiment.name == "fec")

    assert scale(["fec"]) == 1
    assert scale(None) == scale(["fec"], quick=True) == QUICK_DIVISOR


def test_the_grid_holds_every_point_once() -> None:
    full = {job.key: job for job in EXPERIMENT.jobs(Scale())}
    for loss in jobs.LOSS_RATES:
        for protection in jobs.PROTECTIONS:
            job = full[jobs.grid_job(loss, protection)]
            assert protection in job.protections
            assert (job.settings["flow.trials"], job.settings["run.duration"]) == (25, "10000ms")


def short(protection: list[str], **settings: object) -> Run:
    """A moment of the experiment as `reproduce` sets it up."""
    job = next(job for job in EXPERIMENT.jobs(Scale(QUICK_DIVISOR)) if job.key == "loss 1e-1")
    own = {"flow.trials": 1, "run.duration": "100ms"}
    named = {key.replace("__", "."): value for key, value in settings.items()}
    # With this seed the link does not lose the first packet, the SYN, which is sent again after 1 s.
    return lossylink.run("fec", protection=protection, settings={**job.settings, **own, **named}, seed=1)


def test_the_simulator_drops_parity_first_and_a_limited_host_drops_nothing() -> None:
    full = short([jobs.STRONGEST]).rows.row(0, named=True)
    assert full["throughput_gbps"] > 4.4
    assert full["queue_bytes_max"] == 1_000_000
    assert full["queue_drops_parity"] > 10 * full["queue_drops_data"]
    limited = short([jobs.STRONGEST], host__nic_rate="4.5Gbps").rows.row(0, named=True)
    assert limited["queue_bytes_max"] < 20_000
    assert (limited["queue_drops_parity"], limited["queue_drops_data"]) == (0, 0)


def test_figures_and_charts_of_a_real_moment(tmp_path: Path) -> None:
    run = short(["none", jobs.STRONGEST], loss__forward="1e-2", flow__trials=2)
    finished = Finished({"loss 1e-2": run})
    sheets = EXPERIMENT.sheets(finished, EXPERIMENT.charts(finished, PUBLISHED))
    assert {sheet.identifier for sheet in sheets} == {
        *("fec-throughput-gbps", "fec-cwnd-packets-mean", "fec-latency-us-mean", "fec-latency-us-p99"),
        *("fec-queue-bytes-mean", "fec-queue-bytes-max", "fec-trace"),
    }
    for sheet in sheets:
        save(sheet, tmp_path, formats=("png",))
    identifiers = {chart.identifier for chart in EXPERIMENT.charts(finished, PUBLISHED)}
    assert {"fec-throughput-gbps", "fec-trace-latency-us-ewma", "fec-trace-queue-bytes"} <= identifiers
