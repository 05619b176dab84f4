"""What a guard says of strangers: not every second."""

from __future__ import annotations

from lossylink.linux.lab.events import Strangers

_QUIET = {"peer": "absent", "other_seal": 0, "other_version": 0, "other_version_heard": None, "path": False}


def test_another_key_is_told_once_in_ten_minutes() -> None:
    strangers, said_at = Strangers(), []
    for second in range(1300):
        before, after = _QUIET | {"other_seal": 20 * second}, _QUIET | {"other_seal": 20 * second + 20}
        said_at += [second for _ in strangers.lines(before, after, float(second))]
    assert said_at == [0, 600, 1200]


def test_another_reason_and_another_silence_are_told_at_once() -> None:
    strangers = Strangers()
    sealed, versions = _QUIET | {"other_seal": 1}, _QUIET | {"other_version": 1, "other_version_heard": 9}
    assert any("not sealed as ours" in line for line in strangers.lines(_QUIET, sealed, 0.0))
    assert any("version 9" in line for line in strangers.lines(_QUIET, versions, 1.0))
    assert list(strangers.lines(_QUIET, sealed | {"peer": "agreed"}, 2.0)) == []
    assert any("not sealed as ours" in line for line in strangers.lines(_QUIET, sealed, 3.0))
