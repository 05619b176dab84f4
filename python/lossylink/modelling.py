"""Models that cost little to make: they are built once, when they are complete, and without plugins."""

from __future__ import annotations

import os
from typing import TypeVar

from pydantic import BaseModel

Model = TypeVar("Model", bound=BaseModel)

#: Pydantic's own switch, for whoever wants none of its plugins.
_NO_PLUGINS = "PYDANTIC_DISABLE_PLUGINS"


def built(model: type[Model]) -> type[Model]:
    """Build a model whose configuration has ``defer_build``, and all models that it holds.

    Pydantic looks for plugins in the metadata of every installed package, which takes longer than to build
    a model. None of them is meant for a model of ours.
    """
    before = os.environ.get(_NO_PLUGINS)
    os.environ[_NO_PLUGINS] = "1"
    try:
        model.model_rebuild()
    finally:
        if before is None:
            del os.environ[_NO_PLUGINS]
        else:
            os.environ[_NO_PLUGINS] = before
    return model
