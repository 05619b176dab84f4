"""The floors of the package: every import goes down, nothing goes round, and late imports have a reason."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "lossylink"
#: Libraries that take more than 30 ms of processor time to load, and optional extras.
HEAVY = frozenset(
    {
        *("matplotlib", "numpy", "polars", "pydantic", "rich", "scipy"),
        *("distributed", "submitit", "thriftpy2"),
    }
)
MOST_NAMES = 14


class Imported(NamedTuple):
    """One name of an import statement."""

    target: str
    """A module of the package, or the first part of a library's name."""
    line: int
    is_late: bool
    """Whether it stands in a function."""
    is_for_types: bool
    """Whether it stands under ``TYPE_CHECKING``."""


@cache
def modules() -> dict[str, ast.Module]:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = ast.parse(path.read_text())
    return found


@cache
def imports() -> dict[str, list[Imported]]:
    known = frozenset({*modules(), "lossylink._native"})
    return {name: list(imported(tree.body, known)) for name, tree in modules().items()}


def imported(
    body: Iterable[ast.AST], known: frozenset[str], is_late: bool = False, is_for_types: bool = False
) -> Iterator[Imported]:
    """Yield what statements import, at any depth."""
    for node in body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Imported(target_of(alias.name, known), node.lineno, is_late, is_for_types)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                target = full if full in known else target_of(str(node.module), known)
                yield Imported(target, node.lineno, is_late, is_for_types)
        else:
            late = is_late or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            types = is_for_types or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
            yield from imported(ast.iter_child_nodes(node), known, late, types)


def target_of(name: str, known: frozenset[str]) -> str:
    return name if name in known else name.partition(".")[0]


def below(module: str, package: str) -> str | None:
    """Return the name of the part of a package that holds a module; nothing for one elsewhere."""
    return module[len(package) + 1 :].partition(".")[0] if module.startswith(f"{package}.") else None


def packages_of(module: str) -> set[str]:
    """Return the packages that hold a module, however deep it is in them."""
    parts = module.split(".")
    return {".".join(parts[:depth]) for depth in range(1, len(parts))}


def edges(package: str, found: dict[str, list[Imported]]) -> dict[str, dict[str, str]]:
    """Return which parts of a package import which, each with a place that does."""
    graph: dict[str, dict[str, str]] = {}
    for module, names in found.items():
        part = below(module, package)
        for one in names:
            other = below(one.target, package)
            if part and other and part != other:
                graph.setdefault(part, {})[other] = f"{module}:{one.line}"
    return graph


