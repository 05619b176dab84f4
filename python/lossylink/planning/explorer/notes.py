"""What the figures of a view rest on: what was measured, what is extrapolated, and what is assumed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lossylink.planning.explorer.knobs import Choice
from lossylink.scenario.loss import parse_loss
from lossylink.scenario.profiles import beyond_measurement
from lossylink.scenario.scenario import Scenario
from lossylink.units import parse_rate


def notes_of(scenario: Scenario, knobs: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the notes of a scenario, and of the rates and codes that its knobs offer."""
    return [*_profiles(scenario), *_beyond(scenario, knobs.get("link.rate")), *_codes(knobs.get("loss.code"))]


def _profiles(scenario: Scenario) -> Iterator[dict[str, Any]]:
    """Yield where the values of the switch and the host are from."""
    is_calibrated = scenario.describe()["calibrated"]
    for kind, profile in (("switch", scenario.switch), ("host", scenario.host)):
        if profile is not None:
            text = f"{kind} profile {profile['name']}: {profile['source']}"
            yield {"kind": "calibrated" if is_calibrated[kind] else "assumed", "text": text}


def _beyond(scenario: Scenario, rate: Choice | None) -> Iterator[dict[str, Any]]:
    """Yield how far the switch was measured, with the rates beyond."""
    if rate is None:
        beyond = beyond_measurement(scenario.switch, rate_bps=scenario.values.link.rate)
        if beyond is not None:
            yield {"kind": "extrapolated", "text": beyond}
        return
    texts = {value: beyond_measurement(scenario.switch, rate_bps=parse_rate(value)) for value in rate.choices}
    yield from _grouped(rate, texts, "extrapolated")


def _codes(code: Choice | None) -> Iterator[dict[str, Any]]:
    """Yield what a run says of each code of a line."""
    if code is not None:
        texts = {
            value: "; ".join(parse_loss(f"phy:code={value},ber=0").notes) or None for value in code.choices
        }
        yield from _grouped(code, texts, "assumed")


def _grouped(knob: Choice, texts: Mapping[str, str | None], kind: str) -> Iterator[dict[str, Any]]:
    """Yield each text once, with the values of a knob that it is of."""
    for text in dict.fromkeys(filter(None, texts.values())):
        values = [value for value, other in texts.items() if other == text]
        when = {knob.id: values} | {name: list(needed) for name, needed in knob.when.items()}
        yield {"when": when, "kind": kind, "text": text}
