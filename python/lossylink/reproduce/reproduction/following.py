"""Follows every fitted or assumed value of a profile to the claims whose figures it moves.

Each value is raised by half, or halved if it is a share, which has an end. Everything that uses its profile
runs again, and what moves is written down. A maintainer does so after a change of a profile, which takes a
quarter of an hour::

    python -m lossylink.reproduce.reproduction.following [EXPERIMENT ...]
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lossylink._package import published
from lossylink._package.resources import UNSOURCED
from lossylink.reproduce.framework.model import (
    QUICK_DIVISOR,
    Finished,
    Job,
    Judgement,
    Outcome,
    PublishedExperiment,
    Scale,
    judge,
)
from lossylink.reproduce.growth.amounts import DURATION, amount_of, with_amount
from lossylink.reproduce.reproduction import registry
from lossylink.results.directory import write_json
from lossylink.running import runner
from lossylink.running.run import Run
from lossylink.scenario.profiles import load_profile
from lossylink.scenario.resolving import altered, resolve
from lossylink.scenario.scenario import Scenario

KEPT: Final = Path(__file__).parents[1] / "following.json"
FACTOR: Final = 1.5
"""How much a value is raised: enough to be seen beside sampling errors."""
MOVED: Final = 1.05
"""A figure that leaves its place by less than a twentieth moves only if its verdict does."""
DEFINITE: Final = {Outcome.HOLDS, Outcome.SET_UP, Outcome.FAILS, Outcome.REFUTED}
"""Verdicts whose change counts; another may change with the trials alone."""
NOISE: Final = 3.0
"""A figure without an interval moves if it leaves by so many times what another seed moves it."""
FROM_NOTHING: Final[Mapping[str, float]] = {"ae-hosts:receive_segment_ns": 100.0}
"""What a value of zero is raised to."""
ENOUGH_TRIALS: Final = 80_000
"""Of jobs that are not heavy: a 99.9th percentile then is known to a few hundredths."""
HEAVY: Final = 3.0
"""Seconds of work from which an experiment is followed in its quick form."""

LONGEST: Final = 100.0
"""Seconds of work beyond which an experiment is left out: all values would take hours."""


@dataclass(frozen=True)
class Value:
    """A value of a profile that no source gives."""

    kind: str
    """``switch`` or ``host``."""
    profile: str
    key: str
    origin: str
    """``fitted``, ``assumed`` or ``split``: an assumed share of a sum that is published or fitted."""

    @property
    def name(self) -> str:
        """As claims name it."""
        return f"{self.profile}:{self.key}"

    @property
    def is_share(self) -> bool:
        """Whether it lies between 0 and 1."""
        return self.key.endswith("_share")

    def raised(self, table: Mapping[str, Any]) -> dict[str, Any]:
        """The profile with the value raised by half; a switch is thrown, and a share halved."""
        value = table[self.key]
        if isinstance(value, bool):
            return {**table, self.key: not value}
        if self.is_share:
            return {**table, self.key: value / 2}
        if isinstance(value, list):
            return {**table, self.key: [[share, FACTOR * ns] for share, ns in value]}
        higher = FROM_NOTHING[self.name] if value == 0 else FACTOR * value
        return {**table, self.key: type(value)(higher)}


def values() -> tuple[Value, ...]:
    """Every value that no source gives."""
    table = tomllib.loads(UNSOURCED.read_text(encoding="utf-8"))
    return tuple(
        Value(kind, profile, key, origin)
        for kind, profiles in table.items()
        for profile, origins in profiles.items()
        for origin, keys in origins.items()
        for key in keys
    )


def fingerprint() -> str:
    """A hash of their profiles: another one means that what was followed may lead elsewhere."""
    kinds = {value.profile: value.kind for value in values()}
    tables = {profile: load_profile(kind, profile) for profile, kind in kinds.items()}
    return hashlib.sha256(json.dumps(tables, sort_keys=True).encode()).hexdigest()[:16]


def scenario_of(job: Job, *, seed: int) -> Scenario:
    """What a job runs."""
    settings = dict(job.settings)
    return resolve(job.experiment, settings=settings, protection=job.protections, seed=seed + job.seed_offset)


def raised(scenario: Scenario, value: Value) -> Scenario | None:
    """The scenario with the value raised; nothing if it does without that profile."""
    section = getattr(scenario.values, value.kind)
    if section is None or section.profile != value.profile:
        return None
    if value.kind == "switch":
        return altered(scenario, switch=value.raised(scenario.switch))
    assert scenario.host is not None
    return altered(scenario, host=value.raised(scenario.host))


def work_s(experiment: PublishedExperiment) -> float:
    """Seconds that an experiment takes in full, about."""
    return sum(job.weight for job in experiment.jobs(Scale(1)))


def with_enough(job: Job) -> Job:
    """The job with as many trials as show what a value moves, if it has trials that may be raised."""
    if job.grows in {"", DURATION}:
        return job
    return with_amount(job, max(ENOUGH_TRIALS, amount_of(job)))


class Followed:
    """One experiment: its claims as they are, with another seed, and with any value raised."""

    def __init__(self, experiment: PublishedExperiment) -> None:
        """Run it as it is, and once more with another seed."""
        self.experiment = experiment
        is_heavy = work_s(experiment) > HEAVY or experiment.on_request
        jobs = experiment.jobs(Scale(QUICK_DIVISOR if is_heavy else 1))
        self.jobs = jobs if is_heavy else tuple(map(with_enough, jobs))
        self.runs = {job.key: runner.run_scenario(scenario_of(job, seed=1)) for job in self.jobs}
        self.found = self._judged(self.runs)
        again = {job.key: runner.run_scenario(scenario_of(job, seed=2)) for job in self.jobs}
        self.again = self._judged(again)

    def _judged(self, runs: Mapping[str, Run]) -> dict[str, Judgement]:
        claims = self.experiment.claims(published.load())
        return {claim.text: judge(claim, Finished(runs)).judgement for claim in claims}

    def moved_by(self, value: Value) -> dict[str, list[float]]:
        """Figures as they are and with the value raised, of the claims that it moves."""
        scenarios = {job.key: raised(scenario_of(job, seed=1), value) for job in self.jobs}
        runs = {key: runner.run_scenario(scenario) for key, scenario in scenarios.items() if scenario}
        if not runs:
            return {}
        return dict(_moves(self.found, self.again, self._judged({**self.runs, **runs})))


def _moves(
    found: Mapping[str, Judgement], again: Mapping[str, Judgement], changed: Mapping[str, Judgement]
) -> Iterator[tuple[str, list[float]]]:
    for text, before in found.items():
        here, other, there = before.here, again[text].here, changed[text].here
        if here is None or other is None or there is None:
            continue
        figures = [float(f"{here.value:.4g}"), float(f"{there.value:.4g}")]
        verdicts = [before.outcome, again[text].outcome, changed[text].outcome]
        if DEFINITE.issuperset(verdicts) and verdicts[0] == verdicts[1] != verdicts[2]:
            yield text, figures
            continue
        if not here.is_exact and here.low <= there.high and there.low <= here.high:
            continue
        noise = _distance(here.value, other.value) if here.is_exact else 0.0
        if _distance(here.value, there.value) > max(math.log(MOVED), NOISE * noise):
            yield text, figures


def _distance(one: float, other: float) -> float:
    """How far apart two figures are, as the logarithm of their ratio."""
    if one == other:
        return 0.0
    return abs(math.log(one / other)) if one * other > 0 else math.inf


def load(path: Path = KEPT) -> dict[str, Any]:
    """What was followed last: ``fingerprint``, and ``moved`` by value, experiment and claim."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def main(names: Sequence[str]) -> None:
    """Follow all values through these experiments, or through all, and keep what they move."""
    moved: dict[str, dict[str, Any]] = {value.name: {} for value in values()}
    if names:
        moved |= {name: kept for name, kept in load()["moved"].items() if name in moved}
    left_out = [one.name for one in registry.EXPERIMENTS if work_s(one) > LONGEST]
    for experiment in registry.EXPERIMENTS:
        if experiment.name in left_out or (names and experiment.name not in names):
            continue
        followed = Followed(experiment)
        for value in values():
            found = followed.moved_by(value)
            print(f"{experiment.name}: {value.name} moves {len(found)} claims", file=sys.stderr)
            moved[value.name].pop(experiment.name, None)
            if found:
                moved[value.name][experiment.name] = found
        kept = {"factor": FACTOR, "fingerprint": fingerprint(), "left_out": left_out, "moved": moved}
        write_json(KEPT, kept)


if __name__ == "__main__":
    main(sys.argv[1:])
