"""A trial of the study with its plan and its configuration, before anything has run."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from lossylink.running.mathis.design import PICOSECONDS_PER_SECOND, Design, Trial, trials
from lossylink.running.mathis.plan import Plan, plan_trial
from lossylink.theory import pftk

IP_TCP_HEADER_BYTES = 40


@dataclass(frozen=True, kw_only=True)
class Planned:
    """A trial ready to run; `config` is what the backend is told, the trial what was asked for."""

    trial: Trial
    plan: Plan
    config: dict[str, Any]
    labels: dict[str, Any] = field(default_factory=dict)
    """What the row carries to be told apart: the protection, or the set-up of a trap."""


def planned_trials(
    base: Mapping[str, Any],
    design: Design,
    *,
    seed: int,
    loss: Mapping[str, Any] | None = None,
    labels: Mapping[str, Any] | None = None,
) -> list[Planned]:
    """Plan every trial of a design.

    Parameters
    ----------
    base
        The simulator's configuration without the trial: `link`, `switch`, `host`, `transport` and so on
        in base units. A `run` section with a duration fixes the length of every trial.
    design, seed
        Which trials.
    loss
        Forward loss process of every trial in the simulator's words, in place of independent losses.
    labels
        Entries for every row, which the trial's own do not know.

    Raises
    ------
    ValueError
        The run that the base asks for leaves nothing to measure.
    """
    return [
        planned(base, trial, loss_events=design.loss_events, loss=loss, labels=labels)
        for trial in trials(design, seed=seed)
    ]


def planned(
    base: Mapping[str, Any],
    trial: Trial,
    *,
    loss_events: int,
    loss: Mapping[str, Any] | None = None,
    labels: Mapping[str, Any] | None = None,
) -> Planned:
    """Plan one trial and write its configuration."""
    transport = base.get("transport", {})
    plan = plan_trial(
        trial,
        loss_events=loss_events,
        link_rate_bps=base["link"]["rate_bps"],
        congestion_control=transport.get("congestion_control", "reno"),
        is_protected=base.get("protection", {}).get("family", "none") != "none",
        rto_min_s=_rto_min_s(transport),
    )
    plan = _with_fixed_length(plan, base.get("run"))
    config = copy.deepcopy(dict(base)) | {"experiment": "mathis", "seed": trial.seed}
    config["link"]["rate_bps"] = plan.link_rate_bps
    config["transport"] = dict(transport) | {"mss_bytes": trial.mss_bytes}
    config["path"] = {"rtt_ps": trial.rtt_ps}
    config["loss"] = dict(config.get("loss", {})) | {
        "forward": dict(loss) if loss is not None else {"model": "bernoulli", "p": trial.loss_ratio}
    }
    config["run"] = {"duration_ps": plan.duration_ps, "warmup_ps": plan.warmup_ps, "cooldown_ps": 0}
    return Planned(trial=trial, plan=plan, config=config, labels=dict(labels or {}))


def _rto_min_s(transport: Mapping[str, Any]) -> float:
    picoseconds = transport.get("rto_min_ps")
    return picoseconds / PICOSECONDS_PER_SECOND if picoseconds else pftk.LINUX_RTO_MIN_S


def _with_fixed_length(plan: Plan, run: Mapping[str, Any] | None) -> Plan:
    """Let a duration that was asked for win; its end, if any, is cut off like the start."""
    if not run or run.get("duration_ps") is None:
        return plan
    warmup = run.get("warmup_ps") or 0
    measured = run["duration_ps"] - warmup - (run.get("cooldown_ps") or 0)
    if measured <= 0:
        raise ValueError("run.warmup and run.cooldown leave nothing of run.duration to measure; lengthen it")
    segments = plan.segments * (warmup + measured) / plan.duration_ps
    return replace(plan, warmup_ps=warmup, measured_ps=measured, segments=segments, capped=False)


def overridden(config: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration with dotted keys replaced.

    Examples
    --------
    >>> overridden({"link": {"mtu_bytes": 4352}}, {"link.mtu_bytes": 1500})
    {'link': {'mtu_bytes': 1500}}
    """
    changed = copy.deepcopy(dict(config))
    for dotted, value in overrides.items():
        *sections, key = dotted.split(".")
        inner = changed
        for section in sections:
            inner = inner.setdefault(section, {})
        inner[key] = value
    return changed
