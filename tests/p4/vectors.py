"""Vectors: what our engines make of the arrivals of a seed, asked of the examples of the crates."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from lossylink.errors import RunError

_ROOT = Path(__file__).parents[2]
#: The example that makes the vectors of each program, with its crate.
EXAMPLES = {
    "linkguardian": ("lossylink-core", "linkguardian_vectors"),
    "fec_model": ("lossylink-sim", "fec_model_vectors"),
}


def example(command: str, family: str, *words: str) -> str:
    """Let cargo do something with an example, in optimised code, and return what is printed.

    Raises
    ------
    RunError
        It fails.
    """
    package, name = EXAMPLES[family]
    done = subprocess.run(
        ["cargo", command, "--quiet", "--locked", "--package", package, "--example", name, *words],
        cwd=_ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RunError(f"no vectors: {done.stderr.strip()}")
    return done.stdout


def vectors(family: str, seeds: Sequence[int]) -> str:
    """Return the vectors of seeds, as the example writes them."""
    return example("run", family, "--", *map(str, seeds))
