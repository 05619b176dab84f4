"""The kernel for virtual time: a User-Mode Linux that lossylink builds from Debian's kernel source.

`find_kernel` says where it is, `require_kernel` insists on it, and `build_kernel` makes it.

Examples
--------
>>> from lossylink.linux.kernel import find_kernel
>>> kernel = find_kernel()
>>> kernel is None or kernel.binary.is_file()
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lossylink.linux.kernel.building import build_kernel
    from lossylink.linux.kernel.cache import Kernel, find_kernel, require_kernel

__all__ = ["Kernel", "build_kernel", "find_kernel", "require_kernel"]

#: Where each public name lives; they are imported when first used.
_HOMES = {
    "Kernel": "lossylink.linux.kernel.cache",
    "build_kernel": "lossylink.linux.kernel.building",
    "find_kernel": "lossylink.linux.kernel.cache",
    "require_kernel": "lossylink.linux.kernel.cache",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
