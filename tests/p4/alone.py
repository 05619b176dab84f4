"""Running a module of this folder where it may make interfaces: in a network namespace of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]


def run_alone(module: str, *words: str) -> str:
    """Run a module, fail with what it says when it fails, and return what it says."""
    flags = [] if os.geteuid() == 0 else ["--map-root-user"]
    done = subprocess.run(
        ["unshare", *flags, "--net", sys.executable, "-m", module, *words],
        cwd=_ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        pytest.fail(f"python -m {module}:\n{done.stdout}{done.stderr}")
    print(done.stdout)
    return done.stdout
