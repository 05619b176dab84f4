"""What the tests in virtual time share: whether there is a kernel for them, and runs on it."""

from __future__ import annotations

import os
from typing import Any

import pytest

import lossylink
from lossylink.kernel import Kernel, find_kernel


def needed_kernel() -> Kernel:
    """Return the kernel; skip the module where there is none, which is a failure in CI."""
    kernel = find_kernel()
    if kernel is not None:
        return kernel
    if os.environ.get("CI"):
        raise RuntimeError("CI must run the tests in virtual time: lossylink kernel build")
    pytest.skip("no kernel for virtual time: lossylink kernel build", allow_module_level=True)


def row_of(experiment: str, backend: str, protection: str = "none", **settings: Any) -> dict[str, Any]:
    """Run an experiment and return its one row; ``__`` in a name stands for a dot."""
    chosen = {"host.profile": "ideal"} | {name.replace("__", "."): value for name, value in settings.items()}
    run = lossylink.run(experiment, protection=[protection], settings=chosen, backend=backend, seed=1)
    return dict(run.records[0])
