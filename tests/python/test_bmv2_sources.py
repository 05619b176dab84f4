"""The numbers of the programs for switches: all are read, and events are numbers of their counter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lossylink._package.resources import P4
from lossylink.linux.bmv2 import sources

from .bmv2_support import program_text


@pytest.fixture
def p4(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give a folder of programs of our own."""
    for folder in ("common", "family", "other"):
        (tmp_path / folder).mkdir()
    monkeypatch.setattr(sources, "P4", tmp_path)
    sources.constants.cache_clear()
    yield tmp_path
    sources.constants.cache_clear()


def test_constants_are_read_in_each_spelling(p4: Path) -> None:
    (p4 / "common" / "shared.p4").write_text("const bit<9> PORT = 3;\n")
    (p4 / "other" / "headers.p4").write_text("const bit<9> NOT_OURS = 3;\n")
    (p4 / "family" / "headers.p4").write_text(
        "@noWarn(\"unused\")\nconst ethertype_t TYPE = 0x88b5;\n    const bit<32>  WIDE=16w0x1F ;\n"
        "// const bit<8> COMMENT = 1;\nconst bit<8> TEN = 8w10; // const bit<8> BEHIND = 1;\n"
        "const default_action = drop();\n"
    )  # fmt: skip
    assert sources.constants("family") == {"PORT": 3, "TYPE": 0x88B5, "WIDE": 31, "TEN": 10}


def test_events_are_the_constants_of_a_prefix_but_for_their_number(p4: Path) -> None:
    (p4 / "family" / "a.p4").write_text(
        "const bit<32> A_SEEN_ONCE = 0;\nconst bit<32> A_GONE = 1;\nconst bit<32> A_EVENTS = 2;\n"
        "const bit<32> B_SEEN = 0;\n"
    )
    assert sources.events("family", "A_") == {"seen_once": 0, "gone": 1}


#: Protections with a program that is run.
FAMILIES = sorted(path.parent.name for path in P4.glob("*/topology.p4"))
#: Each with the ends that count events.
ENDS = [
    (family, name.removesuffix("_EVENTS"))
    for family in FAMILIES
    for name in sources.constants(family)
    if name.endswith("_EVENTS")
]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_constant_of_a_program_is_read(family: str) -> None:
    declared = re.findall(r"\bconst\s+[\w<>]+\s+(\w+)\s*=", program_text(family))
    assert "MINIMUM_FRAME_BYTES" in declared
    assert sorted(declared) == sorted(sources.constants(family))


def test_both_ends_of_linkguardian_count() -> None:
    assert {("linkguardian", "SENDER"), ("linkguardian", "RECEIVER")} <= set(ENDS)


@pytest.mark.parametrize(("family", "end"), ENDS)
def test_events_number_the_cells_of_their_counter(family: str, end: str) -> None:
    events = sources.events(family, f"{end}_")
    size = sources.constants(family)[f"{end}_EVENTS"]
    assert sorted(events.values()) == list(range(size))


@pytest.mark.parametrize(("family", "end"), ENDS)
def test_every_event_is_counted_by_the_program(family: str, end: str) -> None:
    counted = re.findall(rf"{end.lower()}_events\.count\({end}_(\w+)\)", program_text(family))
    assert {name.lower() for name in counted} == set(sources.events(family, f"{end}_"))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_program_is_the_main_file_of_its_folder(family: str) -> None:
    program = sources.program(family)
    assert program.parent.name == family
    assert "V1Switch(" in program.read_text()
