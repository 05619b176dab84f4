"""Loss spellings: each model, its mean, and refusals."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossylink.errors import UserError
from lossylink.linux.lab.settings import lab_settings, read_loss
from lossylink.scenario.loss import parse_loss


@pytest.mark.parametrize(
    ("text", "native", "mean"),
    [
        ("1e-3", {"model": "bernoulli", "p": 1e-3}, 1e-3),
        ("0.1%", {"model": "bernoulli", "p": 1e-3}, 1e-3),
        (0.05, {"model": "bernoulli", "p": 0.05}, 0.05),
        ("bernoulli:5%", {"model": "bernoulli", "p": 0.05}, 0.05),
        ("0", {"model": "none"}, 0.0),
        ("0%", {"model": "none"}, 0.0),
        ("none", {"model": "none"}, 0.0),
        ("quantised:1e-3", {"model": "quantised", "p": 1e-3}, 1048 / 2**20),
        ("quantized:0.1%", {"model": "quantised", "p": 1e-3}, 1048 / 2**20),
        ("ber:1e-9", {"model": "bit-error-rate", "ber": 1e-9}, None),
        ("at:17,18", {"model": "at", "positions": [17, 18]}, None),
        ("at:5-7,2", {"model": "at", "positions": [2, 5, 6, 7]}, None),
        (
            "gilbert-elliott:0.01,0.09",
            {"model": "gilbert-elliott", "p": 0.01, "r": 0.09, "loss_good": 0.0, "loss_bad": 1.0},
            pytest.approx(0.1),
        ),
        (
            "gilbert-elliott:mean=2%,burst=20ms",
            {"model": "fades", "clear_ps": 980 * 10**9, "fade_ps": 20 * 10**9},
            0.02,
        ),
        (
            "phy:code=rs544,ber=2e-4",
            {
                "model": "phy",
                "code": "rs544",
                "ber": 2e-4,
                "interleave": None,
                "burst": 0.0,
                "precoding": False,
                "lanes": 1,
                "line_bits": 2,
            },
            None,
        ),
        (
            "phy: code=RS255/239/8, ber=1e-3, interleave=4, burst=50%, precoding=on, lanes=2, modulation=nrz",
            {
                "model": "phy",
                "code": "rs255/239/8",
                "ber": 1e-3,
                "interleave": 4,
                "burst": 0.5,
                "precoding": True,
                "lanes": 2,
                "line_bits": 1,
            },
            None,
        ),
        ("ge:burst=1us,mean=0.5", {"model": "fades", "clear_ps": 10**6, "fade_ps": 10**6}, 0.5),
        ("ge:mean=0,burst=1us", {"model": "none"}, 0.0),
        (
            "ge:p=1%,r=10%,bad=0.5,good=0.01",
            {"model": "gilbert-elliott", "p": 0.01, "r": 0.1, "loss_good": 0.01, "loss_bad": 0.5},
            pytest.approx((0.01 * 0.5 + 0.1 * 0.01) / 0.11),
        ),
    ],
)
def test_models(text: object, native: dict[str, object], mean: float | None) -> None:
    loss = parse_loss(text)
    assert loss.native == native
    assert loss.mean == mean


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("2", "% or a ratio"),
        ("-0.1", "negative"),
        ("nan", "not a loss ratio"),
        ("bernouli:1e-3", "did you mean 'bernoulli'"),
        ("bursty", "unknown loss model"),
        ("at:x", "no frame index"),
        ("at:7-5", "no range"),
        ("at:0-1000000", "more than"),
        ("gilbert-elliott:0.1", "write gilbert-elliott"),
        ("gilbert-elliott:0,0", "cannot both be 0"),
        ("gilbert-elliott:p=0.1", "give p and r"),
        ("gilbert-elliott:mean=0.9,burst=1", "make them longer"),
        ("gilbert-elliott:mean=0.1,burst=0.5", "at least 1 frame"),
        ("gilbert-elliott:mean=0.1,burst=20mss", "did you mean.*a bare number is a burst in frames"),
        ("gilbert-elliott:mean=0.1,burst=0ms", "a bare number is a burst in frames"),
        ("gilbert-elliott:mean=1,burst=20ms", "nothing lies between"),
        ("gilbert-elliott:mean=1e-12,burst=1d", "too many to simulate"),
        ("gilbert-elliott:mean=0.1,burst=nan", "at least 1 frame"),
        ("gilbert-elliott:p=0.1,r=0.2,burst=20ms", "or mean and burst"),
        ("gilbert-elliott:q=0.1", "unknown Gilbert-Elliott parameter"),
        ("phy:rs544", "'rs544' is no setting"),
        ("phy:code=rs544", "write the code and the bit error ratio"),
        ("phy:code=rs544,ber=1e-4,bursts=0.5", "did you mean 'burst'"),
        ("phy:code=rs544,ber=1e-4,precoding=yes", "precoding is on or off"),
        ("phy:code=rs544,ber=1e-4,modulation=pam3", "modulation is nrz or pam4"),
        ("phy:code=rs544,ber=1e-4,lanes=many", "lanes is a small whole number"),
        ("trace:nowhere.txt", "cannot read the loss trace"),
    ],
)
def test_refusals(text: str, says: str) -> None:
    with pytest.raises(UserError if ":" in text or text == "bursty" else ValueError, match=says):
        parse_loss(text)


@given(mean=st.floats(1e-6, 0.4), burst=st.floats(1.0, 1000.0))
def test_mean_and_burst_are_kept(mean: float, burst: float) -> None:
    try:
        loss = parse_loss(f"gilbert-elliott:mean={mean},burst={burst}")
    except UserError as error:
        assert "make them longer" in str(error)
        return
    assert loss.mean == pytest.approx(mean)
    assert 1.0 / loss.native["r"] == pytest.approx(burst)


@pytest.mark.parametrize("name", ["/dev/zero", "/dev/stdin", "pipe"])
def test_a_trace_without_an_end_is_refused_at_once(tmp_path: Path, name: str) -> None:
    """A pipe that nobody writes to would hold up whoever opens it, and a device fill the memory."""
    path = tmp_path / name
    if name == "pipe":
        os.mkfifo(path)
    probe = (
        "import resource, sys\n"
        "from lossylink import UserError\n"
        "from lossylink.scenario.loss import parse_loss\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))\n"
        "try:\n"
        "    parse_loss('trace:' + sys.argv[1])\n"
        "except UserError as error:\n"
        "    print(error)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", probe, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            said = process.stdout.read() if process.wait(timeout=60) == 0 else ""
        finally:
            process.kill()
    assert said == f"the loss trace {path} is no regular file; record it in one\n"


def test_a_trace_has_a_longest_file_and_most_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lossylink.scenario.loss.MAX_TRACE_FRAMES", 4)
    monkeypatch.setattr("lossylink.scenario.loss.MAX_TRACE_BYTES", 12)
    path = tmp_path / "trace.txt"
    for content in ("0, 1,\t0, 0\n", "0101        ", "01\n01 # ab\n"):
        path.write_text(content)
        assert len(parse_loss(f"trace:{path}").native["lost"]) == 4
    path.write_text("01010")
    with pytest.raises(UserError, match="a trace holds at most 4 frames; shorten it"):
        parse_loss(f"trace:{path}")
    path.write_text("0101         ")
    with pytest.raises(UserError, match="the loss trace has at most 12 bytes; shorten it"):
        parse_loss(f"trace:{path}")


def test_a_live_trace_is_shorter(tmp_path: Path) -> None:
    path = tmp_path / "trace.txt"
    path.write_text("0" * 1_000_000)
    assert read_loss(f"trace:{path}").native["model"] == "trace"
    path.write_text("0" * 1_000_001)
    words = "has 1000001 frames; live, a trace has at most 1000000, so shorten it"
    with pytest.raises(UserError, match=words):
        read_loss(f"trace:{path}")
    with pytest.raises(UserError, match=words):
        lab_settings(loss_reverse=parse_loss(f"trace:{path}"))


def test_a_trace_is_read_relative_to_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "burst.txt").write_text("# measured\n0 0 1\n1,0\n0010 # tail\n")
    loss = parse_loss("trace:burst.txt", folder=tmp_path)
    assert loss.native["lost"] == [False, False, True, True, False, False, False, True, False]
    assert loss.mean == pytest.approx(3 / 9)


@pytest.mark.parametrize(("content", "says"), [("0 2 1", r"trace.txt:1: '2'"), ("# nothing\n", "is empty")])
def test_a_bad_trace_is_refused_with_its_place(tmp_path: Path, content: str, says: str) -> None:
    (tmp_path / "trace.txt").write_text(content)
    with pytest.raises(UserError, match=says):
        parse_loss("trace:trace.txt", folder=tmp_path)
