"""Says whether wheels carry every file of the package and the licences.

`tools/wheel_files.py WHEEL ...` prints a line for each, and ends with 1 if one lacks a file.
"""

from __future__ import annotations

import os
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "python"
LICENSES = ("LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY-LICENSES.md")
MODULE = "lossylink/_native.abi3.so"


def expected() -> Iterator[str]:
    """Yield the files of the package as they stand in the tree; links to directories are followed."""
    yield MODULE
    for folder, names, files in os.walk(SOURCES / "lossylink", followlinks=True):
        names[:] = [name for name in names if name != "__pycache__"]
        for file in files:
            if not file.endswith((".so", ".pyc")):
                yield (Path(folder) / file).relative_to(SOURCES).as_posix()


def missing(wheel: Path) -> list[str]:
    """Return what a wheel lacks."""
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    licenses = {name.rpartition("/licenses/")[2] for name in held if ".dist-info/licenses/" in name}
    lacking = [name for name in expected() if name not in held]
    return sorted(lacking) + [name for name in LICENSES if name not in licenses]


def main(wheels: list[str]) -> int:
    """Judge wheels; returns the exit code."""
    found = {wheel: missing(Path(wheel)) for wheel in wheels}
    for wheel, lacking in found.items():
        words = f"lacks {', '.join(lacking)}" if lacking else "carries every file of the package"
        print(f"{Path(wheel).name} {words}")
    return int(not found or any(found.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