def floors() -> list[str]:
    """Read the floors in ``docs/ARCHITECTURE.md``, the lowest last."""
    text = (ROOT / "docs" / "ARCHITECTURE.md").read_text()
    (block,) = re.findall(r"^```floors\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [line.split()[0] for line in block.splitlines()]


def upward(order: list[str], found: dict[str, list[Imported]]) -> list[str]:
    """Return the imports that do not go down; ``order`` has the highest floor first."""
    return [
        f"{place} imports from {other}, which is above {part}"
        for part, others in edges("lossylink", found).items()
        for other, place in others.items()
        if part in order and other in order and order.index(other) < order.index(part)
    ]


def test_every_name_of_the_root_has_a_floor() -> None:
    names = {
        path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    assert names - {"__init__", "__main__"} == set(floors())
    assert len(floors()) == len(set(floors()))
    assert len([name for name in floors() if not name.startswith("_")]) <= MOST_NAMES


def test_every_import_goes_down() -> None:
    assert upward(floors(), imports()) == []


@pytest.mark.parametrize("late", ["", "def f():\n    ", "if TYPE_CHECKING:\n    "])
def test_an_import_that_goes_up_is_found(late: str) -> None:
    tree = ast.parse(f"{late}from lossylink.high.inner import name")
    found = {"lossylink.low.one": list(imported(tree.body, frozenset({"lossylink.high.inner"})))}
    assert len(upward(["high", "low"], found)) == 1
    assert upward(["low", "high"], found) == []


def test_no_module_takes_what_the_root_has_for_users() -> None:
    """Such an import could go up unseen."""
    assert [name for name, found in imports().items() for one in found if one.target == "lossylink"] == []


def circles(found: dict[str, list[Imported]]) -> Iterator[str]:
    """Yield, of every package, one circle of its parts, and one circle of modules, packages included."""
    targets = {name: {one.target for one in names} for name, names in found.items()}
    whole = {name: (found.keys() & others) - {name} for name, others in targets.items()}
    try:
        TopologicalSorter(whole).prepare()
    except CycleError as error:
        yield f"modules: {' <- '.join(error.args[1])}"
    for package in {above for module in found for above in packages_of(module)}:
        graph = edges(package, found)
        try:
            TopologicalSorter({part: others.keys() for part, others in graph.items()}).prepare()
        except CycleError as error:
            circle = error.args[1]
            places = [graph[part][other] for other, part in pairwise(circle)]
            yield f"{package}: {' <- '.join(circle)}: {', '.join(places)}"


def test_of_two_parts_of_a_package_one_at_most_imports_the_other() -> None:
    assert list(circles(imports())) == []


def circles_of(texts: dict[str, str]) -> list[str]:
    known = frozenset(texts)
    return list(circles({name: list(imported(ast.parse(text).body, known)) for name, text in texts.items()}))


def test_a_circle_is_found() -> None:
    one, other = "def f():\n    import lossylink.a.y", "import lossylink.a.x"
    of_modules, of_parts = circles_of({"lossylink.a.x": one, "lossylink.a.y": other})
    assert of_modules.startswith("modules: ")
    assert of_parts.startswith("lossylink.a: ")
    # Two packages may be tied by four modules of which no two import each other.
    deep = {"lossylink.a.x": "import lossylink.b.x", "lossylink.b.x": ""}
    deep |= {"lossylink.b.y": "import lossylink.a.y", "lossylink.a.y": ""}
    (circle,) = circles_of(deep)
    assert circle.startswith("lossylink: ")
    (circle,) = circles_of({"lossylink.a": "import lossylink.a.x", "lossylink.a.x": "import lossylink.a"})
    assert circle.startswith("modules: ")


@cache
def loaded_with(module: str) -> frozenset[str]:
    """Return the heavy libraries that loading a module loads."""
    seen, waiting, libraries = {module}, [module], set()
    while waiting:
        name = waiting.pop()
        at_once = {one.target for one in imports()[name] if not one.is_late and not one.is_for_types}
        libraries |= at_once & HEAVY
        new = ((packages_of(name) | at_once) & modules().keys()) - seen
        seen |= new
        waiting.extend(new)
    return frozenset(libraries)


def test_an_import_in_a_function_loads_a_heavy_library() -> None:
    """What stands in a function is left out by commands that need no such library."""
    without_reason = [
        f"{module}:{one.line} {one.target}"
        for module, names in imports().items()
        for one in names
        if one.is_late
        if not (loaded_with(one.target) if one.target in modules() else {one.target} & HEAVY)
        - loaded_with(module)
    ]
    assert without_reason == []


def test_an_import_for_types_alone_would_load_a_heavy_library() -> None:
    without_reason = [
        f"{module}:{one.line} {one.target}"
        for module, names in imports().items()
        for one in names
        if one.is_for_types and not is_lazy(modules()[module])
        if not (loaded_with(one.target) if one.target in modules() else {one.target} & HEAVY)
        - loaded_with(module)
    ]
    assert without_reason == []


def is_lazy(tree: ast.Module) -> bool:
    """Whether a package imports its public names when they are first used."""
    return any(isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in tree.body)


def test_heavy_libraries_are_what_they_are_called() -> None:
    used = {one.target for names in imports().values() for one in names}
    assert used >= HEAVY, "a library that nobody loads any more"
    assert not HEAVY & sys.stdlib_module_names
