"""The Rust crates have no import circles, neither of files nor of folders seen as wholes.

Measured are modules beside each other, which have the same parent. One leads to another if it, or a module
below it, names anything that the other, or a module below that, defines or hands on. No way may lead back.
A module and those below it are a house with its rooms. What they name of each other does not count, because
a parent has to declare its children, and a child may use what its parents define.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest

from .rust_support import Names, Tree, homes, read

CRATES = Path(__file__).resolve().parents[2] / "crates"

#: For each module, those beside it to which it leads, with what is named there: ``who: name``.
Ways = dict[str, dict[str, set[str]]]


def ways(tree: Tree) -> dict[Names, Ways]:
    """Return the ways between the children of each module."""
    found: dict[Names, Ways] = defaultdict(lambda: defaultdict(lambda: defaultdict(set)))
    for here, module in tree.items():
        for path in module.paths:
            for home in homes(tree, here, path):
                shared = len([*takewhile(lambda pair: pair[0] == pair[1], zip(here, home, strict=False))])
                if shared < min(len(here), len(home)):
                    named = f"{'::'.join(here)}: {path[-1]}"
                    found[here[:shared]][here[shared]][home[shared]].add(named)
    return found


def reached(start: str, graph: Ways) -> set[str]:
    """Return what can be reached in one step or more."""
    seen: set[str] = set()
    ahead = [start]
    while ahead:
        new = set(graph.get(ahead.pop(), ())) - seen
        seen |= new
        ahead.extend(new)
    return seen


def circles(tree: Tree) -> Iterator[str]:
    """Yield a text for each circle: who leads to whom, and by which names."""
    for house, graph in ways(tree).items():
        reach = {name: reached(name, graph) for name in list(graph)}
        groups = {
            frozenset(other for other in found if name in reach.get(other, ()))
            for name, found in reach.items()
            if name in found
        }
        for group in sorted(groups, key=sorted):
            lines = [
                f"  {one} -> {other}: {', '.join(sorted(graph[one][other]))}"
                for one in sorted(group)
                for other in sorted(group & graph[one].keys())
            ]
            yield "\n".join([f"in {'::'.join(('crate', *house))}", *lines])


@pytest.mark.parametrize("crate", sorted(path.parent.name for path in CRATES.glob("*/Cargo.toml")))
def test_no_modules_beside_each_other_name_each_other(crate: str) -> None:
    tree = read(CRATES / crate)
    assert len(tree) > 1
    found = [*circles(tree)]
    assert not found, f"{crate} has circles; move what both sides need below them\n" + "\n".join(found)


def crate_of(folder: Path, files: dict[str, str]) -> Tree:
    for name, text in files.items():
        file = folder / "src" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return read(folder)


#: Two modules of which the first uses the second, and a third.
BESIDE = {"lib.rs": "mod one; mod other; mod third;", "one.rs": "use crate::other::Thing;", "third.rs": ""}


@pytest.mark.parametrize(
    "back",
    [
        "use crate::one;",
        "pub(crate) use super::{third, one::{self as first, Deep}};",
        "fn make() -> super::one::Deep { todo!() }",
        "use super::third;\nconst LONGEST: u32 = third::one::LONGEST;",
        "mod inside { use super::super::one::Deep; }",
    ],
)
def test_the_search_finds_every_way_back(back: str, tmp_path: Path) -> None:
    tree = crate_of(tmp_path, {**BESIDE, "other.rs": back, "third.rs": "pub use crate::one;"})
    [found] = circles(tree)
    assert found.startswith("in crate\n  one -> other: one: Thing\n  other -> ")


@pytest.mark.parametrize(
    "harmless",
    [
        "// use crate::one;",
        "#[doc = \"crate::one::Deep\"] struct A<'a>(&'a [char; 1]);",
        "#[cfg(test)]\nuse crate::one;",
        "#[cfg(test)]\nmod tests { fn go() { crate::one::go(); } }",
        "use lossylink_core::one::Deep;",
        "use super::{third, *};",
        "mod one; use one::Deep;",
    ],
)
def test_the_search_accuses_nobody_else(harmless: str, tmp_path: Path) -> None:
    tree = crate_of(tmp_path, {**BESIDE, "other.rs": harmless, "other/one.rs": "use super::Thing;"})
    assert list(circles(tree)) == []


def test_folders_are_seen_as_wholes(tmp_path: Path) -> None:
    files = {
        "lib.rs": "mod house; mod yard;",
        "house/mod.rs": "mod attic; mod cellar; pub use attic::Beam;",
        "house/attic.rs": "pub struct Beam;",
        "house/cellar.rs": "use crate::yard::Well;",
        "yard.rs": "pub struct Well(crate::house::Beam);",
    }
    [found] = circles(crate_of(tmp_path, files))
    assert found.splitlines() == [
        "in crate",
        "  house -> yard: house::cellar: Well",
        "  yard -> house: yard: Beam",
    ]


def test_longer_circles_are_found(tmp_path: Path) -> None:
    leads = {"a": "b", "b": "c", "c": "d", "d": "a", "e": "b"}
    files = {f"{one}.rs": f"fn go() {{ super::{other}::go() }}" for one, other in leads.items()}
    [found] = circles(crate_of(tmp_path, {"lib.rs": "mod a; mod b; mod c; mod d; mod e;", **files}))
    assert [line.split(":")[0] for line in found.splitlines()[1:]] == [
        "  a -> b",
        "  b -> c",
        "  c -> d",
        "  d -> a",
    ]
