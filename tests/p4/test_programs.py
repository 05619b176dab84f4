"""Every switch program compiles, and the compiler has nothing to say about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lossylink.linux.bmv2.sources import families, program
from lossylink.linux.bmv2.tools import compile_to


@pytest.mark.parametrize("family", families())
def test_a_program_compiles_without_a_warning(family: str, tmp_path: Path) -> None:
    compile_to(tmp_path / "program.json", program(family))
