"""Files of a reproduction, and links to them from its report: runs, figures, guides."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from lossylink.charts.report.page import Link

FIGURES_NAME = "figures"
GUIDES = Path(__file__).resolve().parents[4] / "docs" / "guides"
"""Beside the package in a checkout; a wheel has no guides."""


def run_folder(job: str) -> str:
    """The directory name of a job.

    Examples
    --------
    >>> run_folder("tofino1, generator")
    'tofino1-generator'
    """
    return re.sub(r"[^a-z0-9.-]+", "-", job.lower())


def run_links(experiment: str, job: str, output: Path) -> tuple[Link, ...]:
    """What `_write_runs` left of a job."""
    folder = output / experiment / run_folder(job)
    if not folder.is_dir():
        return ()
    names = sorted(path.name for path in folder.iterdir() if path.is_file())
    return tuple(Link(name, f"{experiment}/{folder.name}/{name}") for name in names)


def figure_links(files: Sequence[Path], output: Path) -> tuple[tuple[str, tuple[Link, ...]], ...]:
    """Saved figures by name, one link a format."""
    stems = dict.fromkeys(file.stem for file in files)
    return tuple(
        (
            stem,
            tuple(
                Link(file.suffix[1:], file.relative_to(output).as_posix())
                for file in files
                if file.stem == stem
            ),
        )
        for stem in stems
    )


def guide_links(names: Sequence[str], output: Path) -> tuple[Link, ...]:
    """Guides by their place in the repository; links to them where the repository is on this machine."""

    def path(name: str) -> str:
        guide = GUIDES / name
        return Path(os.path.relpath(guide, output.resolve())).as_posix() if guide.is_file() else ""

    return tuple(Link(f"docs/guides/{name}", path(name)) for name in names)
