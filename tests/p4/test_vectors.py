"""The same arrivals into our engines and into a switch give the same decisions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SEEDS = 200
#: A namespace in which interfaces may be made, for root and for anybody else.
ALONE = ("unshare", "--map-root-user", "--net")


def run(*command: str | Path, output: Path | None = None) -> str:
    """Run a command of the repository, and return what it says, or write it to a file."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.fail(f"{' '.join(map(str, command))}:\n{done.stdout}{done.stderr}")
    if output:
        output.write_text(done.stdout, encoding="ascii")
    return done.stdout.strip()


def test_linkguardian_decides_as_its_engines(tmp_path: Path) -> None:
    vectors = tmp_path / "vectors"
    example = ("cargo", "run", "--quiet", "--locked", "--package", "lossylink-core", "--example")
    run(*example, "linkguardian_vectors", "--", "0", str(SEEDS), output=vectors)
    print(run(*ALONE, sys.executable, "-m", "tests.p4.linkguardian", vectors))
