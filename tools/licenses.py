"""Licences of crates and scripts of others: whether all are allowed, and the texts that a wheel must carry.

`tools/licenses.py` writes `THIRD-PARTY-LICENSES.md` anew; with `--check` it only says whether that is stale.
Allowed is what `deny.toml` allows. It reads `cargo metadata`, `cargo tree` and the sources that they name. Of
the packages in the page of `lossylink explore` it reads `web/licences.json`, so that it needs no Node.js:
`node web/build.mjs --licences` writes that file, and a page is only built with the right one.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Set
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WRITTEN = ROOT / "THIRD-PARTY-LICENSES.md"
#: Scripts that a report contains: a folder for each, with what its package says of itself.
SCRIPTS = ROOT / "python" / "lossylink" / "charts" / "report" / "assets"
#: Packages that the page contains, with the texts of their licences.
PAGE = ROOT / "web" / "licences.json"
#: Platforms of the wheels that `tools/build-wheels` builds.
TARGETS = ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu")
#: The platform of the simulator in the page.
WEB = "wasm32-unknown-unknown"
#: A crate under several licences at our choice is taken under the first of these whose text it brings.
FILES = ("LICENSE-MIT*", "LICENSE.txt", "LICENSE.md", "LICENSE", "LICENSE-APACHE*", "COPYING")

HEAD = """# Licences of third parties

The compiled module of a wheel contains these crates, and the Rust standard library (MIT OR Apache-2.0,
copyright of the Rust Project contributors). A report contains the script uplot. The page of
`lossylink explore` contains the simulator with some of these crates, and the packages of npm that stand last.
`tools/licenses.py` writes this file; a test fails when it is stale. Python packages that lossylink needs are
not in a wheel.

| crate or script | version | licence |
|---|---|---|
"""


@dataclass(frozen=True)
class Crate:
    """A package of somebody else, as cargo, a script's package.json or `web/licences.json` knows it."""

    name: str
    version: str
    license: str
    authors: tuple[str, ...]
    folder: Path | None
    """Where the text of the licence lies, if it is not here."""
    text: str = ""


def is_allowed(expression: str, allowed: Set[str]) -> bool:
    """Whether an expression of SPDX can be met by allowed licences; an old `/` means `OR`.

    Examples
    --------
    >>> is_allowed("Unlicense OR MIT", {"MIT"}), is_allowed("GPL-3.0-only", {"MIT"})
    (True, False)
    >>> is_allowed("(MIT OR Apache-2.0) AND Unicode-3.0", {"MIT"})
    False
    >>> is_allowed("(MIT/Apache-2.0) AND Unicode-3.0", {"MIT", "Unicode-3.0"})
    True
    """
    known = set(allowed)
    inner = re.compile(r"\(([^()]*)\)")
    while found := inner.search(expression):
        name = f"inner-{len(known)}"
        if _any_allowed(found[1], known):
            known.add(name)
        expression = f"{expression[: found.start()]}{name}{expression[found.end() :]}"
    return _any_allowed(expression, known)


def _any_allowed(expression: str, known: Set[str]) -> bool:
    choices = re.split(r" OR |/", expression)
    return any(all(part.strip() in known for part in choice.split(" AND ")) for choice in choices)


def allowed_licenses() -> set[str]:
    """Return what `deny.toml` allows."""
    return set(tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))["licenses"]["allow"])


def locked() -> list[Crate]:
    """Return every crate of others in `Cargo.lock`, those of tests, builds and other systems included."""
    metadata = json.loads(_cargo("metadata", "--format-version", "1"))
    return [
        Crate(
            name=package["name"],
            version=package["version"],
            license=package["license"] or "",
            authors=tuple(package["authors"]),
            folder=Path(package["manifest_path"]).parent,
        )
        for package in metadata["packages"]
        if package["source"] is not None
    ]


def shipped(crates: list[Crate]) -> list[Crate]:
    """Return those of which code is in a wheel: no tests, no build scripts, no macros."""
    names = {line for target in TARGETS for line in _linked("lossylink-python", target)}
    names |= set(_linked("lossylink-web", WEB))
    return sorted(
        (crate for crate in crates if (crate.name, crate.version) in names),
        key=lambda crate: (crate.name, crate.version),
    )


def scripts() -> list[Crate]:
    """Return the libraries of reports."""
    found = {path.parent: json.loads(path.read_text()) for path in sorted(SCRIPTS.glob("*/package.json"))}
    return [
        Crate(one["name"], one["version"], one["license"], (one["author"],), folder)
        for folder, one in found.items()
    ]


def in_page() -> list[Crate]:
    """Return the packages of npm in the page of the explorer."""
    return [
        Crate(one["name"], one["version"], one["license"], (), None, one["text"])
        for one in json.loads(PAGE.read_text(encoding="utf-8"))
    ]


def _linked(package: str, target: str) -> Iterator[tuple[str, str]]:
    tree = _cargo(
        *("tree", "--package", package, "--target", target),
        *("--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}"),
    )
    for line in tree.splitlines():
        name, version = line.split()[:2]
        yield name, version.removeprefix("v")


def _cargo(*arguments: str) -> str:
    done = subprocess.run(
        ["cargo", arguments[0], "--locked", *arguments[1:]],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"error: cargo {arguments[0]} failed: {done.stderr.strip()}")
    return done.stdout


def document(crates: list[Crate]) -> str:
    """Return `THIRD-PARTY-LICENSES.md` of crates and of all scripts: a table, then the text of each."""
    crates = [*crates, *scripts(), *in_page()]
    rows = "".join(f"| {crate.name} | {crate.version} | {crate.license} |\n" for crate in crates)
    texts = "".join(f"\n## {crate.name} {crate.version}\n\n{_text(crate)}\n" for crate in crates)
    return HEAD + rows + texts


def _text(crate: Crate) -> str:
    text = crate.text or _text_in(crate.folder)
    if not text:
        authors = ", ".join(re.sub(r" <.*>", "", author) for author in crate.authors) or "its authors"
        return f"The crate brings no text. It is declared as {crate.license}, by {authors}."
    return "```text\n" + "\n".join(line.rstrip() for line in text.strip().splitlines()) + "\n```"


def _text_in(folder: Path | None) -> str:
    """Return the text of a licence in a folder, if there is one."""
    found = (path for pattern in FILES if folder for path in sorted(folder.glob(pattern)))
    file = next(found, None)
    return file.read_text(encoding="utf-8") if file else ""


def main(arguments: list[str]) -> int:
    """Write the file, or check it; returns the exit code."""
    crates = locked()
    allowed = allowed_licenses()
    refused = [crate for crate in [*crates, *scripts(), *in_page()] if not is_allowed(crate.license, allowed)]
    for crate in refused:
        print(f"error: {crate.name} {crate.version} is under {crate.license!r}; deny.toml does not allow it")
    text = document(shipped(crates))
    if "--check" not in arguments:
        WRITTEN.write_text(text, encoding="utf-8")
        return bool(refused)
    is_stale = not WRITTEN.is_file() or WRITTEN.read_text(encoding="utf-8") != text
    if is_stale:
        print(f"error: {WRITTEN.name} is stale; run tools/licenses.py")
    return bool(refused or is_stale)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
