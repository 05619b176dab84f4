"""What a build with profile-guided optimisation learns from."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

BENCHES = Path(__file__).resolve().parents[2] / "benches"
MISSING = "print({case.experiment for case in simulator.CASES.values()} - train.DIVISORS.keys())"


def test_every_case_of_the_benchmark_is_learnt_from() -> None:
    command = [sys.executable, "-c", f"import simulator, train; {MISSING}"]
    done = subprocess.run(command, cwd=BENCHES, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("set()\n", 0), done.stderr


def test_every_case_of_the_benchmark_can_be_measured() -> None:
    found = (
        "import bench; print([name for name, case in bench.cases().items() if not hasattr(case, 'measure')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", found], cwd=BENCHES, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr
