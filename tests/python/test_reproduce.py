"""`reproduce` around a made-up simulator: what runs, what is kept, what is said and with which exit code."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs
from rich.console import Console

from lossylink._package.published import load
from lossylink.declared.experiments import all_experiments
from lossylink.errors import RunError, UserError
from lossylink.reproduce import ReproduceResult, readme, reproduce
from lossylink.reproduce.framework.model import QUICK_DIVISOR, Basis, Finished, Job, Outcome, Scale, judge
from lossylink.reproduce.framework.runner import Report
from lossylink.reproduce.reproduction import registry
from lossylink.running.run import Run
from lossylink.scenario.resolving import resolve

from .conftest import Reproduced
from .synthetic import completion_run, stress_run, synthetic_runner

PUBLISHED = load()


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=140, color_system=None)


def run_synthetic(
    output: Path,
    console: Console,
    *,
    runner: Callable[..., Run] = synthetic_runner,
    only: Sequence[str] | None = None,
) -> ReproduceResult:
    return reproduce(
        output=output,
        only=only,
        runner=runner,
        console=console,
        progress=False,
        with_figures=False,
        command=["lossylink"],
    )


def printed(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_every_job_is_a_scenario_that_resolves() -> None:
    for experiment in registry.WRITTEN:
        for scale in (Scale(), Scale(QUICK_DIVISOR)):
            for job in experiment.jobs(scale):
                scenario = resolve(
                    job.experiment, settings=dict(job.settings), protection=list(job.protections), seed=1
                )
                assert [protection.label for protection in scenario.protections] == list(job.protections)


def test_quick_is_twenty_times_smaller() -> None:
    experiment = next(found for found in registry.EXPERIMENTS if found.name == "tcp-fct")
    full, quick = experiment.jobs(Scale()), experiment.jobs(Scale(QUICK_DIVISOR))
    assert [job.settings["flow.trials"] for job in full] == [5000, 5000]
    assert [job.settings["flow.trials"] for job in quick] == [250, 250]


def test_job_keys_are_unique_in_an_experiment() -> None:
    for experiment in registry.WRITTEN:
        keys = [job.key for job in experiment.jobs(Scale())]
        assert len(keys) == len(set(keys))


def test_tables_and_claims_are_printed_with_both_figures(tmp_path: Path, console: Console) -> None:
    result = run_synthetic(tmp_path, console, only=["tcp-fct"])
    text = printed(console)
    words = " ".join(text.split())
    assert (
        "99.9th percentile at least 15 times shorter with LinkGuardian "
        "(calibrated: ae-hosts:missed_tick_share): 17.4x published"
    ) in words
    assert "3,595" in text
    assert "assumed: ae-hosts:receive_latency, ae-hosts:network_one_way_ns" in words
    assert result.exit_code() == 0


def test_the_calibrated_column_is_never_called_a_prediction() -> None:
    stress = next(found for found in registry.EXPERIMENTS if found.name == "stress")
    speeds = [
        claim for claim in stress.claims(PUBLISHED) if "Gb/s" in claim.text or "generator" in claim.text
    ]
    assert speeds
    assert all(claim.basis is Basis.CALIBRATED for claim in speeds)


def test_summary_holds_every_verdict(reproduced: Reproduced) -> None:
    summary = json.loads((reproduced.folder / "reproduce.json").read_text(encoding="utf-8"))
    told = [verdict for experiment in summary["experiments"] for verdict in experiment["verdicts"]]
    assert [verdict["outcome"] for verdict in told] == [
        str(verdict.judgement.outcome) for verdict in reproduced.result.verdicts
    ]
    assert summary["interrupted"] is False
    assert (reproduced.folder / "tcp-fct" / "loss-1e-3" / "trials.parquet").is_file()


def test_an_interruption_keeps_what_had_finished(tmp_path: Path, console: Console) -> None:
    def stopped_in_tcp(job: Job, *, seed: int, threads: int, report: Report) -> Run:
        if job.key == "no loss":
            raise KeyboardInterrupt
        return synthetic_runner(job, seed=seed, threads=threads, report=report)

    result = run_synthetic(tmp_path, console, runner=stopped_in_tcp, only=["stress", "tcp-fct", "rdma-fct"])
    assert result.interrupted
    assert result.exit_code() == 1
    assert "Interrupted" in printed(console)
    assert "Partial." in (tmp_path / "report.html").read_text(encoding="utf-8")
    outcomes = {verdict.claim.text: verdict.judgement.outcome for verdict in result.verdicts}
    assert outcomes["99.9th percentile at least 15 times shorter with LinkGuardian"] is Outcome.HOLDS
    assert (
        outcomes["With LinkGuardian the 99.9th percentile is within 1.3 times that of a link without loss"]
        is Outcome.NOT_RUN
    )


def test_an_interrupted_run_counts_with_the_trials_it_has(tmp_path: Path, console: Console) -> None:
    def cut_short(job: Job, *, seed: int, threads: int, report: Report) -> Run:
        fewer = replace(job, settings={**job.settings, "flow.trials": 300})
        return structs.replace(completion_run(fewer, seed), interrupted="lg" in job.protections)

    result = run_synthetic(tmp_path, console, runner=cut_short, only=["tcp-fct"])
    assert result.interrupted
    assert not result.experiments[0].is_complete
    gain = result.verdicts[0].judgement
    assert gain.outcome is Outcome.UNDECIDED


def test_a_failed_run_leaves_the_others_alone(tmp_path: Path, console: Console) -> None:
    def broken(job: Job, *, seed: int, threads: int, report: Report) -> Run:
        if job.key == "tofino1, saturated":
            raise RunError("out of memory")
        return synthetic_runner(job, seed=seed, threads=threads, report=report)

    result = run_synthetic(tmp_path, console, runner=broken, only=["stress"])
    assert result.failures == {"stress, tofino1, saturated": "out of memory"}
    assert result.exit_code() == 1
    assert "out of memory" in printed(console)
    outcomes = [verdict.judgement.outcome for verdict in result.verdicts]
    assert outcomes.count(Outcome.NOT_RUN) == 1
    assert Outcome.HOLDS in outcomes


def test_strict_turns_a_failed_claim_into_an_exit_code(tmp_path: Path, console: Console) -> None:
    result = run_synthetic(tmp_path, console, only=["stress"])
    assert result.counts[Outcome.FAILS] > 0  # the ordered Tx buffer is smaller than published
    assert (result.exit_code(), result.exit_code(strict=True)) == (0, 1)


def test_an_unknown_experiment_is_refused_with_the_nearest_name(tmp_path: Path, console: Console) -> None:
    with pytest.raises(UserError, match="did you mean 'stress'"):
        run_synthetic(tmp_path, console, only=["stres"])
    with pytest.raises(UserError, match="no published experiment was named"):
        run_synthetic(tmp_path, console, only=[])


def test_an_output_that_cannot_be_written_is_told_before_anything_runs(
    tmp_path: Path, console: Console
) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")

    def must_not_run(job: Job, *, seed: int, threads: int, report: Report) -> Run:
        raise AssertionError(f"{job.key} ran")

    with pytest.raises(OSError, match="file"):
        run_synthetic(tmp_path / "file" / "report", console, runner=must_not_run)


def test_claims_of_runs_that_are_missing_are_not_run() -> None:
    for experiment in registry.WRITTEN:
        verdicts = [judge(claim, Finished({})) for claim in experiment.claims(PUBLISHED)]
        assert verdicts
        assert {verdict.judgement.outcome for verdict in verdicts} == {Outcome.NOT_RUN}
        assert experiment.charts(Finished({}), PUBLISHED) == ()
        tables = experiment.tables(Finished({}), PUBLISHED)
        assert all(cell.here is None for table in tables for row in table.rows for cell in row.cells)


def test_a_job_says_how_to_run_it_again() -> None:
    job = Job("a", "tcp-fct", ("none", "lg"), {"flow.trials": 250, "transport.timestamps": False})
    assert job.command(seed=7) == (
        "lossylink run tcp-fct --protection none --protection lg --set flow.trials=250 "
        "--set transport.timestamps=false --seed 7"
    )


def test_stress_speed_without_octet_counters_has_no_budget() -> None:
    job = Job("tofino1, generator", "stress", ("lg",), {"traffic.packets": 1000})
    run = stress_run(job, 1)
    stress = next(found for found in registry.EXPERIMENTS if found.name == "stress")
    assert len(stress.budgets(Finished({job.key: run}))) == 1
    bare = structs.replace(
        run, records=[{k: v for k, v in row.items() if k != "octets_copies"} for row in run.records]
    )
    assert stress.budgets(Finished({job.key: bare})) == ()


def test_the_readme_figure_is_drawn_from_finished_runs(
    tmp_path: Path, console: Console, capsys: pytest.CaptureFixture[str]
) -> None:
    assert readme.main([str(tmp_path / "runs"), str(tmp_path)]) == 2
    assert "run lossylink reproduce first" in capsys.readouterr().err
    run_synthetic(tmp_path / "runs", console, only=["tcp-fct"])
    assert readme.main([str(tmp_path / "runs"), str(tmp_path)]) == 0
    assert (tmp_path / "fct-ccdf.png").read_bytes().startswith(b"\x89PNG")


def test_figures_are_saved_for_papers(tmp_path: Path, console: Console) -> None:
    reproduce(output=tmp_path, only=["tcp-fct"], runner=synthetic_runner, console=console, progress=False)
    saved = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert saved == ["tcp-fct-times.pdf", "tcp-fct-times.png", "tcp-fct-times.svg"]


def test_experiments_on_request_run_in_full_only_when_named() -> None:
    sizes = {one.experiment.name: one.scale.divisor for one in registry.choose(None)}
    assert set(sizes) == set(registry.names())
    assert {name for name, size in sizes.items() if size > 1} == {"fec", "cliff", "trade"}
    named = registry.choose(["fec", "stress"])
    assert [(one.experiment.name, one.scale.divisor) for one in named] == [("stress", 1), ("fec", 1)]


def test_an_experiment_beyond_the_simulator_is_not_offered() -> None:
    offered = {experiment.name for experiment in registry.EXPERIMENTS}
    for experiment in registry.WRITTEN:
        assert (experiment.name in offered) == ("sim" not in all_experiments()[experiment.needs].refused)


def test_the_kernel_runs_what_has_hosts_that_it_can_be(tmp_path: Path, console: Console) -> None:
    assert set(registry.names("kernel")) < set(registry.names())
    assert {"stress", "tcp-fct", "rdma-fct", "throughput", "timeline"} <= set(registry.names("kernel"))
    with pytest.raises(UserError, match="unknown published experiment on the backend kernel 'workload'"):
        registry.choose(["workload"], backend="kernel")
    seen: list[Job] = []

    def runner(job: Job, *, seed: int, threads: int, report: Report) -> Run:
        seen.append(job)
        return synthetic_runner(job, seed=seed, threads=threads, report=report)

    def reproduced(backend: str) -> ReproduceResult:
        return reproduce(
            output=tmp_path,
            only=["tcp-fct"],
            backend=backend,
            runner=runner,
            console=console,
            progress=False,
            with_figures=False,
        )

    reproduced("kernel")
    assert {job.settings.get("run.backend") for job in seen} == {"kernel"}
    assert "--set run.backend=kernel" in seen[0].command(seed=1)
    seen.clear()
    # What the kernel gave is no result of the simulator, in the same directory.
    assert reproduced("sim").resumed == 0
    assert {job.settings.get("run.backend") for job in seen} == {None}


def test_tables_fit_a_narrow_terminal(reproduced: Reproduced) -> None:
    tables, _, _ = reproduced.printed.partition("Conclusion")
    lines = tables.splitlines()
    assert max(len(line.rstrip()) for line in lines) <= 80
    assert not any("…" in line for line in lines)
    assert reproduced.printed.count("Every variant (ours, not published)") == 1


def test_one_wide_terminal_takes_a_table_whole(console: Console, tmp_path: Path) -> None:
    run_synthetic(tmp_path, console, only=["tcp-fct"])
    header = next(line for line in printed(console).splitlines() if "published" in line)
    assert header.count("published") == 3
