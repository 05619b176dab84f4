"""One set of names: `run` takes what `reproduce --only` takes, and means the same by it."""

from __future__ import annotations

import pytest

from lossylink.declared.experiments import all_experiments
from lossylink.errors import UserError
from lossylink.reproduce.framework.model import Job, Scale
from lossylink.reproduce.reproduction import registry
from lossylink.scenario.fingerprint import fingerprint
from lossylink.scenario.packaged import packaged, title_of
from lossylink.scenario.resolving import resolve
from lossylink.scenario.scenario import Scenario


def job_of(name: str, key: str) -> Job:
    experiment = next(one for one in registry.WRITTEN if one.name == name)
    return next(job for job in experiment.jobs(Scale()) if job.key == key)


def same(one: Scenario, other: Scenario) -> bool:
    """Whether two scenarios give the same rows."""
    return fingerprint(one, "") == fingerprint(other, "")


@pytest.mark.parametrize("name", registry.names())
def test_run_knows_every_name_of_reproduce(name: str) -> None:
    assert resolve(name).protections


def test_every_packaged_scenario_is_a_name_of_reproduce() -> None:
    assert set(packaged()) <= set(registry.names())
    assert not set(packaged()) & set(all_experiments())
    assert all(title_of(path) for path in packaged().values())


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("tcp-fct-143", "loss 1e-3"),
        ("tcp-fct-2mb", "loss 1e-3"),
        ("ablation", "loss 1e-3"),
        ("protections", "400G, 100 m, loss 1e-3"),
        ("trade", "rs272 llr, 100G, 50 m, 24,387 B, 0.0004"),
        ("cliff", "rdma-fct, rs544, 100G, loss 1e-3"),
    ],
)
def test_a_scenario_is_what_reproduce_runs_by_that_name(name: str, key: str) -> None:
    job = job_of(name, key)
    reproduced = resolve(
        job.experiment, settings=dict(job.settings), protection=list(job.protections), seed=1
    )
    assert same(resolve(name, seed=1), reproduced)
    assert not same(resolve(name, seed=1, settings={"loss.forward": "2e-3"}), reproduced)


def test_a_word_that_is_neither_names_the_nearest() -> None:
    with pytest.raises(
        UserError, match="unknown experiment or scenario 'tcp-fct-144'; did you mean 'tcp-fct-143'"
    ):
        resolve("tcp-fct-144")
