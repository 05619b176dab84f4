"""The kernel's configuration: Linux's own for User-Mode Linux, our fragment, and whether it was taken."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from lossylink._package.resources import KERNEL
from lossylink.errors import UserError
from lossylink.linux.kernel.making import Log
from lossylink.linux.kernel.recipe import DRIVER, FRAGMENT

_OPTION = re.compile(r"^(CONFIG_\w+)=(.*)$", re.MULTILINE)


def add_driver(tree: Path) -> None:
    """Copy the driver into a kernel tree."""
    for name in DRIVER:
        shutil.copyfile(KERNEL / name, tree / "arch/um/drivers" / name)


def configure(tree: Path, log: Log) -> None:
    """Configure a kernel tree, and insist on every option of the fragment.

    Raises
    ------
    RunError
        One of the kernel's own programs failed.
    UserError
        The kernel does not take an option as it was asked for.
    """
    fragment = shutil.copyfile(KERNEL / FRAGMENT, tree / FRAGMENT)
    log.run(["make", "ARCH=um", "defconfig"], tree)
    log.run(["scripts/kconfig/merge_config.sh", "-m", "-O", ".", ".config", FRAGMENT], tree)
    log.run(["make", "ARCH=um", "olddefconfig"], tree)
    check_options(fragment.read_text(encoding="utf-8"), (tree / ".config").read_text(encoding="utf-8"))


def check_options(fragment: str, configuration: str) -> None:
    r"""Compare what was asked for with what the kernel took; an option that is off may be absent.

    Raises
    ------
    UserError
        They differ in an option.

    Examples
    --------
    >>> check_options("CONFIG_TUN=y\nCONFIG_PPP=n\n", "CONFIG_TUN=y\n# CONFIG_PPP is not set\n")
    >>> check_options("CONFIG_TUN=y\n", "CONFIG_VETH=y\n")
    Traceback (most recent call last):
    lossylink.errors.UserError: this kernel does not take CONFIG_TUN=y: it has n; take Linux 6.1 or 6.12
    """
    taken = dict(_OPTION.findall(configuration))
    for name, wanted in _OPTION.findall(fragment):
        found = taken.get(name, "n")
        if found != wanted:
            raise UserError(
                f"this kernel does not take {name}={wanted}: it has {found}; take Linux 6.1 or 6.12"
            )
