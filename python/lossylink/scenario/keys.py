"""Which experiment takes which keys, and how a key that was typed is matched to one that exists."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator

from lossylink.declared.experiment import COMMON_KEYS, Experiment
from lossylink.declared.experiments import all_experiments
from lossylink.errors import UserError, nearest
from lossylink.scenario.models import SECTIONS

#: Other names of keys, where the short one is what people type.
_ALIASES = {
    "cc": "transport.congestion_control",
    "delay": "link.propagation",
    "loss": "loss.forward",
    "protection": "protection.schemes",
    "rate": "link.rate",
    "rto": "transport.rto_min",
}


#: Keys above all sections.
_OF_NO_SECTION = ("experiment", "title", "seed")


def _spelt_out(declared: Iterable[str]) -> Iterator[str]:
    """Yield the keys that a declaration means: ``section.*`` is every key of a section."""
    for key in declared:
        section, _, leaf = key.partition(".")
        if leaf == "*":
            yield from (f"{section}.{name}" for name in SECTIONS[section].__struct_fields__)
        else:
            yield key


@functools.cache
def keys_of(experiment: Experiment) -> frozenset[str]:
    """Return every dotted key that an experiment takes.

    Examples
    --------
    >>> from lossylink.declared.experiments import experiment_named
    >>> "timeline.bin" in keys_of(experiment_named("timeline"))
    True
    """
    return frozenset(_spelt_out(experiment.keys))


def spellings() -> frozenset[str]:
    """Return every spelling of every key of an experiment: dotted, without its section, and by another name.

    Examples
    --------
    >>> {"loss", "link.rate", "rate", "packets"} <= spellings()
    True
    """
    dotted = {key for experiment in all_experiments().values() for key in keys_of(experiment)}
    return frozenset(dotted | {key.partition(".")[2] for key in dotted} | _ALIASES.keys())


def resolve_key(typed: str, experiment: Experiment, *, where: str = "") -> str:
    """Return the dotted key that was meant by a full, short or aliased one.

    Examples
    --------
    >>> from lossylink.declared.experiments import experiment_named
    >>> resolve_key("congestion_control", experiment_named("tcp-fct"))
    'transport.congestion_control'
    >>> resolve_key("flow.size", experiment_named("stress"))
    Traceback (most recent call last):
    lossylink.errors.UserError: stress does not use 'flow.size'; ...
    """
    key, own_keys = _ALIASES.get(typed, typed), keys_of(experiment)
    if key in own_keys:
        return key
    matches = sorted(full for full in own_keys if full.partition(".")[2] == key)
    if len(matches) == 1:
        return matches[0]
    prefix = f"{where}: " if where else ""
    if matches:
        raise UserError(f"{prefix}'{typed}' could be {' or '.join(matches)}; write one of them")
    if any(
        key in {full, full.partition(".")[2]} for one in all_experiments().values() for full in keys_of(one)
    ):
        own = sorted(own_keys - set(_spelt_out(COMMON_KEYS)))
        raise UserError(
            f"{prefix}{experiment.name} does not use '{typed}'; beside the common keys it takes"
            f" {', '.join(own)}"
        )
    guess = _nearest(typed, own_keys)
    hint = f"did you mean '{guess}'? " if guess else ""
    section = key.partition(".")[0]
    near = sorted(full for full in own_keys if full.startswith(f"{section}."))
    valid = near or sorted(f"{name}.*" for name in experiment.sections)
    raise UserError(f"{prefix}unknown key '{typed}'; {hint}Valid: {', '.join(valid)}")


def _nearest(typed: str, own_keys: Iterable[str]) -> str | None:
    """Return the key that was meant: full, by its last part, or by the short name that people type.

    Examples
    --------
    >>> _nearest("losss", ["loss.forward", "run.looks"]), _nearest("run.lookz", ["run.looks"])
    ('loss', 'run.looks')
    """
    keys = sorted(own_keys)
    leaves = {full.partition(".")[2]: full for full in keys}
    aliases = {alias: alias for alias, full in _ALIASES.items() if full in keys}
    own = {name: name for name in _OF_NO_SECTION}
    return nearest(typed, keys, also={**leaves, **aliases, **own}) or nearest(
        typed.rpartition(".")[2], keys, also=leaves
    )
