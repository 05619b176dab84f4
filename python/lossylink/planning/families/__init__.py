"""What each family of protections would do on a link.

A module bears the tag of its family. Its function ``plan`` gives a prediction for each spelling with the
parameters that suit the link. Its function ``outline`` says what closed forms alone tell. A module without a
function, and a family without a module, are left out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType

from lossylink._package.discovery import module_in, names_in
from lossylink.declared.protections import families
from lossylink.planning.link import Link
from lossylink.planning.prediction import Outline, Prediction


def plans(link: Link, *, target: float, budget_us: float | None) -> Iterator[Prediction]:
    """Yield the predictions of all families, each with the parameters that suit the link.

    Parameters
    ----------
    link
        The link and its loss.
    target
        Effective loss ratio to reach.
    budget_us
        Longest wait that recovery may add, in microseconds; none when not given.
    """
    for module in _modules("plan"):
        yield from module.plan(link, target=target, budget_us=budget_us)


def outlines(link: Link, *, target: float) -> Iterator[Outline]:
    """Yield what closed forms alone say of all families, without a run.

    A spelling whose loss or speed has no closed form is left out.
    """
    for module in _modules("outline"):
        yield from module.outline(link, target=target)


def _modules(function: str) -> Iterator[ModuleType]:
    """Yield the modules that have the function, in the order of their families."""
    here = sys.modules[__name__]
    names = names_in(here)
    for family in families():
        if family.tag.replace("-", "_") in names:
            module = module_in(here, family.tag)
            if hasattr(module, function):
                yield module
