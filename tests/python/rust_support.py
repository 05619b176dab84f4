"""Reads Rust sources as a tree of modules, and which of them each module names.

A path counts wherever it stands: in a ``use`` declaration, in a type, in an expression. It is followed
through every module that only hands the name on, to the module that defines what is named. What only tests
see is left out. Left out, too, are methods, which are called on a value whose type may be named elsewhere,
and names that come by ``*``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

#: The names of a path, or of a module from the root of its crate.
Names = tuple[str, ...]

NO_CODE = re.compile(
    r"""//[^\n]*|/\*.*?\*/                      # comments
    |b?r(\#*)".*?"\1|b?"(?:\\.|[^"\\])*"        # texts
    |b?'(?:\\.[^']*|[^\\'\n])'                  # characters, but no lifetimes
    """,
    re.DOTALL | re.VERBOSE,
)
TEST = re.compile(r"#\[cfg\((?:doc)?test\)\]")
INLINE = re.compile(r"\bmod\s+(\w+)\s*(?=\{)")
DECLARED = re.compile(r"\bmod\s+(\w+)\s*;")
USE = re.compile(r"\buse\s+([^;]+);")
PATH = re.compile(r"(?<![\w:])\w+(?:::\w+)+")


@dataclass(frozen=True)
class Module:
    """A module: its children, what its ``use`` declarations call a path, and every path that it names."""

    children: frozenset[str]
    uses: dict[str, Names]
    paths: frozenset[Names]


#: Every module of a crate by its names.
Tree = dict[Names, Module]


def item_end(code: str, start: int) -> int:
    """Return where the item ends that begins here: behind its semicolon, or behind its block."""
    depth = 0
    for at, sign in enumerate(code[start:], start):
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0 and sign in ";}":
            return at + 1
    return len(code)


def without_tests(code: str) -> str:
    while found := TEST.search(code):
        code = code[: found.start()] + code[item_end(code, found.end()) :]
    return code


def used(tree: str, before: Names = ()) -> Iterator[tuple[str, Names]]:
    """Yield each name that a ``use`` declaration brings, and the path for which it stands."""
    tree = tree.strip()
    if tree.startswith("{"):
        for part in parts(tree[1:-1]):
            if part.strip():
                yield from used(part, before)
        return
    first, is_longer, rest = tree.partition("::")
    if is_longer:
        yield from used(rest, (*before, first.strip()))
        return
    name, _, alias = (word.strip() for word in tree.partition(" as "))
    path = before if name == "self" else (*before, name)
    yield alias or path[-1], path


def parts(tree: str) -> Iterator[str]:
    """Yield what commas separate, but for those inside of braces."""
    depth, begin = 0, 0
    for at, sign in enumerate(tree):
        depth += (sign == "{") - (sign == "}")
        if sign == "," and depth == 0:
            yield tree[begin:at]
            begin = at + 1
    yield tree[begin:]


def read(crate: Path) -> Tree:
    """Return the modules of the crate in this folder."""
    code = NO_CODE.sub(" ", (crate / "src/lib.rs").read_text())
    return dict(modules(without_tests(code), crate / "src", ()))


def modules(code: str, folder: Path, names: Names) -> Iterator[tuple[Names, Module]]:
    """Yield the module of this code, whose children have their files in ``folder``, and all below it."""
    children = []
    while found := INLINE.search(code):
        end = item_end(code, found.end())
        children.append((found[1], code[found.end() + 1 : end - 1]))
        code = code[: found.start()] + code[end:]
    for child in DECLARED.findall(code):
        files = [folder / f"{child}.rs", folder / child / "mod.rs"]
        text = next(file for file in files if file.exists()).read_text()
        children.append((child, without_tests(NO_CODE.sub(" ", text))))
    uses = [pair for declared in USE.findall(code) for pair in used(declared)]
    paths = {path for _, path in uses} | {tuple(path.split("::")) for path in PATH.findall(USE.sub("", code))}
    yield names, Module(frozenset(child for child, _ in children), dict(uses), frozenset(paths))
    for child, text in children:
        yield from modules(text, folder / child, (*names, child))


def homes(tree: Tree, here: Names, path: Names) -> Iterator[Names]:
    """Yield the module that defines what a path names, seen from ``here``, and the modules that hand it on.

    A path into another crate has none.
    """
    first, rest = path[0], path
    at = () if first == "crate" else here
    if first in {"crate", "self"}:
        rest = path[1:]
    elif first != "super" and first not in tree[here].children and first not in tree[here].uses:
        return
    for place, name in enumerate(rest):
        is_last = place + 1 == len(rest)
        if name == "super":
            at = at[:-1]
        elif name in tree[at].children and not (is_last and name in tree[at].uses):
            at = (*at, name)
        elif name in tree[at].uses:
            yield at
            yield from homes(tree, at, (*tree[at].uses[name], *rest[place + 1 :]))
            return
        else:
            break
    yield at
