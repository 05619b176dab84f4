"""Every switch program compiles, and the compiler has nothing to say about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lossylink.bmv2.sources import program
from lossylink.bmv2.tools import compile_to
from lossylink.resources import P4

FAMILIES = sorted(topology.parent.name for topology in P4.glob("*/topology.p4"))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_program_compiles_without_a_warning(family: str, tmp_path: Path) -> None:
    compile_to(tmp_path / "program.json", program(family))
