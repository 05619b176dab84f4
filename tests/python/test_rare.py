"""`run.rare`: what stays lost far below what can be counted, against closed forms from scipy."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

import lossylink
from lossylink.declared.experiments import all_experiments
from lossylink.errors import UserError
from lossylink.scenario.loss import parse_loss
from lossylink.theory.phy import code_named, mean_frame_loss_ratio

DICTIONARY = Path(__file__).resolve().parents[2] / "docs" / "data-dictionary.md"
LOOKS = {"run.looks": 2000, "run.tail": False, "loss": "1e-3"}
#: From the half width of a 95 % interval to one of 99.9 %, with 99 degrees of freedom.
WIDER = float(stats.t.ppf(0.9995, 99) / stats.t.ppf(0.975, 99))


def rare(protection: str, **settings: Any) -> dict[str, Any]:
    rows = lossylink.run("stress", protection=[protection], settings={**LOOKS, **settings}, rare=True).rows
    return rows.to_dicts()[0]


def binomial_tail(k: int, h: int, p: float) -> float:
    """Return the share of data frames that stay lost behind a code: p P[Bin(k + h - 1, p) >= h]."""
    return float(p * stats.binom.sf(h - 1, k + h - 1, p))


@pytest.mark.parametrize(
    ("protection", "theory", "slack"),
    [
        ("lg:copies=2", 1e-9, 0.0),
        ("lg-nb:copies=3", 1e-12, 0.0),
        ("lg:copies=4", 1e-15, 0.0),
        # A flush gives up the 15 frames of the window; the order p W is left out of the closed form.
        ("llr:replays=3", 15e-12, 0.02),
        ("fec:25/5", binomial_tail(25, 5, 1e-3), 0.0),
        ("fec:10/4", binomial_tail(10, 4, 1e-3), 0.0),
    ],
)
def test_rare_losses_follow_the_closed_forms(protection: str, theory: float, slack: float) -> None:
    row = rare(protection)
    estimate, half_width = row["residual_loss_rate"], row["rare_relative_error"] * row["residual_loss_rate"]
    assert row["rare_verdict"] == "sound"
    assert row["residual_loss_ci95"] == pytest.approx([estimate - half_width, estimate + half_width])
    assert half_width < 0.1 * estimate
    assert abs(estimate - theory) <= WIDER * half_width + slack * theory


@pytest.mark.parametrize("frame", ["60B", "1514B"])
@pytest.mark.parametrize(
    "line",
    ["code=rs272,ber=3e-4", "code=rs528,ber=1e-4", "code=rs544,ber=2.4e-4", "code=rs544,ber=1e-4,burst=0.5",
     "code=rs544,ber=1e-4,burst=0.5,lanes=4,precoding=on", "code=firecode,ber=1e-6,burst=0.3"],
)  # fmt: skip
def test_a_line_with_a_code_loses_as_many_frames_as_theory_says(line: str, frame: str) -> None:
    settings = {"loss": f"phy:{line}", "traffic.frame": frame, "traffic.source": "saturated"}
    row = rare("none", **settings)
    native = parse_loss(f"phy:{line}").native_at(100e9)
    theory = mean_frame_loss_ratio(
        code_named(native["code"]),
        bit_error_ratio=native["ber"],
        frame_bytes=int(frame.removesuffix("B")) + 4,
        repeat=native["burst"],
        line_bits=native["line_bits"],
        precoded=native["precoding"],
        lanes=native["lanes"],
    )
    assert row["residual_loss_theory"] == pytest.approx(theory, rel=1e-9)
    estimate, half_width = row["residual_loss_rate"], row["rare_relative_error"] * row["residual_loss_rate"]
    assert row["rare_verdict"] == "sound"
    assert abs(estimate - theory) <= WIDER * half_width


def test_copies_behind_a_code_lie_in_codewords_of_their_own() -> None:
    """A frame stays lost with its only copy, which is lost as often as any frame."""
    line = {"loss": "phy:code=rs272,ber=6e-4", "traffic.source": "saturated", "run.looks": 20_000}
    row = rare("lg-nb:copies=1,holes=unlimited", **line)
    lost = mean_frame_loss_ratio(code_named("rs272"), bit_error_ratio=6e-4, frame_bytes=1518 + 3)
    estimate, half_width = row["residual_loss_rate"], row["rare_relative_error"] * row["residual_loss_rate"]
    assert row["rare_verdict"] == "sound"
    assert abs(estimate - lost**2) <= WIDER * half_width


@pytest.mark.parametrize(("option", "copies"), [("1", 1), ("2", 2), ("auto", 3)])
@pytest.mark.parametrize("mode", ["lg", "lg-nb"])
def test_notifications_are_lost_in_all_their_copies(mode: str, option: str, copies: int) -> None:
    """Both ways lose one frame in a hundred: p (q^C + (1 - q^C) p^N), C by LG-46 if auto."""
    p = q = 1e-2
    row = rare(
        f"{mode}:copies=3,holes=unlimited,control_copies={option}", **{"loss": str(p), "loss.reverse": str(q)}
    )
    theory = p * (q**copies + (1 - q**copies) * p**3)
    assert row["residual_loss_theory"] == pytest.approx(theory, rel=1e-9)
    estimate, half_width = row["residual_loss_rate"], row["rare_relative_error"] * row["residual_loss_rate"]
    assert row["rare_verdict"] == "sound"
    assert half_width < 0.1 * estimate
    assert abs(estimate - theory) <= WIDER * half_width


@pytest.mark.parametrize(
    ("protection", "theory"),
    [
        # The rule gives two copies for 1e-8 (LG-19); of a run of losses the first five are asked for (LG-9).
        ("lg", (1 - 1e-15) * 1e-9 + 1e-15 * 1e-3),
        ("lg-nb:copies=3,holes=unlimited", 1e-12),
        ("lg:copies=2,holes=7", None),
        ("none", 1e-3),
        ("llr", None),
    ],
)
def test_the_closed_form_stands_beside_the_estimate(protection: str, theory: float | None) -> None:
    found = rare(protection)["residual_loss_theory"]
    assert found is None if theory is None else found == pytest.approx(theory, rel=1e-9)


def test_the_dictionary_is_what_rare_runs_produce() -> None:
    text = DICTIONARY.read_text()
    section = text.partition("\n## stress for rare losses\n")[2].partition("\n## ")[0]
    common = text.partition("\n## Every experiment\n")[2].partition("\n## ")[0]
    keys = set(re.findall(r"^\| `([^`]+)` \|", common + section, flags=re.MULTILINE))
    assert keys == rare("fec:5/1").keys() == rare("lg-nb").keys()
    assert set(all_experiments()["stress"].rare_row_keys) <= keys


def test_the_same_seed_gives_the_same_row_whatever_the_threads() -> None:
    one, two = (
        lossylink.run("stress", protection=["lg"], settings=LOOKS, seed=3, threads=threads, rare=True)
        for threads in (1, 2)
    )
    assert one.rows.equals(two.rows)


def test_a_scenario_may_ask_for_it(tmp_path: Path) -> None:
    path = tmp_path / "rare.toml"
    path.write_text('experiment = "stress"\nprotection = ["fec:5/2"]\n[run]\nrare = true\nlooks = 500\n')
    assert lossylink.run(path).rows["rare_looks"].to_list() == [500]


@pytest.mark.parametrize(
    ("experiment", "settings", "words"),
    [
        ("tcp-fct", {}, "does not use 'run.rare'"),
        ("stress", {"run.backend": "live"}, "leave it out of a live run"),
        ("stress", {"loss": "0"}, "the link loses nothing"),
        ("stress", {"loss": "at:3"}, "steers losses that are drawn"),
    ],
)
def test_what_cannot_be_steered_is_refused_in_one_line(
    experiment: str, settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(UserError, match=words) as refusal:
        lossylink.run(experiment, protection=["lg"], settings=settings, rare=True)
    assert "\n" not in str(refusal.value)


def test_the_command_line_shows_estimate_interval_and_verdict() -> None:
    words = "run stress --rare --json -p lg -p llr:replays=255 --set run.looks=300"
    command = [sys.executable, "-m", "lossylink", *words.split()]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert '"rare_verdict": "sound"' in result.stdout
    assert "nothing stayed lost in 300 looks" in result.stdout
