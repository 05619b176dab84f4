"""A hash of everything in a scenario that decides its result."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from msgspec import to_builtins

from lossylink.scenario.scenario import Scenario

#: Values that do not decide a result, or that the fingerprint holds in their resolved form.
_DECIDED_ELSEWHERE = ("title", "loss", "protection", "switch.profile", "host.profile", "run.threads")


def fingerprint(scenario: Scenario, version: str) -> str:
    """Return a hash of everything that decides the result; threads do not."""
    decisive = [
        *(version, scenario.experiment.name, scenario.seed, scenario.forward.native, scenario.reverse.native),
        *(
            scenario.switch,
            scenario.host,
            scenario.sizes and scenario.sizes.points,
            scenario.fabric
            and [scenario.fabric.failures, scenario.fabric.points and scenario.fabric.points.points],
            [[protection.label, protection.value] for protection in scenario.protections],
        ),
        *((loss.native for loss in scenario.path_losses) if scenario.loses_on_path else ()),
        _decisive_values(scenario),
    ]
    text = json.dumps(decisive, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _decisive_values(scenario: Scenario) -> dict[str, Any]:
    values: dict[str, Any] = to_builtins(scenario.values)
    for key in _DECIDED_ELSEWHERE:
        section, dot, leaf = key.partition(".")
        holder = values[section] if dot else values
        (holder or {}).pop(leaf or section, None)
    return values
