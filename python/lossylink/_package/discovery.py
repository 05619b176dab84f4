"""Finding the modules of a package: a kind of thing is added by a file, and no list has to name it."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType


def names_in(package: ModuleType | Path) -> list[str]:
    """Return the names of a package's modules and packages; those with an underscore are its own affair.

    A package that is named by its folder is not imported.

    Examples
    --------
    >>> from lossylink.running import backends
    >>> names_in(backends)
    ['kernel', 'live', 'sim']
    """
    folders: Iterable[str | Path] = [package] if isinstance(package, Path) else package.__path__
    files = [path for folder in folders for path in Path(folder).iterdir()]
    names = {path.stem for path in files if path.suffix == ".py" or (path / "__init__.py").is_file()}
    return sorted(name for name in names if not name.startswith("_"))


def module_in(package: ModuleType, name: str) -> ModuleType:
    """Import the module of a package for a thing of this name, in which hyphens may stand.

    Examples
    --------
    >>> from lossylink.declared import experiments
    >>> module_in(experiments, "tcp-fct").__name__
    'lossylink.declared.experiments.tcp_fct'
    """
    return importlib.import_module(f"{package.__name__}.{name.replace('-', '_')}")


def modules_in(package: ModuleType) -> Iterator[ModuleType]:
    """Import the modules and packages of a package and yield them in the order of their names."""
    for name in names_in(package):
        yield module_in(package, name)
