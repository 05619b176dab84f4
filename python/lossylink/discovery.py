"""Finding the modules of a package: a kind of thing is added by a file, and no list has to name it."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType


def names_in(package: ModuleType) -> list[str]:
    """Return the names of a package's modules and packages; those with an underscore are its own affair.

    Examples
    --------
    >>> from lossylink import backends
    >>> names_in(backends)
    ['kernel', 'live', 'sim']
    """
    return sorted(one.name for one in pkgutil.iter_modules(package.__path__) if not one.name.startswith("_"))


def modules_in(package: ModuleType) -> Iterator[ModuleType]:
    """Import the modules and packages of a package and yield them in the order of their names."""
    for name in names_in(package):
        yield importlib.import_module(f"{package.__name__}.{name}")
