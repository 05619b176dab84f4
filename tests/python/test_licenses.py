"""Crates and scripts of others: every licence is allowed; the texts that a wheel carries are not stale."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import licenses


@pytest.fixture(scope="module")
def crates() -> list[licenses.Crate]:
    return licenses.locked()


def test_every_license_is_allowed(crates: list[licenses.Crate]) -> None:
    allowed = licenses.allowed_licenses()
    assert len(crates) > len(licenses.shipped(crates)) > 0
    assert [crate.name for crate in crates if not licenses.is_allowed(crate.license, allowed)] == []
    without_one = allowed - {"BSD-3-Clause"}
    refused = [crate.name for crate in crates if not licenses.is_allowed(crate.license, without_one)]
    assert refused == ["snap"], "a licence that is not allowed is found"


def test_scripts_of_reports_have_an_allowed_license_and_its_text() -> None:
    (script,) = licenses.scripts()
    assert (script.name, script.version) == ("uplot", "1.6.32")
    assert licenses.is_allowed(script.license, licenses.allowed_licenses())
    assert "## uplot 1.6.32\n\n```text\nThe MIT License" in licenses.document([])


def test_packages_of_the_page_have_allowed_licenses_and_the_versions_that_are_locked() -> None:
    packages = licenses.in_page()
    lock = json.loads((licenses.ROOT / "web" / "package-lock.json").read_text())["packages"]
    locked = {
        path.removeprefix("node_modules/"): (one["version"], one["license"])
        for path, one in lock.items()
        if path and not one.get("dev")
    }
    assert {"preact", "@observablehq/plot"} <= {package.name for package in packages}
    for package in packages:
        assert locked[package.name] == (package.version, package.license), "run make licenses"
        assert licenses.is_allowed(package.license, licenses.allowed_licenses()), package.name
        assert f"\n## {package.name} {package.version}\n\n```text\n" in licenses.document([])


def test_no_license_is_allowed_in_vain(crates: list[licenses.Crate]) -> None:
    """Each allowed licence is named by a crate or by a package of the page, beside the two of ours."""
    named = " ".join(one.license for one in [*crates, *licenses.in_page()])
    assert [one for one in licenses.allowed_licenses() if one not in named] == []


def test_the_texts_of_a_wheel_are_not_stale(crates: list[licenses.Crate]) -> None:
    assert licenses.WRITTEN.read_text() == licenses.document(licenses.shipped(crates)), (
        "run tools/licenses.py and commit what it writes"
    )


def test_the_check_says_when_the_texts_are_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(licenses, "WRITTEN", tmp_path / "texts.md")
    assert licenses.main(["--check"]) == 1
    assert capsys.readouterr().out == "error: texts.md is stale; run tools/licenses.py\n"
    assert licenses.main([]) == 0
    assert licenses.main(["--check"]) == 0


def test_what_is_in_a_wheel_is_neither_a_test_nor_a_macro(crates: list[licenses.Crate]) -> None:
    names = {crate.name for crate in licenses.shipped(crates)}
    assert {"crc32fast", "pyo3", "rayon"} <= names
    assert not {"proptest", "serde_derive", "pyo3-build-config", "windows-sys"} & names
