"""Plans from a bit error ratio before the line's own code, and the bit error ratio for a wanted loss."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lossylink.cli.exits import MISTAKE
from lossylink.errors import UserError
from lossylink.planning import Link, plan, triage
from lossylink.planning.families.fec import Code, residual_loss
from lossylink.planning.line import LineLosses
from lossylink.planning.links_file import Defaults, read_links
from lossylink.planning.stress import loss_interval, simulate
from lossylink.planning.triage import LEAVE, PROTECT
from lossylink.scenario.coded_line import read_coded_line
from lossylink.scenario.loss import parse_loss
from lossylink.theory.burst_lengths import BurstLengths
from lossylink.theory.bursts import Chain, block_residual_ratio
from lossylink.theory.phy import CODES, bit_error_ratio_for, frame_loss_ratio, frames_hit_by_group

from .conftest import Ended
from .planned_links import link

Command = Callable[..., Ended]
RATE_BPS = 100 * 10**9


def test_the_loss_of_a_line_is_that_of_its_frames() -> None:
    found = link("phy:code=rs544,ber=4e-4")
    wanted = frame_loss_ratio(CODES["rs544"], bit_error_ratio=4e-4, frame_bytes=1_518)
    assert found.loss_ratio == pytest.approx(wanted, rel=1e-12)
    assert found.frame_loss_ratio(100) > found.loss_ratio
    assert not found.is_independent


@pytest.mark.parametrize("frame_bytes", [60, 1_514, 9_014])
def test_bursts_are_as_long_as_a_failed_codeword_makes_them(frame_bytes: int) -> None:
    found = link("phy:code=rs544,ber=4e-4", frame_bytes=frame_bytes)
    together = frames_hit_by_group(CODES["rs544"], frame_bytes=frame_bytes + 4)
    assert found.mean_burst() == pytest.approx(together, rel=1e-6)
    assert found.chain is not None
    assert found.chain.mean_run == pytest.approx(together, rel=1e-6)
    assert found.chain.loss_ratio == pytest.approx(found.loss_ratio, rel=1e-9)


def test_a_plan_says_on_what_its_bursts_rest() -> None:
    planned = plan(link("phy:code=rs544,ber=4e-4", frame_bytes=400), target=1e-12)
    (note,) = [note for note in planned.notes if "a codeword that fails" in note]
    hit = frames_hit_by_group(CODES["rs544"], frame_bytes=404)
    assert f"takes {hit:.3g} frames in a row" in note


@pytest.mark.parametrize(("frame_bytes", "code"), [(200, (25, 5)), (1_514, (25, 5)), (200, (50, 2))])
def test_a_block_code_leaves_what_the_simulator_says(frame_bytes: int, code: tuple[int, int]) -> None:
    one = link("phy:code=rs528,ber=5e-4", frame_bytes=frame_bytes)
    predicted = _left(one, code)
    row = simulate(one, f"fec:{code[0]}/{code[1]}", packets=500_000)
    low, high = loss_interval(row, confidence=0.999)
    assert low <= predicted <= high
    # A chain with the same mean would be off: its bursts differ more in length.
    chained = replace(
        one, loss=parse_loss(f"gilbert-elliott:mean={one.loss_ratio!r},burst={one.mean_burst()!r}")
    )
    assert abs(_left(chained, code) / predicted - 1) > 0.05


def _left(one: Link, code: tuple[int, int]) -> float:
    return residual_loss(Code(data_packets=code[0], parity_packets=code[1]), one)


def test_bursts_of_geometric_lengths_are_the_chain_of_two_states() -> None:
    mean, longest = 2.0, 60
    shares = (1 - 1 / mean) ** np.arange(longest) / mean
    lengths = BurstLengths(0.01, tuple((shares / shares.sum()).tolist()))
    chain = Chain.of_bursts(loss_ratio=0.01, burst_frames=mean)
    tables = [block_residual_ratio(one, data_packets=25, parity_packets=5) for one in (lengths, chain)]
    np.testing.assert_allclose(tables[0], tables[1], rtol=1e-9)


def test_bursts_of_one_length_fail_a_block_by_where_they_begin() -> None:
    ratio, length = 1e-9, 4
    found = block_residual_ratio(
        BurstLengths(ratio, (0.0, 0.0, 0.0, 1.0)), data_packets=10, parity_packets=2
    )[-1, -1]
    # Of the 15 places at which a burst touches a block, its frames there and its data frames there.
    inside = [range(max(0, at), min(12, at + length)) for at in range(1 - length, 12)]
    lost = sum(sum(place < 10 for place in places) for places in inside if len(places) > 2)
    assert found == pytest.approx(ratio / length * lost / 10, rel=1e-6)


@pytest.mark.parametrize(
    ("ratio", "shares", "says"),
    [(0.5, (0.5, 0.4), "add up to 0.9"), (0.9, (1.0,), "bursts this short"), (2.0, (1.0,), "loss_ratio")],
)
def test_what_are_no_bursts_is_refused(ratio: float, shares: tuple[float, ...], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        BurstLengths(ratio, shares)


def test_words_of_a_line_are_read_back() -> None:
    loss = parse_loss("phy:code=rs544,ber=1e-4,burst=0.5,lanes=4,precoding=on")
    found = LineLosses.of(loss.native_at(4e11))
    line = found.line
    assert (found.bit_error_ratio, line.repeat, line.lanes, line.precoded) == (1e-4, 0.5, 4, True)
    assert line.interleaved == 2  # by the rate
    again = read_coded_line("rs544,burst=0.5,lanes=4,precoding=on", rate_bps=4e11)
    assert again.spelling(1e-4) == "phy:code=rs544,ber=0.0001,burst=0.5,lanes=4,precoding=on"
    assert again.options() == line.options()


def test_a_loss_that_nobody_waits_for_is_no_plan() -> None:
    with pytest.raises(UserError, match="the line loses 4.6e-18 of frames, less than one in months"):
        plan(link("phy:code=rs544,ber=1e-4"), target=1e-8)


def test_a_gauge_plans_as_its_loss(command: Command) -> None:
    words = ("plan", "--link", "100G", "--target", "1e-10", "--json")
    by_gauge = command(*words, "--pre-fec-ber", "4e-4", "--code", "rs544")
    by_loss = command(*words, "--loss", "phy:code=rs544,ber=0.0004")
    assert by_gauge.code == 0, by_gauge.err
    assert json.loads(by_gauge.out) == json.loads(by_loss.out)
    assert json.loads(by_gauge.out)["link"]["loss_ratio"] == pytest.approx(4.38e-9, rel=1e-2)


def test_a_code_has_a_bit_error_ratio_for_a_target(command: Command) -> None:
    ended = command("plan", "--link", "100G", "--code", "rs544", "--target", "1e-8", "--json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    wanted = bit_error_ratio_for(1e-8, CODES["rs544"], frame_bytes=1_518)
    assert found["bit_error_ratio"] == pytest.approx(wanted, rel=1e-12)
    assert found["times_above_limit"] == pytest.approx(wanted / 2.4e-4)
    assert found["limit_loss_ratio"] == pytest.approx(2.758e-12, rel=1e-3)
    told = command("plan", "--link", "100G", "--code", "rs544", "--target", "1e-8").out
    assert "a bit error ratio of 0.0004244 before FEC loses 1e-08 of frames" in told
    assert "the limit in use is 0.00024: the target's ratio lies 1.77 times above it" in told
    below = command("plan", "--link", "100G", "--code", "rs544,burst=0.75", "--target", "1e-12").out
    assert "times BELOW it" in below
    assert "limit" not in command("plan", "--code", "rs272", "--target", "1e-8").out


def test_links_of_a_file_have_gauges_and_codes(tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text(
        "name,rate,pre_fec_ber,fec\ngood,100G,1e-5,rs544\nbad,100G,2e-4,rs528\nidle,25G,0,\n"
        'bursts,400G,3e-4,"rs544,burst=0.75"\n',
        encoding="utf-8",
    )
    rows, unknown = read_links(tmp_path / "links.csv", Defaults(rate_bps=RATE_BPS))
    assert unknown == []
    good, bad, idle, bursts = triage.triage(rows, target=1e-8, keep=0.9, switch="tofino1")
    assert (good.action, bad.action, idle.action) == (LEAVE, PROTECT, LEAVE)
    assert bad.loss is not None
    assert bad.loss.value == pytest.approx(4.873e-5, rel=1e-3)  # RS(528,514), 1,518 octets with the check
    assert good.loss is not None
    assert good.loss.value < 1e-30
    assert bursts.loss is not None
    assert bursts.loss.value == pytest.approx(
        frame_loss_ratio(CODES["rs544"], bit_error_ratio=3e-4, frame_bytes=1_518, repeat=0.75, interleaved=2)
    )


def test_a_code_of_a_file_that_is_none_names_its_line(tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text("name,pre_fec_ber,code\na,1e-4,rs545\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"links.csv:2, column 'pre_fec_ber': 'rs545' is no code"):
        read_links(tmp_path / "links.csv", Defaults(rate_bps=RATE_BPS))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--pre-fec-ber", "0.6"), "--pre-fec-ber 0.6: a bit error ratio is above 0 and at most 0.5"),
        (("--pre-fec-ber", "0"), "--pre-fec-ber 0: a bit error ratio is above 0"),
        (("--pre-fec-ber", "few"), "--pre-fec-ber"),
        (("--pre-fec-ber", "1e-4", "--code", "rs545"), "--code: 'rs545' is no code; valid: "),
        (("--pre-fec-ber", "1e-4", "--loss", "1e-3"), "--loss and --pre-fec-ber say the same"),
        (("--loss", "1e-3", "--code", "rs544"), "add --pre-fec-ber, or leave out the loss"),
        (("--code", "rs544", "--verify"), "--verify is of one link; leave it out of a plan of a code"),
        (("--code", "rs544", "--target", "2"), "--target"),
        (("--pre-fec-ber", "1e-4", "--code", "rs544,ber=1e-3"), "leave out ber"),
        (("--pre-fec-ber", "1e-4", "--code", "rs544,burst=nan"), "--code: 'nan'"),
        (("--pre-fec-ber", "1e-4", "--code", "rs544,code=rs272"), "code is there twice"),
        (("--pre-fec-ber", "1e-4", "--code", "firecode,lanes=2"), "--code: interleaved and lanes"),
        (("--pre-fec-ber", "1e-4", "--code", "rs255/239/8,lanes=2"), "--code: 2 lanes do not divide"),
        (("--pre-fec-ber", "0.5"), "loses no frame, or every one"),
    ],
)
def test_mistakes_are_one_line(words: tuple[str, ...], says: str, command: Command) -> None:
    ended = command("plan", "--link", "100G", *words)
    assert (ended.code, ended.err.count("\n")) == (MISTAKE, 1)
    assert says in ended.err
