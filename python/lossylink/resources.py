"""Where the scenarios and the published numbers are: beside this file, in the tree and in a wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent

#: Packaged experiments and profiles, as TOML that users copy and edit.
SCENARIOS = _PACKAGE / "scenarios"
#: Published numbers, each with its source.
PUBLISHED = _PACKAGE / "reference" / "published.toml"
#: What every key of a row means, and the words of the field.
DICTIONARY = _PACKAGE / "data-dictionary.md"
GLOSSARY = _PACKAGE / "glossary.md"
#: Values of profiles that no source gives.
UNSOURCED = _PACKAGE / "reference" / "unsourced.toml"
#: What the kernel for virtual time is built with: a driver, and lines of a configuration.
KERNEL = _PACKAGE / "kernel" / "source"
#: Programs for switches.
P4 = _PACKAGE / "p4"
