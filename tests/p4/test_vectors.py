"""The same arrivals into our engines and into a switch give the same decisions."""

from __future__ import annotations

import pytest

from .alone import run_alone
from .vectors import EXAMPLES, example

SEEDS = range(1, 201)


@pytest.mark.parametrize("family", EXAMPLES)
def test_a_program_decides_as_its_engines(family: str) -> None:
    # With a network at hand, which the replay has none of.
    example("build", family)
    said = run_alone(f"tests.p4.{family}", *map(str, SEEDS))
    assert str(len(SEEDS)) in said
