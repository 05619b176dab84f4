"""Finding the modules of a package: a kind of thing is added by a file, and no list has to name it."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType


def names_in(package: ModuleType) -> list[str]:
    """Return the names of a package's modules and packages; those with an underscore are its own affair.

    Examples
    --------
    >>> from lossylink import backends
    >>> names_in(backends)
    ['kernel', 'live', 'sim']
    """
    files = [path for folder in package.__path__ for path in Path(folder).iterdir()]
    names = {path.stem for path in files if path.suffix == ".py" or (path / "__init__.py").is_file()}
    return sorted(name for name in names if not name.startswith("_"))


def modules_in(package: ModuleType) -> Iterator[ModuleType]:
    """Import the modules and packages of a package and yield them in the order of their names."""
    for name in names_in(package):
        yield importlib.import_module(f"{package.__name__}.{name}")
