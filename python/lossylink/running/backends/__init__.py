"""The backends: a module or a package each, which declares a ``BACKEND``; nothing else lists them."""

from __future__ import annotations

import sys

from lossylink._package.discovery import module_in
from lossylink.declared.backend import Backend


def backend_named(name: str) -> Backend:
    """Import and return a backend; ``name`` is one of `lossylink.declared.backend.backend_names`."""
    backend: Backend = module_in(sys.modules[__name__], name).BACKEND
    return backend
