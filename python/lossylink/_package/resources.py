"""Where the scenarios and the published numbers are: beside this file, in the tree and in a wheel."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).resolve().parent

#: Packaged experiments and profiles, as TOML that users copy and edit.
SCENARIOS = _HERE / "scenarios"
#: Published numbers, each with its source.
PUBLISHED = _HERE / "reference" / "published.toml"
#: Published experiments as data, with their claims.
DECLARATIONS = _HERE / "reference" / "experiments"
#: What every key of a row means, and the words of the field.
DICTIONARY = _HERE / "data-dictionary.md"
GLOSSARY = _HERE / "glossary.md"
#: Values of profiles that no source gives.
UNSOURCED = _HERE / "reference" / "unsourced.toml"
#: What the kernel for virtual time is built with: a driver, and lines of a configuration.
KERNEL = _HERE.parent / "linux" / "kernel" / "source"
#: A module for each backend, by which they are known before one is imported.
BACKENDS = _HERE.parent / "running" / "backends"
#: The page of the explorer, which `make web` builds.
PAGE = _HERE / "page"
#: Programs for switches.
P4 = _HERE / "p4"
#: What Grafana shows of a guard: as Grafana 11.6 imports it (schema version 41), and newer versions, too.
#: Its metrics are those that a guard has whatever its protection is, and at the end those over a routed path.
DASHBOARD = _HERE.parent / "linux" / "service" / "dashboard.json"
