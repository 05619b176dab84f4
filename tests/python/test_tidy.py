"""The package is tidy: no import circles, nothing that nobody reads or calls, everything registered.

Reading and calling are judged by name: a field counts as read when any attribute of its name is, so that the
search can miss what it looks for, but does not accuse the innocent.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from lossylink._package.discovery import modules_in, names_in
from lossylink._package.resources import DECLARATIONS, SCENARIOS
from lossylink.declared import experiments
from lossylink.declared.backend import backend_names
from lossylink.declared.experiments import all_experiments
from lossylink.reproduce.reproduction import registry
from lossylink.running import backends
from lossylink.running.backends import backend_named
from lossylink.running.backends.live import measure_of
from lossylink.scenario.keys import keys_of
from lossylink.scenario.models import SECTIONS
from lossylink.scenario.section import keys_in

PYTHON = Path(__file__).resolve().parents[2] / "python"
PACKAGE = PYTHON / "lossylink"

#: Classes whose fields are read all at once, and by what.
READ_WHOLE = {
    "Axis": "the report's script, from JSON",
    "Series": "the report's script, from JSON",
    "Guide": "the report's script, from JSON",
    "Key": "the report's script, from JSON",
    "Provenance": "the report's template",
    "Price": "reproduce.json",
    "Chart": "the report's template",
    "Page": "the report's template",
    "Section": "the report's template",
    "Statement": "the report's template",
    "Statements": "the report's template",
    "Heading": "the report's template",
    "Command": "the report's template",
    "OpenClaims": "the report's template",
    "Prediction": "lossylink.planning.prediction.KEYS, by name",
    "Spelling": "the guide to scenarios, by a test of documents",
}

#: Where a command lives, in the words of an entry point.
HOME = re.compile(r"lossylink(?:\.\w+)+:(\w+)")
#: Methods that a library calls, by name, and which.
CALLED_BY_LIBRARIES = {
    "do_GET": "http.server",
    "log_message": "http.server",
    "server_bind": "socketserver",
    "process_request": "socketserver",
    "shutdown_request": "socketserver",
    "handle_error": "socketserver",
    "server_activate": "socketserver",
    "service_actions": "socketserver",
    "get_help": "click",
    "make_metavar": "click",
    "get_error_hint": "click",
}


def module_name(path: Path) -> str:
    parts = path.relative_to(PYTHON).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def trees() -> dict[str, ast.Module]:
    return {module_name(path): ast.parse(path.read_text()) for path in PACKAGE.rglob("*.py")}


def loads(tree: ast.AST) -> Iterator[str]:
    """Yield every name and attribute that is read, and what a text names as ``module:function``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            yield node.attr
        elif isinstance(node, ast.Constant) and (found := HOME.fullmatch(str(node.value))):
            yield found[1]


def words_of(value: object) -> Iterator[str]:
    """Yield every word of a declaration that may name a measure."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from words_of(one)


@cache
def read_in_package() -> Counter[str]:
    """Names that modules read, and the words of claims that are declared as data."""
    tables = [tomllib.loads(path.read_text()) for path in DECLARATIONS.glob("*.toml")]
    named = Counter(word for table in tables for word in words_of(table["claims"]))
    return Counter(name for tree in trees().values() for name in loads(tree)) + named


def exported(tree: ast.Module) -> set[str]:
    """Return what a module's ``__all__`` names."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


def is_public_api(module: str, name: str) -> bool:
    """Whether a package above names the function in its ``__all__``, or the whole module that holds it."""
    package, _, leaf = module.rpartition(".")
    above = [*(trees()[found] for found in (package, module) if found in trees())]
    return any({name, leaf} & exported(tree) for tree in above)


def functions(tree: ast.Module, api: frozenset[str] = frozenset()) -> Iterator[ast.FunctionDef]:
    """Yield public functions and methods; a decorator that is called, such as a command's, is a caller.

    Methods of the classes in ``api`` are called by users.
    """
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name in api:
            continue
        inner = [node, *node.body] if isinstance(node, ast.ClassDef) else [node]
        for one in inner:
            if not isinstance(one, ast.FunctionDef) or one.name.startswith("_"):
                continue
            if not any(isinstance(decorator, ast.Call) for decorator in one.decorator_list):
                yield one


def test_no_public_function_is_without_a_caller() -> None:
    lonely = []
    api = frozenset(exported(trees()["lossylink"]))
    for module, tree in trees().items():
        for function in functions(tree, api):
            own = Counter(loads(function))
            called = read_in_package()[function.name] > own[function.name]
            called = called or function.name in CALLED_BY_LIBRARIES
            if not called and not is_public_api(module, function.name):
                lonely.append(f"{module}.{function.name}")
    assert lonely == []
    defined = {function.name for tree in trees().values() for function in functions(tree, api)}
    assert CALLED_BY_LIBRARIES.keys() <= defined, "an exception that nothing needs any more"


def fields(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield class and field of every dataclass, named tuple, structure and pydantic model."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef):
            continue
        words = [ast.unparse(one) for one in (*node.decorator_list, *node.bases)]
        records = {"BaseModel", "NamedTuple", "Struct", "Section"}
        if any(word.startswith("dataclass") or word in records for word in words):
            for one in node.body:
                if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
                    yield node.name, one.target.id


def test_no_field_is_without_a_reader() -> None:
    attributes = {
        node.attr
        for tree in trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    }
    every = [pair for tree in trees().values() for pair in fields(tree)]
    unread = [
        f"{owner}.{name}" for owner, name in every if name not in attributes and owner not in READ_WHOLE
    ]
    assert unread == []
    assert READ_WHOLE.keys() <= {owner for owner, _ in every}, "an exception that nothing needs any more"


def test_the_searches_find_what_they_look_for() -> None:
    sample = ast.parse("@dataclass\nclass A:\n    unread: int\n    def lonely(self): ...\ndef _own(): ...")
    assert list(fields(sample)) == [("A", "unread")]
    assert [function.name for function in functions(sample)] == ["lonely"]


def test_every_module_of_experiments_is_registered() -> None:
    files = {path.stem for path in (PACKAGE / "declared" / "experiments").glob("[!_]*")}
    assert files == {name.replace("-", "_") for name in all_experiments()}
    assert [module.EXPERIMENT.name for module in modules_in(experiments)] == list(all_experiments())


@pytest.mark.parametrize("name", sorted(all_experiments()))
def test_a_declaration_agrees_with_the_rest(name: str) -> None:
    experiment = all_experiments()[name]
    assert (SCENARIOS / f"{name}.toml").is_file()
    assert experiment.refused.keys() <= set(backend_names())
    assert {column.key for column in experiment.headline} <= set(experiment.row_keys)
    known = {f"{section}.{key}" for section, model in SECTIONS.items() for key in keys_in(model)}
    assert keys_of(experiment) <= known
    if "live" not in experiment.refused:
        assert callable(measure_of(name))


def test_every_backend_is_known_by_the_name_of_its_module() -> None:
    assert [backend_named(name).name for name in names_in(backends)] == backend_names()


def test_every_published_experiment_has_a_place_of_its_own() -> None:
    places = [experiment.place for experiment in registry.WRITTEN]
    assert places == sorted(set(places))
