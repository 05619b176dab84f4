"""The catalogue of the explorer as the page reads it, written apart from the reading of the package."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from lossylink.planning.explorer.merging import without_nulls
from lossylink.scenario.resolving import resolve

Json = dict[str, Any]


def holds(rule: Mapping[str, Any], state: Mapping[str, Any]) -> bool:
    return all(state.get(knob) in values for knob, values in rule.get("when", {}).items())


def fill(base: Json, rules: Sequence[Json], state: Mapping[str, Any]) -> Any:
    result: Any = base
    for rule in rules:
        if "patch" in rule and holds(rule, state):
            result = apply(result, substitute(rule["patch"], state))
    return result


def apply(target: Any, patch: Any) -> Any:
    """The pseudo-code of RFC 7396, section 2."""
    if not isinstance(patch, dict):
        return patch
    target = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            target.pop(name, None)
        else:
            target[name] = apply(target.get(name), value)
    return target


def substitute(value: Any, state: Mapping[str, Any]) -> Any:
    if isinstance(value, dict) and "$" in value:
        assert value.keys() <= {"$", "times", "plus", "whole"}
        product = state[value["$"]] * value["times"]
        if value.get("whole"):
            product = int(Decimal(product).to_integral_value(ROUND_HALF_UP))
        return product + value.get("plus", 0)
    if isinstance(value, dict):
        return {key: substitute(inner, state) for key, inner in value.items()}
    return [substitute(inner, state) for inner in value] if isinstance(value, list) else value


def settings(rules: Sequence[Json], state: Mapping[str, Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    for rule in rules:
        if holds(rule, state):
            for key, text in rule.get("settings", {}).items():
                found[key] = re.sub(r"\{([^}]+)\}", lambda hole: script_text(state[hole[1]]), text)
    return found


def script_text(value: Any) -> str:
    """Write a number as JavaScript does, as far as a knob goes."""
    if isinstance(value, str):
        return value
    if float(value).is_integer():
        return str(int(value))
    mantissa, e, exponent = repr(float(value)).partition("e")
    if not e and abs(value) < 1e-3:  # Python writes 0.0001, and so does JavaScript, which goes on to 1e-7
        return repr(float(value))
    if e and int(exponent) >= -6:
        return f"{Decimal(repr(float(value))):f}"
    return f"{mantissa}e{int(exponent)}" if e else mantissa


def label(spelling: Json, state: Json) -> str:
    """The text of a protection with the options that differ from their defaults."""
    parts = []
    if "argument" in spelling:
        parts.append("/".join(script_text(state[knob["id"]]) for knob in spelling["argument"]["knobs"]))
    chosen = [knob for knob in spelling["options"] if state[knob["id"]] != knob["default"]]
    parts += [f"{knob['id']}={script_text(state[knob['id']])}" for knob in chosen]
    return str(spelling["word"]) + (f":{','.join(parts)}" if parts else "")


def random_state(knobs: Sequence[Json], draw: random.Random, only: Mapping[str, Any]) -> Json:
    """Draw a state, and leave out what it hides."""
    state: Json = {}
    for knob in knobs:
        if knob["kind"] == "choice":
            values = only.get(knob["id"], [choice["value"] for choice in knob["choices"]])
            state[knob["id"]] = draw.choice(values)
            continue
        low, high = knob["min"], knob["max"]
        share = draw.choice((0.0, 1.0, *(draw.random() for _ in range(8))))
        value = low * (high / low) ** share if knob["scale"] == "log" else low + share * (high - low)
        state[knob["id"]] = round(value) if knob["whole"] else float(f"{value:.3g}")
    return {knob["id"]: state[knob["id"]] for knob in knobs if holds(knob, state)}


def as_python_has_it(configuration: Json) -> Json:
    """Turn bursts by their mean and length into the chances of the chain that the core makes of them."""
    forward = configuration["loss"]["forward"]
    if "burst" not in forward or forward["model"] != "gilbert-elliott":
        return configuration
    mean, burst = forward["mean"], forward["burst"]
    chances = {"p": mean / (burst * (1 - mean)), "r": 1 / burst, "loss_good": 0.0, "loss_bad": 1.0}
    loss = {**configuration["loss"], "forward": {"model": "gilbert-elliott"} | chances}
    return {**configuration, "loss": loss}


def as_lossylink_resolves(command: str, said: Mapping[str, str]) -> Json:
    """Return the configuration of a command line, as JSON has it, without null members."""
    scenario = resolve(command, settings=said, protection=["none"])
    found: Json = json.loads(json.dumps(without_nulls(scenario.setups[0].configuration)))
    return found
