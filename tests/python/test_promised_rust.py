"""`tools/promised-rust` compiles with the Rust version that Cargo.toml promises, or says why it does not."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROMISED = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["rust-version"]
RELEASE = PROMISED if PROMISED.count(".") == 2 else f"{PROMISED}.0"


def check(
    folder: Path, *, rustc: str, rustup: str | None = None, ci: bool = False
) -> subprocess.CompletedProcess[str]:
    """Runs the tool with a compiler of version ``rustc``, and a rustup that is the script ``rustup``."""
    programs = {"rustc": f"echo rustc {rustc}"} | ({} if rustup is None else {"rustup": rustup})
    for name, script in programs.items():
        program = folder / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    for name in ("awk", "dirname", "sed"):
        (folder / name).symlink_to(shutil.which(name) or name)
    environment = {"PATH": str(folder), "CARGO_TARGET_DIR": str(folder)} | ({"CI": "true"} if ci else {})
    command = ["/bin/bash", str(ROOT / "tools/promised-rust")]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_the_promised_compiler_needs_no_check(tmp_path: Path) -> None:
    done = check(tmp_path, rustc=RELEASE, ci=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"Rust {RELEASE}, which Cargo.toml promises, is what builds\n"


def test_the_workspace_is_checked_with_the_promised_compiler(tmp_path: Path) -> None:
    done = check(tmp_path, rustc="1.999.0", rustup=f'echo "$@" >> {tmp_path}/calls')
    assert (done.returncode, done.stderr) == (0, "")
    assert (
        done.stdout.splitlines()[-1] == f"Rust {RELEASE}, which Cargo.toml promises, compiles the workspace"
    )
    calls = (tmp_path / "calls").read_text().splitlines()
    assert calls[-1] == f"run {RELEASE} cargo check --locked --quiet --workspace --all-targets"


def test_a_workspace_that_does_not_compile_is_an_error(tmp_path: Path) -> None:
    done = check(tmp_path, rustc="1.999.0", rustup='[ "$4" != check ]')
    assert done.returncode == 1
    assert (
        done.stderr == f"error: Rust {RELEASE}, which Cargo.toml promises, does not compile the workspace\n"
    )


@pytest.mark.parametrize("rustup", [None, "exit 1"], ids=["missing", "without a network"])
def test_what_cannot_be_checked_is_a_note_and_an_error_in_ci(tmp_path: Path, rustup: str | None) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "ci").mkdir()
    here = check(tmp_path / "here", rustc="1.999.0", rustup=rustup)
    in_ci = check(tmp_path / "ci", rustc="1.999.0", rustup=rustup, ci=True)
    assert (here.returncode, in_ci.returncode) == (0, 1)
    said = re.fullmatch(r"error: (rustup .*; .*)\n", in_ci.stderr)
    assert said, in_ci.stderr
    assert here.stderr == f"note: {said[1]}; the promise of Cargo.toml is not checked\n"


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_documents_ask_for_the_promised_version(document: str) -> None:
    asked = re.findall(r"Rust ([\d.]+\d) or newer", (ROOT / document).read_text())
    assert asked == [PROMISED]
