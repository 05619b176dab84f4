"""The backends: a module or a package each, which declares a ``BACKEND``; nothing else lists them."""

from __future__ import annotations

import importlib
import sys

from lossylink._package.discovery import names_in
from lossylink.declared.backend import Backend


def names() -> list[str]:
    """Return the names of all backends, without importing them.

    Examples
    --------
    >>> names()
    ['kernel', 'live', 'sim']
    """
    return names_in(sys.modules[__name__])


def backend_named(name: str) -> Backend:
    """Import and return a backend; ``name`` is one of `names`."""
    backend: Backend = importlib.import_module(f"{__name__}.{name}").BACKEND
    return backend


__all__ = ["Backend", "backend_named", "names"]
