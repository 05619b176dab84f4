"""Small programs in C: compiled once, anew when anything changes, refused in one line."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lossylink.errors import RunError
from lossylink.linux.guest.compiling import compiled, output_of

SEVEN = "int main(void) { return 7; }"


def test_a_program_is_compiled_once(tmp_path: Path) -> None:
    first = compiled(SEVEN, "seven", tmp_path, [])
    assert subprocess.run([first], check=False).returncode == 7
    made = first.stat().st_mtime_ns
    assert compiled(SEVEN, "seven", tmp_path, []) == first
    assert first.stat().st_mtime_ns == made


def test_another_source_or_option_is_another_program(tmp_path: Path) -> None:
    made = {
        compiled(SEVEN, "program", tmp_path, []),
        compiled(SEVEN.replace("7", "8"), "program", tmp_path, []),
        compiled(SEVEN, "program", tmp_path, ["-O1", "-lm"]),
    }
    assert len(made) == 3
    assert set(tmp_path.iterdir()) == made, "something else was left"


def test_a_library_that_is_missing_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"^gcc: .*missing\.h: No such file") as refused:
        compiled('#include "missing.h"\n' + SEVEN, "program", tmp_path, [])
    assert "\n" not in str(refused.value)
    assert not list(tmp_path.iterdir())


def test_a_tool_that_is_missing_is_named_with_its_package() -> None:
    with pytest.raises(RunError, match="no-such-tool is missing: apt-get install"):
        output_of(["no-such-tool"])
