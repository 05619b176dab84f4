"""What a wheel must carry is known from the tree, and a wheel that lacks some of it is found."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

import wheel_files
from lossylink import resources


def wheel(path: Path, without: str = "") -> str:
    licenses = [f"lossylink-0.1.0.dist-info/licenses/{name}" for name in wheel_files.LICENSES]
    with zipfile.ZipFile(path, "w") as archive:
        for name in [*wheel_files.expected(), *licenses]:
            if not (without and name.endswith(without)):
                archive.writestr(name, "")
    return str(path)


def test_what_the_package_reads_is_expected() -> None:
    expected = set(wheel_files.expected())
    root = Path(str(resources.__file__)).parent
    read = [resources.PUBLISHED, resources.UNSOURCED, resources.DICTIONARY, resources.GLOSSARY]
    read += resources.SCENARIOS.rglob("*.toml")
    read += resources.KERNEL.iterdir()
    assert {f"lossylink/{path.relative_to(root).as_posix()}" for path in read} <= expected
    assert {
        "lossylink/report/assets/report.html.j2",
        "lossylink/py.typed",
        "lossylink/_native.pyi",
    } <= expected


@pytest.mark.parametrize("name", ["glossary.md", "_native.abi3.so", "stress.toml", "THIRD-PARTY-LICENSES.md"])
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
