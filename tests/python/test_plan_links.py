"""Many links at once: the file, the verdicts and what they rest on, the harm, and the command."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from backports import zstd
from hypothesis import given, settings
from hypothesis import strategies as st

from lossylink.cli.exits import INTERRUPTED, MISTAKE
from lossylink.errors import UserError
from lossylink.planning import Link, plan, triage
from lossylink.planning.families import outlines
from lossylink.planning.links_file import Defaults, LinkRow, read_links
from lossylink.planning.prediction import Outline
from lossylink.planning.triage import DRAIN, LEAVE, NOT_TESTABLE, PROTECT, Verdict, ranked
from lossylink.scenario.loss import parse_loss
from lossylink.theory import codewords

from .conftest import Ended

Command = Callable[..., Ended]
DEFAULTS = Defaults(rate_bps=100 * 10**9, propagation_ps=100_000)
TARGET = 1e-8


def rows(tmp_path: Path, text: str) -> list[LinkRow]:
    path = tmp_path / "links.csv"
    path.write_text(text, encoding="utf-8")
    return read_links(path, DEFAULTS)[0]


def verdicts(tmp_path: Path, text: str, *, keep: float = 0.9, target: float = TARGET) -> list[Verdict]:
    return list(triage.triage(rows(tmp_path, text), target=target, keep=keep, switch="tofino1"))


def test_columns_have_other_names_and_units(tmp_path: Path) -> None:
    one, other = rows(
        tmp_path,
        "Interface;Speed-Gbps;cable length m;rx_crc_errors;RX packets;utilisation;protocol\n"
        "# a comment\n\neth0;100;20;5;1,000;30%;RoCE\neth1;400Gbps;0.5km;0;;;\n".replace("0;;;", "0;7;;"),
    )
    assert (one.name, one.rate_bps, one.propagation_ps) == ("eth0", 100 * 10**9, 100_000)
    assert one.counts is not None
    assert (one.counts.lost, one.counts.of) == (5, 1_005)  # a corrupted frame is not among the received
    assert (one.load, one.transport, one.line) == (0.3, "rdma", 4)
    assert (other.rate_bps, other.propagation_ps, other.load, other.transport) == (
        4 * 10**11,
        2_500_000,
        0.5,
        None,
    )


@pytest.mark.parametrize("squeeze", [gzip.compress, zstd.compress, bytes])
def test_a_file_may_be_compressed(squeeze: Callable[[bytes], bytes], tmp_path: Path) -> None:
    (tmp_path / "links").write_bytes(squeeze(b"\xef\xbb\xbfname\tloss_percent\na\t0.1\n"))
    (one,) = read_links(tmp_path / "links", DEFAULTS)[0]
    assert one.loss is not None
    assert one.loss.mean == 0.001


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty; its first line names the columns"),
        ("name,loss\n", "has headers and no links below them"),
        ("name,los\na,1e-3\n", "no column of losses (did you mean 'loss'?)"),
        ("name,rx_crc_errors\na,1\n", "'rx_crc_errors' of how many? Add a column received, or frames"),
        ("name,fec_uncorrectable\na,1\n", "Add a column fec_blocks, or the seconds"),
        ("loss,frame loss\n1,1\n", "'loss' and 'frame loss' are both the loss; leave one out"),
        ("name,loss\na,1e-3\nb,5\n", "links.csv:3, column 'loss': 5 % or a ratio?"),
        ("name,Speed,loss\na,100,1e-3\n", "links.csv:2, column 'Speed': '100' has no unit"),
        ("name,rate,loss\na,10Gbs,1e-3\n", "column 'rate': unknown unit 'Gbs'"),
        (
            "name,loss,transport\na,1e-3,quic\n",
            "column 'transport': 'quic' is no transport; valid: tcp, rdma",
        ),
        ("name,loss,load\na,1e-3,0%\n", "column 'load': a link without load harms nobody"),
        ("corrupted,frames\n5,4\n", "column 'corrupted': 5 of 4 is more than all; are two columns swapped?"),
        ("corrupted,frames\n5,\n", "column 'corrupted': how many frames were received is empty"),
        ("corrupted,frames\n1.5,4\n", "column 'corrupted': '1.5' is not a whole number"),
        ("corrupted,frames,loss\n1,4,1e-3\n", "column 'loss': a loss and counters in one row"),
        (
            "fec_uncorrectable,seconds\n1,\n",
            "column 'fec_uncorrectable': how many blocks there were is empty",
        ),
        ("name,loss\na,gilbert-elliott:mean=1e-3,burst=3\n", "links.csv:2: 3 cells, and there are 2 columns"),
        ("name,loss\na,trace:missing\n", "column 'loss': cannot read the loss trace missing"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_in_one_line(
    text: str, says: str, tmp_path: Path, command: Command
) -> None:
    with pytest.raises(UserError, match=re.escape(says)):
        rows(tmp_path, text)
    ended = command("plan", str(tmp_path / "links.csv"))
    assert (ended.code, ended.err.count("\n"), ended.out) == (MISTAKE, 1, "")


@given(st.integers(1, 10**12))
@settings(max_examples=60, deadline=None)
def test_no_loss_seen_never_asks_for_a_protection(frames: int) -> None:
    from lossylink.planning.links_file import Counts

    row = LinkRow(
        line=2,
        name="a",
        rate_bps=10**11,
        propagation_ps=0,
        frame_bytes=1514,
        flow_bytes=2_000_000,
        load=0.5,
        transport=None,
        counts=Counts(0, frames),
    )
    (verdict,) = triage.triage([row], target=TARGET, keep=0.9, switch="tofino1")
    # 1 - (1 - 0.05)^(1/n) is the target at n = 2.996e8.
    expected = LEAVE if frames >= math.log(0.05) / math.log1p(-TARGET) else NOT_TESTABLE
    assert verdict.action == expected
    assert "none seen" in verdict.reason
    assert verdict.harm is not None
    assert verdict.harm.value == 0 < verdict.harm.high


def test_a_verdict_rests_on_the_whole_interval(tmp_path: Path) -> None:
    text = "name,corrupted,frames\nbelow,3,10000000000\nacross,10,1000000000\nabove,100,1000000000\n"
    text += "all,5,5\nnone,,\n"
    found = {one.name: one for one in verdicts(tmp_path, text)}
    actions = {name: one.action for name, one in found.items()}
    assert actions == {
        "below": LEAVE,
        "across": NOT_TESTABLE,
        "above": PROTECT,
        "all": DRAIN,
        "none": NOT_TESTABLE,
    }
    assert "has the target inside" in found["across"].reason
    assert found["none"].reason == "nothing was counted, and no loss is given"
    above = found["above"].loss
    assert above is not None
    assert above.low > TARGET


def test_a_link_that_keeps_too_little_is_drained(tmp_path: Path) -> None:
    text = "name,loss\nfew,1e-3\nmany,30%\n"
    assert [one.action for one in verdicts(tmp_path, text)] == [PROTECT, DRAIN]
    assert [one.action for one in verdicts(tmp_path, text, keep=0.2)] == [PROTECT, PROTECT]
    (hopeless,) = verdicts(tmp_path, "name,loss\nhopeless,95%\n", target=1e-20, keep=0)
    assert "no protection reaches the target" in hopeless.reason


def test_rdma_takes_what_keeps_the_order(tmp_path: Path) -> None:
    tcp, rdma = verdicts(tmp_path, "loss,transport\n1e-3,tcp\n1e-3,rdma\n")
    assert (tcp.protection, rdma.protection) == ("lg-nb:copies=2", "llr:replays=3")
    assert "out of order" in tcp.reason
    assert "as RDMA needs" in rdma.reason


@pytest.mark.parametrize(
    "spelling", ["1e-3", "1e-5", "gilbert-elliott:mean=1e-3,burst=3", "bit-error-rate:1e-8"]
)
def test_closed_forms_are_those_of_a_plan_for_one_link(spelling: str) -> None:
    link = Link.losing(parse_loss(spelling), rate_bps=10**11, propagation_ps=500_000)
    predicted = {one.protection: one for one in plan(link, target=TARGET).predictions}
    found = [*outlines(link, target=TARGET)]
    assert len(found) == 4
    for outline in found:
        one = predicted[outline.protection.removesuffix(",release=in-order")]
        assert outline.loss_ratio == one.effective_loss_ratio.value
        assert outline.speed_gbps == one.effective_speed_gbps.value


def test_harm_is_the_flows_that_lose_a_frame(tmp_path: Path) -> None:
    """u R / 8 F flows a second, each of n frames: 1 - (1 - p)^n, and of a chain that begins good as often."""
    text = 'loss,load,flow\n1e-3,0.2,1MB\n"gilbert-elliott:0.001,0.25",0.2,1MB\n'
    apart, together = verdicts(tmp_path, text)
    frames, flows = math.ceil(10**6 / (1514 - 54)), 0.2 * 10**11 / 8e6
    assert apart.harm is not None
    assert apart.harm.value == pytest.approx(flows * (1 - 0.999**frames))
    assert together.harm is not None
    assert together.harm.value == pytest.approx(flows * (1 - (0.25 / 0.251) * 0.999 ** (frames - 1)))
    assert apart.harm_after is not None
    assert 0 < apart.harm_after < flows * frames * TARGET


def test_ranks_are_by_harm(tmp_path: Path) -> None:
    text = "name,rate,loss,corrupted,frames\n"
    text += "slow,10Gbps,1e-3,,\nfast,400Gbps,1e-3,,\nunseen,100Gbps,,0,1000\nempty,100Gbps,,,\n"
    text += "unseen more,100Gbps,,0,10\n"
    names = [one.name for one in ranked(verdicts(tmp_path, text))]
    assert names == ["fast", "slow", "unseen more", "unseen", "empty"]


@pytest.mark.parametrize(
    ("ratio", "frame", "expected"),
    [
        (1.5303e-4, 64, 1.700e-4),
        (1.5303e-4, 1518, 5.176e-4),
        (1.5303e-4, 9000, 2.304e-3),
        (8.9269e-8, 1518, 3.020e-7),
    ],
)
def test_codewords_take_the_frames_that_lie_in_them(ratio: float, frame: int, expected: float) -> None:
    """Computed with 60 digits for RS(544,514) and RS(528,514) at 100G."""
    found = codewords.frame_loss_ratio(ratio, frame_bytes=frame, rate_bps=100e9)
    assert found == pytest.approx(expected, rel=5e-4)


def test_codewords_of_faster_lines_lie_side_by_side(tmp_path: Path) -> None:
    """Frames that fill an eighth of a codeword: CER (1 + 8 X) / 8, as IEEE 802.3 has it for X of 1, 2, 4."""
    for rate, count in ((100e9, 1), (400e9, 2), (800e9, 4)):
        found = codewords.frame_loss_ratio(1e-9, frame_bytes=73, rate_bps=rate)
        assert found == pytest.approx(1e-9 * (count + 1 / 8), rel=1e-6)
    assert codewords.frame_loss_ratio(1.0, frame_bytes=64, rate_bps=1e9) == 1
    one, blocks = verdicts(tmp_path, "fec_uncorrectable,seconds,fec_blocks\n100,10,\n100,,195312500\n")
    assert one.loss == blocks.loss  # 10 s of a line at 100G are so many codewords
    assert one.action == PROTECT
    assert "gilbert-elliott:mean=" in one.command  # neighbours share a codeword


def test_links_that_lose_alike_are_planned_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []

    def counted(link: Link, *, target: float) -> list[Outline]:
        asked.append(link.loss_ratio)
        return [Outline("llr:replays=2", target / 2, link.rate_bps / 1.01e9)]

    monkeypatch.setattr(triage, "outlines", counted)
    # Upper ends of 1.22e-4 to 1.46e-4, which two digits make 1.3e-4, 1.4e-4 and 1.5e-4.
    many = "name,corrupted,frames\n" + "".join(f"l{n},{100 + n % 20},1000000\n" for n in range(400))
    found = verdicts(tmp_path, many)
    assert {one.action for one in found} == {PROTECT}
    assert sorted(asked) == pytest.approx([1.3e-4, 1.4e-4, 1.5e-4])
    for one in found:
        assert one.loss is not None
        assert one.loss.high <= max(asked)


def test_the_command_prints_ranks_and_writes_them(tmp_path: Path, command: Command) -> None:
    (tmp_path / "links.csv").write_text(
        "name,rate_gbps,loss,site\na,100,1e-5,x\nb,100,1e-3,y\n", encoding="utf-8"
    )
    ended = command("plan", str(tmp_path / "links.csv"), "--csv", str(tmp_path / "verdicts.csv"))
    assert ended.code == 0
    assert "2 links, target 1e-08, 90% of a line to keep: 2 protect" in ended.out
    assert "columns that mean nothing here: site" in ended.err
    assert ended.out.index("\nb ") < ended.out.index("\na ")
    assert "not tried: lg in order, whose speed has no closed form" in ended.out
    written = list(csv.DictReader((tmp_path / "verdicts.csv").read_text(encoding="utf-8").splitlines()))
    assert [one["name"] for one in written] == ["b", "a"]
    told = json.loads(command("plan", str(tmp_path / "links.csv"), "--json").out)
    assert [str(one["harm_flows_per_s"]) for one in told["links"]] == [
        one["harm_flows_per_s"] for one in written
    ]
    assert told["actions"] == {"protect": 2}
    printed = command("plan", str(tmp_path / "links.csv"), "--csv", "-").out
    assert printed == (tmp_path / "verdicts.csv").read_text(encoding="utf-8")
    ended = command("plan", str(tmp_path / "links.csv"), "--csv", str(tmp_path / "none" / "x.csv"))
    assert (ended.code, ended.err.splitlines()[-1].startswith("error: --csv: cannot write")) == (
        MISTAKE,
        True,
    )


@pytest.mark.parametrize("rate_gbps", [10, 25, 100, 400])
@pytest.mark.parametrize("propagation_ps", [0, 500_000])
@pytest.mark.parametrize("loss", [1e-5, 1e-4, 1e-3, 1e-2])
def test_the_ordered_mode_that_is_left_out_would_change_no_verdict(
    rate_gbps: int, propagation_ps: int, loss: float
) -> None:
    """Where LinkGuardian in order is promised to reach the target, link-level retry is faster."""
    link = Link(rate_bps=rate_gbps * 10**9, propagation_ps=propagation_ps, loss_ratio=loss)
    found = {one.protection.partition(":")[0]: one for one in plan(link, target=1e-8).predictions}
    ordered, retry = found["lg"], found["llr"]
    assert retry.meets(target=1e-8) is True
    if ordered.meets(target=1e-8):
        assert ordered.effective_speed_gbps.value is not None
        assert retry.effective_speed_gbps.value is not None
        assert ordered.effective_speed_gbps.value < retry.effective_speed_gbps.value


def test_what_is_not_tried_is_told_where_a_protection_was_looked_for(
    tmp_path: Path, command: Command
) -> None:
    (tmp_path / "links.csv").write_text("name,loss\na,1e-9\n", encoding="utf-8")
    ended = command("plan", str(tmp_path / "links.csv"))
    assert "1 leave" in ended.out
    assert "not tried" not in ended.out


def test_standard_input_is_a_file_of_links(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"loss\n1e-3\n")))
    assert "line 2" in command("plan", "-").out


def test_what_was_decided_before_a_stop_is_kept(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lossylink.cli.plans import links as plan_links

    def stopped(rows: list[LinkRow], **rest: object) -> object:
        yield from triage.triage(rows[:1], **rest)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    monkeypatch.setattr(plan_links, "triage", stopped)
    (tmp_path / "links.csv").write_text("name,loss\na,1e-3\nb,1e-3\n", encoding="utf-8")
    ended = command("plan", str(tmp_path / "links.csv"), "--csv", str(tmp_path / "verdicts.csv"))
    assert ended.code == INTERRUPTED
    assert "stopped: 1 of 2 links were decided about" in ended.err
    assert len((tmp_path / "verdicts.csv").read_text(encoding="utf-8").splitlines()) == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("links.csv", "--verify"), "--verify is of one link; leave it out of a plan of many links"),
        (("links.csv", "--loss", "1e-3"), "--loss is of one link"),
        (("links.csv", "--fabric", "fat-tree:k=4"), "a file of links and --fabric are two plans"),
        (
            ("--load", "30%"),
            "--load is of flows that share links; add --workload SIZES, or give a file of many links",
        ),
        (("--csv", "x.csv"), "--csv is of many links; give a file of them"),
        (("nowhere.csv",), "cannot read the file of links nowhere.csv: No such file"),
        (("--loss", "1e-3", "--loss-from", "x"), "--loss and --loss-from say the same"),
    ],
)
def test_options_of_other_plans_are_refused(arguments: tuple[str, ...], says: str, command: Command) -> None:
    ended = command("plan", *arguments)
    assert (ended.code, ended.err.count("\n")) == (MISTAKE, 1)
    assert says in ended.err


def test_one_link_takes_its_loss_from_what_others_measured(command: Command) -> None:
    sample = Path(__file__).with_name("samples") / "iperf3-udp-reverse.json"
    ended = command("plan", "--link", "10G", "--loss-from", str(sample), "--target", "1e-4")
    assert ended.code == 0
    assert "loss 0.0653997" in ended.out
    assert "1,466 lost" in ended.err
    none_seen = sample.with_name("iperf3-tcp-bidir.json")
    ended = command("plan", "--loss-from", str(none_seen))
    assert ended.code == MISTAKE
    assert "was seen to be lost: the loss is below" in ended.err
