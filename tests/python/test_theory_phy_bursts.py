"""Frames over groups of codewords: the exact mean, and bursts of lost frames, against simulated groups."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lossylink.statistics import intervals
from lossylink.theory.phy import (
    CODES,
    FIRECODE,
    UNCODED,
    Code,
    LineCode,
    bit_error_ratio_for,
    code_named,
    frame_loss_ratio,
    frames_hit_by_group,
    group_error_ratio,
    group_transitions,
    loss_bursts,
    mean_frame_loss_ratio,
    mean_loss_burst_frames,
)

Array = NDArray[Any]
#: Its groups are no whole octets, and its errors go on from group to group.
PARTIAL = Code(symbols=10, message_symbols=8, symbol_bits=4)
CASES: list[tuple[LineCode, int, dict[str, Any]]] = [
    (CODES["rs272"], 64, {"bit_error_ratio": 1.2e-3}),
    (CODES["rs272"], 9000, {"bit_error_ratio": 8e-4}),
    (CODES["rs528"], 1518, {"bit_error_ratio": 6e-4, "repeat": 0.5, "interleaved": 2, "lanes": 4}),
    (FIRECODE, 64, {"bit_error_ratio": 3e-5, "repeat": 0.5, "line_bits": 1}),
    (PARTIAL, 7, {"bit_error_ratio": 1e-2, "repeat": 0.75}),
    (PARTIAL, 1, {"bit_error_ratio": 2e-2, "repeat": 0.75, "precoded": True}),
    (UNCODED, 20, {"bit_error_ratio": 1e-3, "repeat": 0.75}),
]


@dataclass(frozen=True)
class Busy:
    """Frames back to back over simulated groups, in runs that begin anywhere."""

    code: LineCode
    frame_bytes: int
    options: dict[str, Any]

    @property
    def group_bytes(self) -> Fraction:
        return int(self.options.get("interleaved", 1)) * self.code.message_bytes

    def failed(self, runs: int, groups: int, seed: np.random.Generator) -> Array:
        """Draw which groups fail, by the chain's state in front of each."""
        ok, failed = group_transitions(self.code, **self.options)
        outcomes = np.concatenate([ok, failed], axis=1).cumsum(axis=1)
        state, found = np.zeros(runs, dtype=int), np.zeros((runs, groups), dtype=bool)
        for group in range(groups):
            outcome = (seed.random(runs)[:, np.newaxis] >= outcomes[state, :3]).sum(axis=1)
            found[:, group], state = outcome >= 2, outcome % 2
        return found

    def lost(self, failed: Array, seed: np.random.Generator) -> Array:
        """Return which frames are lost, octet by octet: an octet is of the group in which it begins."""
        part = self.group_bytes.denominator
        group, length = self.group_bytes.numerator, (self.frame_bytes + 8) * part
        runs, groups = failed.shape
        frames = (groups - 1) * group // (length + 12 * part) - 1
        first = seed.integers(0, group, size=(runs, 1)) + np.arange(frames) * (length + 12 * part)
        before = np.concatenate([np.zeros((runs, 1), dtype=int), failed.cumsum(axis=1)], axis=1)
        of = np.arange(runs)[:, np.newaxis]
        return np.asarray(before[of, (first + length - part) // group + 1] > before[of, first // group])


def bursts_of(lost: Array) -> Array:
    """Return the lengths of whole bursts."""
    found = []
    for run in lost:
        changes = np.flatnonzero(np.diff(run.astype(int)))
        if run[0]:
            changes = changes[1:]
        found.append(changes[1::2] - changes[: changes.size // 2 * 2 : 2])
    return np.concatenate(found)


@pytest.mark.parametrize(("code", "frame_bytes", "options"), CASES)
def test_bursts_are_those_of_simulated_groups(
    code: LineCode, frame_bytes: int, options: dict[str, Any]
) -> None:
    seed = np.random.default_rng(45)
    busy = Busy(code, frame_bytes, options)
    lost = busy.lost(busy.failed(200, 6000, seed), seed)
    lengths = bursts_of(lost)
    shares = loss_bursts(code, frame_bytes=frame_bytes, longest=12, **options)
    for length, share in enumerate(shares[:-1], start=1):
        low, high = intervals.clopper_pearson(
            events=(lengths == length).sum(), trials=lengths.size, confidence=0.9999
        )
        assert low <= share <= high, length
    for expected, found in [
        (mean_frame_loss_ratio(code, frame_bytes=frame_bytes, **options), lost.mean(axis=1)),
        (mean_loss_burst_frames(code, frame_bytes=frame_bytes, **options), lengths),
    ]:
        assert abs(found.mean() - expected) < 4 * found.std() / found.size**0.5


@pytest.mark.parametrize(("code", "frame_bytes", "options"), CASES)
def test_shares_mean_and_lost_frames_agree(code: LineCode, frame_bytes: int, options: dict[str, Any]) -> None:
    shares = loss_bursts(code, frame_bytes=frame_bytes, longest=1500, **options)
    assert shares.size == 1501
    assert shares.sum() == pytest.approx(1, abs=1e-9)
    mean = mean_loss_burst_frames(code, frame_bytes=frame_bytes, **options)
    assert shares @ np.arange(1, 1502) == pytest.approx(mean, rel=1e-9)


@pytest.mark.parametrize(("code", "frame_bytes", "options"), CASES)
def test_the_mean_loss_is_that_of_every_place(
    code: LineCode, frame_bytes: int, options: dict[str, Any]
) -> None:
    ok, failed = group_transitions(code, **options)
    onward = ok + failed
    start = np.array([onward[1, 0], onward[0, 1]]) / (onward[1, 0] + onward[0, 1])
    group = options.get("interleaved", 1) * code.message_bytes
    through = []
    for place in range(group.numerator):
        touched = (Fraction(place, group.denominator) + frame_bytes + 7) // group + 1
        through.append(float((start @ np.linalg.matrix_power(ok, touched)).sum()))
    of: dict[str, Any] = {"frame_bytes": frame_bytes} | options
    found, typical = mean_frame_loss_ratio(code, **of), frame_loss_ratio(code, **of)
    assert found == pytest.approx(1 - np.mean(through), rel=1e-7)
    assert typical == pytest.approx(1 - np.exp(np.mean(np.log(through))), rel=1e-7)
    assert found * (1 - 1e-9) <= typical <= found * (1 + group_error_ratio(code, **options) / 8)


@pytest.mark.parametrize("name", ["rs544", "rs272", "firecode", "rs20/16/6"])
@pytest.mark.parametrize("frame_bytes", [64, 1518, 9000])
def test_a_rare_burst_is_the_frames_of_one_group(name: str, frame_bytes: int) -> None:
    code = code_named(name)
    bits = bit_error_ratio_for(1e-12, code, frame_bytes=frame_bytes)
    of: dict[str, Any] = {"bit_error_ratio": bits, "frame_bytes": frame_bytes}
    shares, hit = loss_bursts(code, **of), frames_hit_by_group(code, frame_bytes=frame_bytes)
    assert mean_loss_burst_frames(code, **of) == pytest.approx(max(1, hit), rel=1e-9)
    whole = int(hit)
    if whole:
        assert shares[whole - 1 : whole + 1] == pytest.approx([1 - hit % 1, hit % 1], abs=1e-9)
    else:
        assert shares[0] == pytest.approx(1), "a group may lie in a gap"


def test_a_failed_codeword_takes_nine_smallest_frames_or_one_or_two_full_ones() -> None:
    found = [frames_hit_by_group(CODES["rs544"], frame_bytes=size) for size in (64, 1518)]
    assert found == pytest.approx([711 / 84, 2165 / 1538])
    side_by_side = frames_hit_by_group(CODES["rs544"], frame_bytes=64, interleaved=4)
    assert side_by_side == pytest.approx((4 * 640 + 71) / 84)


@pytest.mark.parametrize("bits", [0.0, 0.5])
def test_without_losses_or_without_anything_else_there_are_no_bursts(bits: float) -> None:
    for of in (loss_bursts, mean_loss_burst_frames):
        with pytest.raises(ValueError, match="no burst: with these errors the line loses"):
            of(CODES["rs272"], bit_error_ratio=bits, frame_bytes=64)
