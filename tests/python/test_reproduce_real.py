"""The claims of `reproduce` on rows of the simulator itself, in the quick form.

A quick run may leave a claim undecided. It must never say the contrary of a full run.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lossylink._package import published
from lossylink.reproduce.framework.model import (
    QUICK_DIVISOR,
    Finished,
    Outcome,
    PublishedExperiment,
    Scale,
    judge,
)
from lossylink.reproduce.framework.runner import simulate
from lossylink.reproduce.reproduction import registry

KNOWN = Path(__file__).with_name("known_verdicts.toml")
"""Outcomes of a full run, by experiment and claim: those that are neither ``holds`` nor ``set-up``."""
LONG = {"fec"}
"""Their quick form takes minutes; a full run is kept, and `test_reproduce_fec` tests their claims."""
CHOSEN = [one for one in registry.EXPERIMENTS if one.name not in LONG]
SETTLED = {Outcome.HOLDS, Outcome.SET_UP}
CONTRADICTIONS = {Outcome.FAILS, Outcome.REFUTED}


def outcomes(experiment: PublishedExperiment) -> Mapping[str, Outcome]:
    jobs = experiment.jobs(Scale(QUICK_DIVISOR))
    runs = {job.key: simulate(job, seed=1, threads=2, report=lambda _done, _total: None) for job in jobs}
    claims = experiment.claims(published.load())
    return {claim.text: judge(claim, Finished(runs)).judgement.outcome for claim in claims}


@pytest.mark.parametrize("experiment", CHOSEN, ids=[one.name for one in CHOSEN])
def test_a_quick_run_does_not_contradict_a_full_one(experiment: PublishedExperiment) -> None:
    known: dict[str, Any] = tomllib.loads(KNOWN.read_text(encoding="utf-8")).get(experiment.name, {})
    found = outcomes(experiment)
    assert known.keys() <= found.keys(), "a claim has another text; write the verdicts anew"
    if len(experiment.jobs(Scale(QUICK_DIVISOR))) == len(experiment.jobs(Scale(1))):
        assert Outcome.NOT_RUN not in found.values()
    contrary = {text for text, outcome in found.items() if outcome in CONTRADICTIONS}
    assert contrary <= {text for text, outcome in known.items() if Outcome(outcome) in CONTRADICTIONS}


def main() -> None:
    """Write the verdicts of a full run anew: python -m tests.python.test_reproduce_real REPORT_FOLDER."""
    summary = json.loads(Path(sys.argv[1], "reproduce.json").read_text(encoding="utf-8"))
    with KNOWN.open("w", encoding="utf-8") as file:
        for experiment in summary["experiments"]:
            verdicts = {one["claim"]: one["outcome"] for one in experiment["verdicts"]}
            open_ones = {text: outcome for text, outcome in verdicts.items() if outcome not in SETTLED}
            if experiment["name"] in LONG or not open_ones:
                continue
            file.write(f"[{experiment['name']}]\n")
            file.writelines(
                f"{json.dumps(text)} = {json.dumps(outcome)}\n" for text, outcome in open_ones.items()
            )
            file.write("\n")


if __name__ == "__main__":
    main()
