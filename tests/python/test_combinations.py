"""Every experiment with every protection on every backend: rows, or a refusal in one line."""

from __future__ import annotations

from typing import Any

import pytest

import lossylink
from lossylink.declared.backend import backend_names
from lossylink.declared.experiments import all_experiments
from lossylink.declared.protections import parse_protection, spellings
from lossylink.errors import RunError, UserError
from lossylink.linux.guest.rdma import missing_files
from lossylink.linux.kernel import find_kernel

PROTECTIONS = ("none", "lg", "lg-nb", "fec:5/1", "fec-model:5/1", "llr")
#: Settings that make each experiment tiny.
TINY: dict[str, dict[str, Any]] = {
    "stress": {"traffic.packets": 500},
    "tcp-fct": {"flow.trials": 3},
    "rdma-fct": {"flow.trials": 3},
    "workload": {"flow.trials": 3, "flow.distribution": "rpc"},
    "throughput": {"run.duration": "3ms", "run.warmup": 0, "run.cooldown": 0},
    "timeline": {
        "run.duration": "3ms",
        "run.warmup": 0,
        "run.cooldown": 0,
        "timeline.corruption": "1ms",
        "timeline.protection": "2ms",
        "timeline.bin": "1ms",
    },
    "fabric": {"fabric.topology": "fat-tree:k=4", "traffic.packets": 500, "run.looks": 500},
    "fec": {"run.duration": "3ms", "run.warmup": 0, "run.cooldown": 0},
    "mathis": {"grid.mss": 1460, "path.rtt": "3ms", "loss": "10%", "run.duration": "1s", "run.warmup": 0},
}
#: What a machine of two cores emulates.
LIVE = {"link.rate": "100Mbps", "transport.congestion_control": "cubic"}


class NoLabError(RunError):
    """Stands for the lab that would have been built here."""


@pytest.fixture(autouse=True)
def no_lab(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise NoLabError("a lab would be built here")

    monkeypatch.setattr("lossylink.linux.lab.lab.Lab.up", refuse)
    # What a lab would need is there: it is the preparation that is tried.
    monkeypatch.setattr("shutil.which", lambda program: f"/usr/bin/{program}")


def outcome_of(experiment: str, protection: str, backend: str, **more: Any) -> str:
    """Run the combination and return what came of it: rows, or who refused it."""
    settings = TINY[experiment] | more
    if backend == "live":
        keys = all_experiments()[experiment].keys
        settings |= {key: value for key, value in LIVE.items() if key in keys}
    try:
        run = lossylink.run(experiment, protection=[protection], settings=settings, backend=backend, seed=1)
    except NoLabError:
        return "lab"
    except (UserError, RunError) as error:
        assert "\n" not in str(error)
        assert str(error)
        return "refused"
    assert run.rows["protection"].to_list() == [protection]
    return "rows"


@pytest.mark.parametrize("protection", PROTECTIONS)
@pytest.mark.parametrize("backend", backend_names())
@pytest.mark.parametrize("experiment", sorted(all_experiments()))
def test_rows_or_one_line(experiment: str, backend: str, protection: str) -> None:
    outcome = outcome_of(experiment, protection, backend)
    lacks_verbs = experiment == "rdma-fct" and bool(missing_files())
    is_missing = backend == "kernel" and (find_kernel() is None or lacks_verbs)
    if backend in all_experiments()[experiment].refused or is_missing:
        assert outcome == "refused"
    elif backend == "live":
        assert outcome == ("lab" if parse_protection(protection).family.is_live else "refused")
    elif parse_protection(protection).family.is_live:
        assert outcome == "rows"


@pytest.mark.parametrize("protection", PROTECTIONS)
@pytest.mark.parametrize("loss", [0, 1])
@pytest.mark.parametrize("experiment", sorted(all_experiments()))
def test_no_loss_and_nothing_but_loss_give_rows(experiment: str, loss: int, protection: str) -> None:
    losses: dict[str, float] = {"loss.forward": loss, "loss.reverse": loss}
    if experiment == "workload":
        # Flows go on to come while the last one is waited for: few of them.
        losses["flow.load"] = 1e-5
    # Mathis's law has no rate at either, and a fabric takes no loss but that of its failures.
    refuses = experiment == "mathis" or (experiment, loss) == ("fabric", 1)
    assert outcome_of(experiment, protection, "sim", **losses) == ("refused" if refuses else "rows")


def test_rdma_flows_are_not_measured_as_tcp() -> None:
    settings = LIVE | {"transport.protocol": "rdma"}
    with pytest.raises(UserError, match="simulated only"):
        lossylink.run("throughput", protection=["none"], settings=settings, backend="live")


def test_every_experiment_is_tried() -> None:
    assert TINY.keys() == all_experiments().keys()


def test_every_protection_is_tried() -> None:
    assert {text.partition(":")[0] for text in PROTECTIONS} == {spelling.word for _, spelling in spellings()}
