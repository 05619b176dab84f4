"""What the tests in virtual time share: whether there is a kernel for them, and runs on it."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest

import lossylink
from lossylink.linux.guest import Guest, Plan, machine, rdma
from lossylink.linux.guest.stubs import simulator, stubs_library
from lossylink.linux.kernel import Kernel, find_kernel
from lossylink.linux.kernel.cache import cache_folder


def needed_kernel() -> Kernel:
    """Return the kernel; skip the module where there is none, which is a failure in CI."""
    return find_kernel() or _do_without("no kernel for virtual time: lossylink kernel build")


def need_verbs() -> None:
    """Skip the module where programs with verbs cannot be compiled or run, which is a failure in CI."""
    if missing := rdma.missing_files():
        _do_without(f"no verbs for RDMA in virtual time: {rdma.install_line(missing)}")


def _do_without(reason: str) -> NoReturn:
    if os.environ.get("CI"):
        raise RuntimeError(f"CI must run the tests in virtual time: {reason}")
    pytest.skip(reason, allow_module_level=True)


def row_of(experiment: str, backend: str, protection: str = "none", **settings: Any) -> dict[str, Any]:
    """Run an experiment and return its one row; ``__`` in a name stands for a dot."""
    chosen = {"host.profile": "ideal"} | {name.replace("__", "."): value for name, value in settings.items()}
    run = lossylink.run(experiment, protection=[protection], settings=chosen, backend=backend, seed=1)
    return dict(run.records[0])


@contextmanager
def public_folder() -> Iterator[Path]:
    """Give a folder in which every user may read."""
    with tempfile.TemporaryDirectory(prefix="lossylink-test-") as name:
        public = Path(name)
        public.chmod(0o755)
        yield public


@contextmanager
def guest_of_nobody(kernel: Kernel, plan: Plan, public: Path, patch: pytest.MonkeyPatch) -> Iterator[Guest]:
    """Give a guest that runs as a user without any rights on the host, who owns nothing but its folder."""
    library = Path(shutil.copy(simulator(), public))
    names = Path(shutil.copy(stubs_library(cache_folder()), public))
    patch.setattr(machine, "simulator", lambda: library)
    patch.setattr(machine, "stubs_library", lambda _: names)
    binary = Path(shutil.copy(kernel.binary, public))
    with Guest(replace(kernel, binary=binary), replace(plan, here=public)) as guest:
        patch.setattr(machine, "subprocess", _AsNobody(guest.folder))
        yield guest


class _AsNobody:
    """Stands for the module that starts processes: as a user who owns one folder."""

    DEVNULL = subprocess.DEVNULL

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def Popen(self, words: list[str], **options: Any) -> Any:  # noqa: N802
        nobody = pwd.getpwnam("nobody")
        for path in (self._folder, *self._folder.iterdir()):
            os.chown(path, nobody.pw_uid, nobody.pw_gid)
        options |= {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        return subprocess.Popen(words, **options)
