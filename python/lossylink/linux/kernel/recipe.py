"""What a kernel is made with, beside its source: the edits, the driver, the configuration, the compiler."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

from lossylink._package.resources import KERNEL
from lossylink.errors import UserError
from lossylink.linux.kernel.edits import EDITS, Edit

#: The driver, as files of the kernel tree's ``arch/um/drivers``.
DRIVER = ("lossylink.h", "lossylink_kern.c", "lossylink_user.c")
#: Lines of the configuration that are ours.
FRAGMENT = "fragment.config"
#: What the kernel says of its own build, so that the same recipe gives the same words everywhere.
STAMPS = {
    "KBUILD_BUILD_HOST": "lossylink",
    "KBUILD_BUILD_TIMESTAMP": "Thu Jan 1 00:00:00 UTC 1970",
    "KBUILD_BUILD_USER": "lossylink",
    "KBUILD_BUILD_VERSION": "1",
}

_KEY_DIGITS = 12


def recipe_hash(folder: Path = KERNEL, edits: Sequence[Edit] = EDITS) -> str:
    """Return the hash of what lossylink itself brings: driver, fragment, edits and stamps.

    Examples
    --------
    >>> recipe_hash() == recipe_hash(edits=EDITS[1:])
    False
    """
    return _digest(
        {name: (folder / name).read_text(encoding="utf-8") for name in (*DRIVER, FRAGMENT)},
        [(edit.file, edit.sought, edit.put) for edit in edits],
        STAMPS,
    )


def key_of(*, recipe: str, source: str, compiler: str) -> str:
    """Return the name of a kernel in the cache: a short hash of everything that decides its bytes.

    Examples
    --------
    >>> key_of(recipe="a", source="linux-source-6.12 6.12.117-1", compiler="gcc 12.2.0")
    '6a397ed0bcc6'
    """
    return _digest(recipe, source, compiler)[:_KEY_DIGITS]


def compiler_version() -> str:
    """Return what the compiler says of itself in its first line.

    Raises
    ------
    UserError
        There is no compiler.
    """
    try:
        done = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise UserError(f"gcc does not run: {error}; apt-get install gcc") from None
    return done.stdout.partition("\n")[0]


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
