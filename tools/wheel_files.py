"""Says whether wheels carry every file of the package and the licences, and a page that is small.

`tools/wheel_files.py WHEEL ...` prints a line for each, and ends with 1 if one is not as it should be.
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
PAGE = "lossylink/_package/page/index.html"
"""Built by `make web`, so that a tree may have none."""
MOST_PAGE_BYTES = 3_000_000
"""How much of a wheel the page takes at the most, compressed."""


def expected() -> Iterator[str]:
    """Yield the files of the package as they stand in the tree; links to directories are followed."""
    yield MODULE
    yield PAGE
    for folder, names, files in os.walk(SOURCES / "lossylink", followlinks=True):
        names[:] = [name for name in names if name != "__pycache__"]
        for file in files:
            name = (Path(folder) / file).relative_to(SOURCES).as_posix()
            if name != PAGE and not file.endswith((".so", ".pyc")):
                yield name


def fault(wheel: Path) -> str | None:
    """Return in words what is wrong with a wheel; nothing where all is well."""
    with zipfile.ZipFile(wheel) as archive:
        held = {one.filename: one.compress_size for one in archive.infolist()}
    licenses = {name.rpartition("/licenses/")[2] for name in held if ".dist-info/licenses/" in name}
    lacking = [name for name in expected() if name not in held]
    lacking = sorted(lacking) + [name for name in LICENSES if name not in licenses]
    if lacking:
        return f"lacks {', '.join(lacking)}" + ("; run make web first" if PAGE in lacking else "")
    if held[PAGE] > MOST_PAGE_BYTES:
        return f"has a page of {held[PAGE]:,} B compressed, more than {MOST_PAGE_BYTES:,} B"
    return None


def main(wheels: list[str]) -> int:
    """Judge wheels; returns the exit code."""
    found = {wheel: fault(Path(wheel)) for wheel in wheels}
    for wheel, words in found.items():
        print(f"{Path(wheel).name} {words or 'carries every file of the package'}")
    return int(not found or any(found.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
