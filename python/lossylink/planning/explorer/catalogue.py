"""The catalogue of the page: the rules by which a browser fills a configuration, found by the resolver."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from lossylink import _native
from lossylink.planning.explorer.bursts import by_mean_and_burst
from lossylink.planning.explorer.columns import columns_of, percentiles
from lossylink.planning.explorer.decisions import KNOBS, decisions
from lossylink.planning.explorer.deriving import Part, Resolve, check, derive
from lossylink.planning.explorer.given import Given
from lossylink.planning.explorer.knobs import Choice
from lossylink.planning.explorer.merging import without_nulls
from lossylink.planning.explorer.notes import notes_of
from lossylink.planning.explorer.spellings import SELECTED, pickable
from lossylink.planning.explorer.table import LOST_PACKET
from lossylink.planning.explorer.views import VIEWS, Shown, View
from lossylink.scenario.keys import keys_of
from lossylink.scenario.resolving import resolve
from lossylink.scenario.scenario import Scenario

#: Random states at which the rules of an experiment are compared with the resolver.
_CHECKED_STATES: Final = 60
#: What a row has that Python adds: the page has what the simulator gives.
_OF_PYTHON: Final = frozenset({"checks"})


def catalogue(given: Given | None = None, *, planned: tuple[Choice, ...] = KNOBS) -> dict[str, Any]:
    """Return the catalogue, with a user's scenario under the knobs of its experiment if there is one.

    Parameters
    ----------
    given
        The scenario.
    planned
        The knobs of the links for which `lossylink plan` decides, which takes most of the time; none without
        knobs.

    Raises
    ------
    WrongRuleError
        A rule that was found is wrong somewhere.
    """
    views = {name: given.under(view) if given else view for name, view in VIEWS.items()}
    every = [(view, shown) for view in views.values() for shown in view.experiments]
    experiments = {shown.id: _experiment(view, shown) for view, shown in every}
    names = dict.fromkeys(shown.experiment.name for _, shown in every)
    picked = [one.label for one in given.scenario.protections] if given else SELECTED
    return {
        "version": _native.version(),
        **({"opens": given.opens} if given else {}),
        "experiments": experiments,
        "views": {name: _view(view) for name, view in views.items()},
        "protections": pickable(picked),
        **({"plan": decisions(planned)} if planned else {}),
        "percentiles": percentiles(),
        "columns": columns_of(names),
    }


def as_text(of: Mapping[str, Any] | None) -> str:
    """Write a catalogue as JSON, as short as it goes; without one the page takes its own."""
    return json.dumps(of, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def parts_of(view: View, shown: Shown) -> list[Part]:
    """Return the knobs of a view that an experiment takes, with what they say to it."""
    keys = keys_of(shown.experiment) | {"seed"}
    found = []
    for part in view.parts:
        sayings = tuple(saying for saying in part.sayings if saying.settings.keys() <= keys)
        if sayings:
            found.append(Part(knobs=part.knobs, sayings=sayings))
    return found


def resolved(shown: Shown, settings: Mapping[str, str]) -> Scenario:
    """Return the scenario of an experiment and what its knobs say, without protection."""
    return resolve(shown.command, settings={**shown.fixed, **settings}, protection=["none"])


def configured(shown: Shown) -> Resolve:
    """Return what gives the simulator's configuration of settings."""

    def configuration(settings: Mapping[str, str]) -> dict[str, Any]:
        scenario = resolved(shown, settings)
        found: dict[str, Any] = without_nulls(scenario.setups[0].configuration)
        found["loss"] = {
            "forward": by_mean_and_burst(scenario.forward, found["loss"]["forward"]),
            "reverse": found["loss"]["reverse"],
        }
        return found

    return configuration


def _experiment(view: View, shown: Shown) -> dict[str, Any]:
    parts = parts_of(view, shown)
    base, rules = derive(parts, configured(shown), only=shown.when)
    check(parts, configured(shown), base, rules, only=shown.when, states=_CHECKED_STATES)
    fixed = [{"settings": dict(shown.fixed)}] if shown.fixed else []
    columns = shown.experiment.headline
    return {
        "command": shown.command,
        **({"when": {knob: list(values) for knob, values in shown.when.items()}} if shown.when else {}),
        **({"lost": {"knob": LOST_PACKET.id, "settings": dict(shown.lost)}} if shown.lost else {}),
        "base": base,
        "rules": [*fixed, *rules],
        "headline": [column.key for column in columns if column.key not in _OF_PYTHON],
    }


def _view(view: View) -> dict[str, Any]:
    knobs = [knob for part in view.parts for knob in part.knobs]
    scenario = resolved(view.experiments[0], {})
    return {
        "title": view.title,
        "lead": view.lead,
        "experiments": [shown.id for shown in view.experiments],
        "knobs": [knob.row() for knob in knobs],
        "notes": notes_of(scenario, {knob.id: knob for knob in knobs}),
    }
