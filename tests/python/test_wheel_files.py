"""What a wheel must carry is known from the tree, and a wheel that lacks some of it is found."""

from __future__ import annotations

import tomllib
import zipfile
from pathlib import Path

import pytest

import wheel_files
from lossylink._package import resources
from lossylink.linux.bmv2 import runtime


def wheel(path: Path, without: str = "") -> str:
    licenses = [f"lossylink-0.1.0.dist-info/licenses/{name}" for name in wheel_files.LICENSES]
    with zipfile.ZipFile(path, "w") as archive:
        for name in [*wheel_files.expected(), *licenses]:
            if not (without and name.endswith(without)):
                archive.writestr(name, "")
    return str(path)


def test_what_the_package_reads_is_expected() -> None:
    expected = set(wheel_files.expected())
    root = Path(str(resources.__file__)).parents[1]
    read = [resources.PUBLISHED, resources.UNSOURCED, resources.DICTIONARY, resources.GLOSSARY]
    read += resources.SCENARIOS.rglob("*.toml")
    read += resources.DECLARATIONS.glob("*.toml")
    read += resources.KERNEL.iterdir()
    read += resources.P4.rglob("*.p4")
    read += [Path(runtime.__file__).with_name("runtime.thrift")]
    assert {f"lossylink/{path.relative_to(root).as_posix()}" for path in read} <= expected
    assert {
        "lossylink/charts/report/assets/report.html.j2",
        "lossylink/linux/service/dashboard.json",
        "lossylink/py.typed",
        "lossylink/_native.pyi",
    } <= expected


def unnamed(link: Path, patterns: list[str]) -> list[str]:
    """Return the files behind a link of the package that no pattern names."""
    names = [file.relative_to(wheel_files.ROOT) for file in sorted(link.rglob("*")) if file.is_file()]
    return [name.as_posix() for name in names if not any(map(name.match, patterns))]


def patterns() -> list[str]:
    """Return the files that the builder is told to take into a wheel."""
    project = tomllib.loads((wheel_files.ROOT / "pyproject.toml").read_text())
    return [one["path"] for one in project["tool"]["maturin"]["include"] if "wheel" in one["format"]]


def test_every_program_for_switches_is_named_to_the_builder() -> None:
    link = wheel_files.SOURCES / "lossylink" / "_package" / "p4"
    assert unnamed(link, patterns()) == []
    assert unnamed(wheel_files.SOURCES / "lossylink" / "reference", patterns()) == []
    without = [pattern for pattern in patterns() if not pattern.endswith(".p4")]
    assert "python/lossylink/_package/p4/linkguardian/sender.p4" in unnamed(link, without)


def test_the_page_is_named_to_the_builder() -> None:
    """Git does not know it, and what git ignores a builder leaves out."""
    assert any(map(Path("python", wheel_files.PAGE).match, patterns()))


@pytest.mark.parametrize(
    "name",
    [
        "glossary.md",
        "_native.abi3.so",
        "stress.toml",
        "sender.p4",
        "runtime.thrift",
        "THIRD-PARTY-LICENSES.md",
    ],
)
def test_a_wheel_that_lacks_a_file_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert wheel_files.main([wheel(tmp_path / "whole.whl")]) == 0
    assert wheel_files.main([wheel(tmp_path / "part.whl", without=name)]) == 1
    whole, part = capsys.readouterr().out.splitlines()
    assert whole == "whole.whl carries every file of the package"
    assert part.startswith("part.whl lacks ")
    assert part.endswith(name)
    assert wheel_files.main([]) == 1, "no wheel is not a good one"


def test_a_wheel_without_the_page_says_what_builds_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Git does not know the page: a tree may be without, and a wheel of it is refused."""
    assert wheel_files.main([wheel(tmp_path / "part.whl", without=".html")]) == 1
    assert capsys.readouterr().out == f"part.whl lacks {wheel_files.PAGE}; run make web first\n"


def test_a_page_that_takes_too_much_of_a_wheel_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wheel_files, "MOST_PAGE_BYTES", -1)
    assert wheel_files.main([wheel(tmp_path / "large.whl")]) == 1
    assert capsys.readouterr().out == "large.whl has a page of 0 B compressed, more than -1 B\n"
