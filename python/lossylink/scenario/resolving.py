"""From an experiment's name or a file, and what was set, to one scenario with everything decided and checked.

Three layers, the later one wins: the packaged defaults of the experiment, the user's file, the settings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from lossylink._package.resources import SCENARIOS
from lossylink.declared import experiments
from lossylink.declared.experiment import Experiment
from lossylink.declared.experiments import experiment_named
from lossylink.declared.protections import Protection, parse_protection
from lossylink.declared.setup import Setup
from lossylink.errors import UserError
from lossylink.scenario.buildable import check_buildable
from lossylink.scenario.checks import check_scenario
from lossylink.scenario.fabric import Fabric, Topology, load_failures, load_points, parse_topology
from lossylink.scenario.keys import resolve_key
from lossylink.scenario.load import Entry, read_entries
from lossylink.scenario.loss import Loss, parse_loss
from lossylink.scenario.models import SECTIONS, Heading, Sections
from lossylink.scenario.native import configuration
from lossylink.scenario.packaged import scenario_file
from lossylink.scenario.profiles import load_profile
from lossylink.scenario.scenario import Scenario
from lossylink.scenario.section import Key, Section, keys_in
from lossylink.scenario.workload import FlowSizes, load_flow_sizes

_TOP = frozenset({"experiment", "title", "seed"})
#: Keys whose value may be the name of a file.
_FILES = (
    ("switch", "profile"),
    ("host", "profile"),
    ("flow", "distribution"),
    ("fabric", "trace"),
    ("fabric", "points"),
)
#: Keys whose value is a loss process, which may name a file.
_LOSSES = (("loss", "forward"), ("loss", "reverse"), ("path", "loss"), ("path", "loss_back"))
#: Two ways to say the same: the one that is set puts the other out of force.
_EXCLUSIVE = {"link.length": "link.propagation", "link.propagation": "link.length"}


def resolve(
    what: str | Path,
    *,
    settings: Mapping[str, Any] | None = None,
    protection: Sequence[str] | None = None,
    seed: int | None = None,
    strict: bool = False,
) -> Scenario:
    """Resolve the name of an experiment or scenario, or a file, with ``settings`` and ``protection`` on top.

    Raises
    ------
    UserError
        One line that says what is wrong, where it stands, and the mend.

    Examples
    --------
    >>> resolve("stress", settings={"link.rate": "25G"}, protection=["lg"]).values.link.rate
    25000000000
    """
    path = scenario_file(what)
    written = list(read_entries(path)) if path else []
    experiment = _experiment_of(written, path) if path else experiment_named(str(what))
    layers = [
        _layer(read_entries(SCENARIOS / f"{experiment.name}.toml"), experiment),
        _layer(written, experiment),
        _layer((Entry(key, value, "") for key, value in (settings or {}).items()), experiment),
    ]
    if protection:
        layers.append({"protection.schemes": Entry("protection", list(protection), "")})
    if seed is not None:
        layers.append({"seed": Entry("seed", seed, "")})
    merged = _merge(layers)
    return _build(experiment, merged, folder=path.parent if path else Path(), strict=strict)


def _experiment_of(entries: Iterable[Entry], path: Path) -> Experiment:
    for entry in entries:
        if entry.key == "experiment":
            try:
                return experiment_named(str(entry.value))
            except UserError as error:
                raise UserError(f"{entry.where}: {error}") from None
    raise UserError(f"{path}: the key experiment is missing; add one of {', '.join(experiments.names())}")


def _layer(entries: Iterable[Entry], experiment: Experiment) -> dict[str, Entry]:
    layer: dict[str, Entry] = {}
    for entry in entries:
        key = entry.key if entry.key in _TOP else resolve_key(entry.key, experiment, where=entry.where)
        if key in layer:
            raise UserError(f"{_prefix(entry)}'{entry.key}' is set twice")
        if _EXCLUSIVE.get(key) in layer:
            raise UserError(f"{_prefix(entry)}set either link.propagation or link.length, not both")
        layer[key] = entry
    return layer


def _merge(layers: Iterable[dict[str, Entry]]) -> dict[str, Entry]:
    merged: dict[str, Entry] = {}
    for layer in layers:
        for key, entry in layer.items():
            merged.pop(_EXCLUSIVE.get(key, ""), None)
            merged[key] = entry
    return merged


def _build(experiment: Experiment, merged: dict[str, Entry], *, folder: Path, strict: bool) -> Scenario:
    settings: dict[str, Any] = {section: {} for section in SECTIONS if section in experiment.sections}
    for key, entry in merged.items():
        section, dot, leaf = key.partition(".")
        if dot:
            settings[section][leaf] = entry.value
    values = _read_values(experiment, settings, merged)
    settings["protection"]["schemes"] = values.protection.schemes
    _make_portable(settings, folder)
    scenario = Scenario(
        experiment=experiment,
        title=values.title,
        seed=values.seed,
        settings=settings,
        values=values,
        forward=_at(merged, "loss.forward", lambda: parse_loss(values.loss.forward, folder=folder)),
        reverse=_at(merged, "loss.reverse", lambda: parse_loss(values.loss.reverse, folder=folder)),
        path_losses=_path_losses(values, merged, folder),
        protections=_protections(values, merged),
        switch=_at(
            merged, "switch.profile", lambda: load_profile("switch", values.switch.profile, folder=folder)
        ),
        host=_at(
            merged,
            "host.profile",
            lambda: values.host and load_profile("host", values.host.profile, folder=folder),
        ),
        sizes=_sizes(experiment, values, merged, folder),
        fabric=_fabric(values, merged, folder),
    )
    check_scenario(scenario, strict=strict)
    scenario = altered(scenario)
    check_buildable(scenario)
    return scenario


def altered(scenario: Scenario, **fields: Any) -> Scenario:
    """Return the scenario with other values for some of its fields, and with the setups that follow.

    Examples
    --------
    >>> one = resolve("stress")
    >>> altered(one, seed=7).setups[0].configuration["seed"]
    7
    """
    changed = replace(scenario, **fields)
    setups = tuple(Setup(configuration(changed, protection)) for protection in changed.protections)
    return replace(changed, setups=setups)


def _make_portable(settings: dict[str, Any], folder: Path) -> None:
    """Spell files with their whole path, so that the scenario runs again from anywhere."""
    for section, key in _FILES:
        name = str(settings.get(section, {}).get(key, ""))
        if "/" in name or name.endswith((".toml", ".csv", ".json")):
            settings[section][key] = str((folder / Path(name).expanduser()).resolve())
    for section, key in _LOSSES:
        model, _, name = str(settings.get(section, {}).get(key, "")).partition(":")
        if model.strip().lower() == "trace" and name:
            settings[section][key] = f"trace:{(folder / Path(name.strip()).expanduser()).resolve()}"


def _path_losses(values: Sections, merged: dict[str, Entry], folder: Path) -> tuple[Loss, Loss]:
    path = values.path
    forward, back = ("0", "0") if path is None else (path.loss, path.loss_back)
    return (
        _at(merged, "path.loss", lambda: parse_loss(forward, folder=folder)),
        _at(merged, "path.loss_back", lambda: parse_loss(back, folder=folder)),
    )


def _sizes(
    experiment: Experiment, values: Sections, merged: dict[str, Entry], folder: Path
) -> FlowSizes | None:
    if "flow.distribution" not in experiment.keys or values.flow is None:
        return None
    name = values.flow.distribution
    sizes: FlowSizes = _at(merged, "flow.distribution", lambda: load_flow_sizes(name, folder=folder))
    return sizes


def _fabric(values: Sections, merged: dict[str, Entry], folder: Path) -> Fabric | None:
    section = values.fabric
    if section is None:
        return None
    topology: Topology = _at(merged, "fabric.topology", lambda: parse_topology(section.topology))
    return Fabric(
        topology,
        _at(merged, "fabric.trace", lambda: load_failures(section.trace, topology, folder=folder)),
        _at(merged, "fabric.points", lambda: load_points(section.points, folder=folder)),
    )


def _protections(values: Sections, merged: dict[str, Entry]) -> tuple[Protection, ...]:
    schemes = values.protection.schemes
    if not schemes:
        raise UserError("no protection is given; name at least one, for instance none")
    options = values.protection.options()
    parsed: tuple[Protection, ...] = _at(
        merged, "protection.schemes", lambda: tuple(parse_protection(text, options) for text in schemes)
    )
    labels = [protection.label for protection in parsed]
    for label in labels:
        if labels.count(label) > 1:
            raise UserError(f"protection '{label}' is given twice")
    return parsed


def _at(merged: dict[str, Entry], key: str, build: Any) -> Any:
    """Call ``build``, and put the place of ``key`` in front of its complaint."""
    try:
        return build()
    except ValueError as error:
        entry = merged.get(key)
        words = str(error) if key in str(error) else f"{key}: {error}"
        raise UserError(f"{_prefix(entry) if entry else ''}{words}") from None


def _read_values(experiment: Experiment, settings: Mapping[str, Any], merged: dict[str, Entry]) -> Sections:
    """Read every key that is set, section by section, and refuse the first that is wrong or missing."""
    top = {name: _read(name, key, merged) for name, key in keys_in(Heading).items() if name in merged}
    sections = {name: _read_section(name, given, merged) for name, given in settings.items()}
    return Sections(**{"experiment": experiment.name} | top | sections)


def _read_section(name: str, given: Mapping[str, Any], merged: dict[str, Entry]) -> Section:
    values = {}
    for leaf, key in keys_in(SECTIONS[name]).items():
        if leaf in given:
            values[leaf] = _read(f"{name}.{leaf}", key, merged)
        elif key.is_required:
            raise UserError(f"{name}.{leaf} is not set, and this experiment has no default for it")
    return SECTIONS[name](**values)


def _read(name: str, key: Key, merged: dict[str, Entry]) -> Any:
    """Read one value; a complaint names the key, the value and its place."""
    entry = merged[name]
    try:
        return key.read(entry.value)
    except ValueError as error:
        raise UserError(f"{_prefix(entry)}{name} = {entry.value}: {error}") from None


def _prefix(entry: Entry) -> str:
    return f"{entry.where}: " if entry.where else ""
