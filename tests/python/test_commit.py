"""The commit of the sources is built into the native module, and known without rebuild loops."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from lossylink import _native
from lossylink._package.manifest import manifest

BUILD = Path(__file__).resolve().parents[2] / "crates" / "python" / "build.rs"
#: Nothing of the machine's own git, and no name that a build was given.
OWN = ("GIT_", "LOSSYLINK_COMMIT")
BARE = {key: value for key, value in os.environ.items() if not key.startswith(OWN)}
BARE |= {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}


def test_the_manifest_has_the_commit_of_the_module() -> None:
    commit = manifest(seed=1)["commit"]
    assert commit == _native.commit()
    assert re.fullmatch(r"unknown|[0-9a-f]{40}(\+changes)?", commit) or "LOSSYLINK_COMMIT" in os.environ


def git(place: Path, *arguments: str) -> str:
    named = ("-c", "user.name=somebody", "-c", "user.email=somebody@localhost", "-c", "commit.gpgsign=false")
    done = subprocess.run(
        ["git", *named, *arguments], cwd=place, env=BARE, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("build") / "build"
    subprocess.run(["rustc", "--edition", "2024", str(BUILD), "-o", str(program)], check=True)
    return program


@pytest.fixture
def built(script: Path) -> Callable[..., tuple[str, list[Path]]]:
    """Run the build script for a workspace: the commit that it tells, and the files that cargo watches."""

    def build(workspace: Path, **environment: str) -> tuple[str, list[Path]]:
        here = workspace / "crates" / "python"
        given = BARE | {"CARGO_MANIFEST_DIR": str(here)} | environment
        done = subprocess.run([str(script)], cwd=here, env=given, capture_output=True, text=True, check=True)
        commit = re.search(r"^cargo::rustc-env=LOSSYLINK_COMMIT=(.*)$", done.stdout, re.MULTILINE)
        assert commit is not None
        places = re.findall(r"^cargo::rerun-if-changed=(.+)$", done.stdout, re.MULTILINE)
        return commit[1], [here / place for place in places if place != "build.rs"]

    return build


def workspace(place: Path) -> Path:
    (place / "crates" / "python").mkdir(parents=True)
    (place / "crates" / "python" / "lib.rs").write_text("")
    (place / "README.md").write_text("one\n")
    return place


def repository(place: Path) -> Path:
    git(workspace(place), "init", "-q", "-b", "trunk")
    git(place, "add", ".")
    git(place, "commit", "-q", "-m", "one")
    return place


Built = Callable[..., tuple[str, list[Path]]]


def test_a_clean_tree_is_its_commit_and_changes_are_told(tmp_path: Path, built: Built) -> None:
    tree = repository(tmp_path / "tree")
    head = git(tree, "rev-parse", "HEAD")
    assert built(tree)[0] == head
    (tree / "untracked").write_text("")
    assert built(tree)[0] == head
    (tree / "README.md").write_text("two\n")
    assert built(tree)[0] == f"{head}+changes"
    assert built(tree, LOSSYLINK_COMMIT="v1")[0] == "v1"
    assert built(tree, LOSSYLINK_COMMIT="")[0] == f"{head}+changes"


def test_without_git_it_is_unknown(tmp_path: Path, built: Built) -> None:
    outer = repository(tmp_path / "outer")
    unpacked = workspace(outer / "unpacked")
    assert built(unpacked)[0] == "unknown", "the commit of another repository around it is not ours"
    assert built(repository(tmp_path / "tree"), PATH="/nonexistent")[0] == "unknown"


def test_what_cargo_watches_exists_and_moves_with_the_commit(tmp_path: Path, built: Built) -> None:
    """Cargo takes a missing file for a changed one, and would build forever."""
    tree = repository(tmp_path / "tree")
    git(tree, "worktree", "add", "-q", "-b", "other", str(tmp_path / "other"))
    for place in (tree, tmp_path / "other"):
        packed = [False, True] if place == tree else [True]
        for is_packed in packed:
            if is_packed:
                git(tree, "pack-refs", "--all")
            _, watched = built(place)
            assert all(path.exists() for path in watched)
            assert not [path for path in watched if path.name == "index"]
            before = [path.read_bytes() for path in watched if path.is_file()]
            git(place, "commit", "-q", "--allow-empty", "-m", "two")
            assert [path.read_bytes() for path in watched if path.is_file()] != before


def test_what_cargo_watches_does_not_move_with_other_branches(tmp_path: Path, built: Built) -> None:
    tree = repository(tmp_path / "tree")
    git(tree, "worktree", "add", "-q", "-b", "other", str(tmp_path / "other"))
    _, watched = built(tree)
    before = [path.read_bytes() for path in watched if path.is_file()]
    git(tmp_path / "other", "commit", "-q", "--allow-empty", "-m", "elsewhere")
    assert [path.read_bytes() for path in watched if path.is_file()] == before
