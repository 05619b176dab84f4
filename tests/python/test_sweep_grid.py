"""The words of a grid: ranges, files, lists that advance together."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossylink import UserError
from lossylink.running.sweeping.grid import MAX_POINTS, combinations, parse_grid, ranged


def test_a_logarithmic_range_has_equal_ratios_and_both_ends() -> None:
    words = ranged("1e-6..1e-2:log9")
    assert (words[0], words[-1], len(words)) == ("1e-6", "1e-2", 9)
    values = [float(word) for word in words]
    ratios = [after / before for before, after in itertools.pairwise(values)]
    assert all(math.isclose(ratio, 10**0.5, rel_tol=1e-5) for ratio in ratios)


@given(st.integers(0, 1000), st.integers(1, 1000), st.integers(2, 50))
def test_a_linear_range_has_equal_steps(first: int, more: int, count: int) -> None:
    values = [float(word) for word in ranged(f"{first}..{first + more}:lin{count}")]
    assert (values[0], values[-1], len(values)) == (first, first + more, count)
    assert all(
        math.isclose(value, first + more * place / (count - 1), rel_tol=1e-5)
        for place, value in enumerate(values)
    )


def test_a_range_may_have_its_unit_once_or_twice() -> None:
    assert ranged("25G..100G:lin4") == ranged("25..100G:lin4") == ["25G", "50G", "75G", "100G"]
    assert ranged("0.1%..10%:log3") == ["0.1%", "1%", "10%"]


@pytest.mark.parametrize("word", ["lg:copies=3", "../switch.toml", "trace:../a..b", "1..", "..3", "a..b"])
def test_other_words_are_no_ranges(word: str) -> None:
    assert ranged(word) == [word]


@pytest.mark.parametrize(
    "word", ["5..1", "1.5..3", f"0..{MAX_POINTS}", "1..2:log1", f"1..2:lin{MAX_POINTS + 1}"]
)
def test_a_range_without_sense_is_refused(word: str) -> None:
    with pytest.raises(UserError, match=f"^--grid seed={word}: "):
        parse_grid([f"seed={word}"])


def test_values_may_come_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "protections"
    path.write_text("# tried in July\nnone\n\n  lg:copies=3,tail=off\n1..3\n")
    assert parse_grid([f"protection=@{path}"]) == {
        "protection": ["none", "lg:copies=3,tail=off", "1", "2", "3"]
    }
    path.write_text("# nothing\n")
    with pytest.raises(UserError, match="holds no values"):
        parse_grid([f"protection=@{path}"])
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match="it is no text"):
        parse_grid([f"protection=@{path}"])


@given(
    st.lists(st.integers(1, 4), max_size=3),
    st.integers(0, 3),
    st.integers(1, 4),
)
def test_combinations_are_the_product_with_every_zipped_place(
    lengths: list[int], keys: int, places: int
) -> None:
    grid = {f"g{key}": list(range(length)) for key, length in enumerate(lengths)}
    zipped = {f"z{key}": list(range(places)) for key in range(keys)}
    if not grid and not zipped:
        return
    found = combinations(grid, zipped)
    assert len(found) == math.prod(lengths) * (places if keys else 1)
    assert len({tuple(one.values()) for one in found}) == len(found)
    assert all(len({value for key, value in one.items() if key.startswith("z")}) <= 1 for one in found)


def test_a_grid_that_is_too_large_is_refused() -> None:
    with pytest.raises(UserError, match="a sweep has 1 to"):
        combinations({"a": range(1000), "b": range(1000)})
