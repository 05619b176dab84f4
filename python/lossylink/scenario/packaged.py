"""Scenarios that come with lossylink beside the defaults of each experiment, by name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lossylink._package.resources import SCENARIOS
from lossylink.declared import experiments
from lossylink.errors import unknown
from lossylink.scenario.load import read_toml


def packaged() -> Mapping[str, Path]:
    """Return the files of the scenarios that are no experiment's defaults, by name.

    Examples
    --------
    >>> sorted(packaged())
    ['ablation', 'cliff', 'protections', 'tcp-fct-143', 'tcp-fct-2mb', 'trade']
    """
    files = sorted(SCENARIOS.glob("*.toml"))
    return {path.stem: path for path in files if path.stem not in experiments.names()}


def title_of(path: Path) -> str:
    """Return the title of a scenario file."""
    return str(read_toml(path)[0]["title"])


def scenario_file(what: str | Path) -> Path | None:
    """Return the file of a scenario, or nothing for an experiment's name.

    What looks like a path is one; a plain word is an experiment or a packaged scenario.

    Raises
    ------
    UserError
        A plain word that is neither.
    """
    text = str(what)
    if isinstance(what, Path) or text.endswith(".toml") or "/" in text:
        return Path(text).expanduser()
    if text in experiments.names():
        return None
    files = packaged()
    if text not in files:
        raise unknown("experiment or scenario", text, (*experiments.names(), *files), also={"fct": "tcp-fct"})
    return files[text]
