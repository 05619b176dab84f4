"""A user's scenario under the knobs: they stand where it says, and what has no knob stays in force."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from lossylink.errors import UserError
from lossylink.planning.explorer import table
from lossylink.planning.explorer.deriving import Part
from lossylink.planning.explorer.filling import with_words
from lossylink.planning.explorer.knobs import Choice, Number
from lossylink.planning.explorer.views import VIEWS, Shown, View
from lossylink.scenario.keys import keys_of
from lossylink.scenario.models import SECTIONS
from lossylink.scenario.resolving import resolve
from lossylink.scenario.scenario import Scenario
from lossylink.scenario.section import keys_in

#: The kind of losses that says nothing, so that the scenario decides.
_GIVEN: Final = "scenario"
#: How long one looks is no matter of the scenario: a page has less time than a run.
_OF_THE_PAGE: Final = frozenset({"flow.trials", "traffic.packets"})
#: A reader picks protections in the page, with their options.
_PICKED: Final = "protection"
#: The page is the machine.
_MACHINE: Final = frozenset({"run.threads", "run.backend"})
#: A key that says the same as that of a knob.
_INSTEAD: Final = {"link.length": "link.propagation"}


class Given(Struct, frozen=True, kw_only=True):
    """A scenario as the base of the views of its experiment."""

    scenario: Scenario
    settings: Mapping[str, str]
    """What it says beyond the defaults of its experiment, as ``--set`` takes it."""

    @classmethod
    def of(cls, what: str, settings: Mapping[str, str]) -> Given:
        """Read a scenario, or an experiment, with settings on top.

        Raises
        ------
        UserError
            It cannot be resolved, or no view shows its experiment.
        """
        scenario = resolve(what, settings=settings)
        known = dict.fromkeys(shown.command for view in VIEWS.values() for shown in view.experiments)
        if scenario.experiment.name not in known:
            raise UserError(
                f"the explorer does not show {scenario.experiment.name}; it shows {', '.join(known)}"
            )
        return cls(scenario=scenario, settings=_beyond_defaults(scenario))

    @property
    def opens(self) -> str:
        """The view with which the page opens: the first that shows the scenario's experiment."""
        return next(name for name, view in VIEWS.items() if self._is_shown_by(view))

    def _is_shown_by(self, view: View) -> bool:
        return any(shown.command == self.scenario.experiment.name for shown in view.experiments)

    def under(self, view: View) -> View:
        """Return a view with the scenario under its knobs; one that does not show its experiment stays.

        The other experiments of the view take the settings that they know: one link has one loss.
        """
        if not self._is_shown_by(view):
            return view
        ids = {knob.id for part in view.parts for knob in part.knobs}
        said_otherwise = {other for knob, other in _INSTEAD.items() if knob in ids}
        own = {key: text for key, text in self.settings.items() if key not in said_otherwise}
        experiments = tuple(
            replace(shown, fixed={**_known_to(shown, own), **shown.fixed}) for shown in view.experiments
        )
        return replace(view, experiments=experiments, parts=tuple(map(self._standing, view.parts)))

    def _standing(self, part: Part) -> Part:
        """Return a part whose knobs stand where the scenario says."""
        if part is table.LOSS:
            return self._losing(part)
        keys = keys_of(self.scenario.experiment) | {"seed"}
        sayings = tuple(one for one in part.sayings if one.settings.keys() <= keys)
        if len(part.knobs) != 1 or not sayings or part.knobs[0].id in _OF_THE_PAGE:
            return part
        (knob,) = part.knobs
        if isinstance(knob, Number):
            text = sayings[0].settings.get(knob.id)
            return replace(part, knobs=(self._at(knob, text),)) if text else part
        return replace(part, knobs=(self._choosing(knob, replace(part, sayings=sayings)),))

    def _choosing(self, knob: Choice, part: Part) -> Choice:
        """Return a choice that stands at what the scenario says; a value that it lacks is added."""
        for value in knob.choices:
            said = part.settings({knob.id: value})
            texts = {key: with_words(text, {knob.id: value}) for key, text in said.items()}
            if texts and all(self._says(key, text) for key, text in texts.items()):
                return replace(knob, default=value)
        section, _, leaf = knob.id.partition(".")
        own = str(self.scenario.settings[section][leaf])
        return replace(knob, choices={own: own, **knob.choices}, default=own)

    def _losing(self, part: Part) -> Part:
        """Return the knobs of the losses: independent ones have a knob, others stay as the scenario says."""
        model, *others = part.knobs
        forward = self.scenario.forward
        assert isinstance(model, Choice)
        if forward.native["model"] != "bernoulli":
            choices = {_GIVEN: forward.spelling, **model.choices}
            return replace(part, knobs=(replace(model, choices=choices, default=_GIVEN), *others))
        mean = forward.native["p"]
        standing = [
            _reaching(knob, mean) if isinstance(knob, Number) and knob.id == "loss.mean" else knob
            for knob in others
        ]
        return replace(part, knobs=(replace(model, default="independent"), *standing))

    def _at(self, knob: Number, text: str) -> Number:
        """Return a number that stands at the scenario's value of its key."""
        low, high = (_read(knob.id, with_words(text, {knob.id: value})) for value in (knob.least, knob.most))
        share = (self._value(knob.id) - low) / (high - low)
        value = knob.least + share * (knob.most - knob.least)
        return _reaching(knob, float(f"{value:.12g}"))

    def _says(self, key: str, text: str) -> bool:
        return bool(_read(key, text) == self._value(key))

    def _value(self, key: str) -> Any:
        """Return the value of a key in base units, or of the key that says the same."""
        section, _, leaf = key.partition(".")
        if not leaf:
            return getattr(self.scenario, key)
        value = getattr(getattr(self.scenario.values, section), leaf)
        return self._value(_INSTEAD[key]) if value is None and key in _INSTEAD else value


def _known_to(shown: Shown, settings: Mapping[str, str]) -> dict[str, str]:
    known = keys_of(shown.experiment) | {"seed", "title"}
    return {key: text for key, text in settings.items() if key in known}


def _beyond_defaults(scenario: Scenario) -> dict[str, str]:
    """Return what a scenario says, but for what its experiment says by itself."""
    defaults = resolve(scenario.experiment.name).settings
    said = {
        f"{section}.{leaf}": _text(value)
        for section, keys in scenario.settings.items()
        if section != _PICKED
        for leaf, value in keys.items()
        if value is not None and defaults.get(section, {}).get(leaf) != value
    }
    return {key: text for key, text in said.items() if key not in _MACHINE}


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _read(key: str, text: str) -> Any:
    section, _, leaf = key.partition(".")
    return keys_in(SECTIONS[section])[leaf].read(text) if leaf else int(text)


def _reaching(knob: Number, value: float) -> Number:
    """Return a knob that stands at a value, which its range may have to reach."""
    whole = knob.whole and value.is_integer()
    at = int(value) if whole else value
    return replace(knob, default=at, whole=whole, least=min(knob.least, at), most=max(knob.most, at))
