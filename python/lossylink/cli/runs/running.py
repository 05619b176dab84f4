"""One experiment or scenario file: rows on the screen, everything in a run directory."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from lossylink._package.progress import progress_bar
from lossylink.cli.exits import FAILED, INTERRUPTED, leave
from lossylink.cli.runs.tables import show_rows
from lossylink.cli.runs.trap import check_trap, show_trap
from lossylink.errors import UserError
from lossylink.results.directory import Staged, default_directory, remove, staged, write_run
from lossylink.results.states import simulated
from lossylink.running import runner
from lossylink.running.run import Run
from lossylink.scenario.resolving import resolve
from lossylink.scenario.scenario import Scenario


def carry_out(
    experiment: str,
    *,
    protection: Sequence[str],
    settings: Sequence[str],
    seed: int | None,
    as_json: bool,
    every_key: bool,
    with_csv: bool,
    output: Path | None,
    replace: bool,
    strict: bool,
    pcap: str | None,
    state_at: Sequence[str],
    trap: str | None,
    rare: bool,
    threads: int | None,
    backend: str | None,
) -> None:
    """Run what the options of ``lossylink run`` ask for, and show a row for each protection."""
    if replace and output is None:
        raise UserError("--replace takes the place of a result in --output DIR; add --output")
    if with_csv and as_json and output is None:
        raise UserError("--csv writes files and --json keeps none; add --output DIR")
    chosen = parse_settings(settings)
    chosen |= {"run.threads": threads} if threads is not None else {}
    chosen |= {"run.backend": backend} if backend is not None else {}
    chosen |= {"run.rare": True} if rare else {}
    scenario = resolve(experiment, settings=chosen, protection=protection or None, seed=seed, strict=strict)
    if trap is not None:
        check_trap(scenario, output=output, pcap=pcap, state_at=state_at)
        show_trap(scenario, trap, as_json=as_json)
        return
    with ExitStack() as stack:
        directory = _open_directory(stack, scenario, output, as_json, replace)
        recording = stack.enter_context(_recording(pcap))
        _announce(scenario, as_json=as_json)
        result = _with_progress(runner, scenario, recording, state_at)
        kept = _keep(stack, directory, result, with_csv=with_csv)
    place = kept.target if kept is not None else None
    _show(result, as_json=as_json, every_key=every_key, directory=place)
    _finish(result, strict=strict, directory=place)


def parse_settings(
    words: Sequence[str], *, option: str = "--set", example: str = "link.rate=25Gbps"
) -> dict[str, Any]:
    """Split ``KEY=VALUE`` words; values stay text, the key decides how they are read.

    Examples
    --------
    >>> parse_settings(["link.rate=10G"])
    {'link.rate': '10G'}
    """
    settings: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key.strip():
            raise UserError(f"{option} {word}: write KEY=VALUE, for instance {option} {example}")
        if key.strip() in settings:
            raise UserError(f"{option} {key.strip()} is given twice")
        settings[key.strip()] = value.strip()
    return settings


def _open_directory(
    stack: ExitStack, scenario: Scenario, output: Path | None, as_json: bool, replace: bool
) -> Staged | None:
    """Open the directory before the run, so that one that cannot be written costs no time."""
    if as_json and output is None:
        return None
    target = output or default_directory(scenario.experiment.name, scenario.describe())
    return stack.enter_context(staged(target, replace=replace))


@contextmanager
def _recording(pcap: str | None) -> Iterator[tuple[str, Path] | None]:
    """Give the hop and a partial file beside the wanted one; renamed when the run has ended well."""
    if pcap is None:
        yield None
        return
    hop, equals, name = pcap.partition("=")
    if not (hop and equals and name):
        raise UserError(f"--pcap {pcap}: write HOP=FILE, for instance sw2-sw6=link.pcapng")
    path = Path(name).expanduser()
    partial = path.with_name(f".{path.name}.partial")
    try:
        partial.touch()
    except OSError as error:
        raise UserError(f"--pcap: cannot write {path}: {error.strerror}") from None
    try:
        yield hop, partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _announce(scenario: Scenario, *, as_json: bool) -> None:
    """Say what is about to run; the loss is spelt out as ratio and percentage."""
    link = scenario.settings["link"]
    rate = f"{link['rate']}, {link['rate_back']} back" if "rate_back" in link else link["rate"]
    words = f"{scenario.experiment.name}: link {rate}, {_describe_losses(scenario)}"
    if scenario.reverse.mean != 0.0:
        words += f", reverse {scenario.reverse.describe()}"
    if scenario.loses_on_path:
        forward, back = scenario.path_losses
        words += f", behind the link {forward.describe()}, on the way back {back.describe()}"
    print(words, file=sys.stderr if as_json else sys.stdout, flush=True)
    for note in dict.fromkeys((*scenario.forward.notes, *scenario.reverse.notes)):
        print(f"note: {note}", file=sys.stderr)


def _describe_losses(scenario: Scenario) -> str:
    if scenario.fabric is not None:
        return str(scenario.fabric.topology)
    grid = scenario.values.grid
    if grid is not None and "forward" not in scenario.settings["loss"]:
        return f"forward loss ratios from {grid.loss_min:g} to {grid.loss_max:g}"
    return f"forward {scenario.forward.describe()}"


def _with_progress(
    runner: Any, scenario: Scenario, recording: tuple[str, Path] | None, state_at: Sequence[str]
) -> Run:
    with progress_bar(scenario.experiment.name) as progress:
        result: Run = runner.run_scenario(scenario, pcap=recording, state_at=state_at, progress=progress)
    return result


def _keep(stack: ExitStack, directory: Staged | None, result: Run, *, with_csv: bool) -> Staged | None:
    """Write the run into its staging directory; one in which nothing finished leaves nothing behind.

    One that was stopped takes no other result's place.
    """
    if directory is None:
        return None
    if not result.records:
        # What is given up vanishes with its context, which may have happened already.
        stack.pop_all()
        remove(directory.folder)
        return None
    write_run(directory.folder, result, with_csv=with_csv)
    if result.interrupted:
        directory.give_way()
    return directory


def _show(result: Run, *, as_json: bool, every_key: bool, directory: Path | None) -> None:
    if as_json:
        print(json.dumps(result.summary(), allow_nan=False))
        return
    show_rows(result.experiment, result.records, every_key=every_key, sample=result.sample)
    if result.states:
        for state in result.states:
            print(f"\n{simulated(state)}\n")
    if directory is not None:
        print(f"written to {os.fspath(directory)}/ in {result.wall_seconds:.1f} s")


def _finish(result: Run, *, strict: bool, directory: Path | None) -> None:
    if result.interrupted:
        print(f"interrupted: {_what_is_kept(result, directory)}", file=sys.stderr)
        leave(INTERRUPTED)
    failed = failed_checks(result) if strict else []
    if failed:
        print(f"error: {len(failed)} methodology checks failed: {'; '.join(failed)}", file=sys.stderr)
        leave(FAILED)


def _what_is_kept(result: Run, directory: Path | None) -> str:
    if not result.records:
        return "nothing had finished, so nothing is kept"
    counted = next((key for key in ("trials", "packets_sent") if key in result.records[0]), None)
    parts = [
        f"{row['protection']}" + (f" ({row[counted]:,} {counted.replace('_', ' ')})" if counted else "")
        for row in result.records
    ]
    place = f" in {directory}" if directory else ""
    return f"kept what had finished{place}: {', '.join(parts)}"


def failed_checks(result: Run) -> list[str]:
    """Return the messages of every methodology check that failed."""
    return [
        f"{row['protection']}: {name}: {verdict['message']}"
        for row in result.records
        for name, verdict in (row.get("checks") or {}).items()
        if verdict is not None and verdict["passed"] is False
    ]
