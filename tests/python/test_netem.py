"""netem's words: what they lose, held to closed forms and to the arithmetic of the kernel."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lossylink
from lossylink.errors import UserError
from lossylink.scenario.loss import parse_loss
from lossylink.scenario.netem import read_options, read_words
from lossylink.theory.bursts import Chain
from lossylink.theory.netem import correlated, four_state

#: Packets of a simulation of the kernel's code.
PACKETS = 400_000
SIGMAS = 4.5


def kernel_correlated(loss: float, correlation: float, chains: int, packets: int) -> np.ndarray:
    """``get_crandom`` and ``loss_event``, in the kernel's 32 bits, for many queues at once."""
    rng = np.random.default_rng(5)
    rho = np.uint64(round(correlation * (2**32 - 1)) + 1)
    limit = np.uint64(round(loss * (2**32 - 1)))
    last = rng.integers(0, 2**32, chains, dtype=np.uint64)
    lost = np.empty((packets, chains), dtype=np.bool_)
    for packet in range(-100, packets):  # the first hundred forget where the queue began
        value = rng.integers(0, 2**32, chains, dtype=np.uint64)
        last = (value * (np.uint64(2**32) - rho) + last * rho) >> np.uint64(32)
        if packet >= 0:
            lost[packet] = limit >= last
    return lost


def kernel_states(p13: float, p31: float, p32: float, p23: float, p14: float) -> np.ndarray:
    """``loss_4state`` of Linux 6: whether each packet is lost."""
    draws = np.random.default_rng(7).random(PACKETS)
    lost, state = np.zeros(PACKETS, dtype=np.bool_), 1
    for packet, draw in enumerate(draws):
        if state == 1:
            state = 4 if draw < p14 else 3 if draw < p14 + p13 else 1
        elif state == 2:
            state = 3 if draw < p23 else 2
        elif state == 3:
            state = 2 if draw < p32 else 1 if draw < p31 + p32 else 3
        else:
            state = 1
        lost[packet] = state in (3, 4)
    return lost


def kernel_gemodel(p: float, r: float, bad: float, good: float) -> np.ndarray:
    """``loss_gilb_ell``: the loss by the state before its step."""
    draws = np.random.default_rng(9).random((PACKETS, 2))
    lost, is_bad = np.zeros(PACKETS, dtype=np.bool_), False
    for packet, (step, loss) in enumerate(draws):
        lost[packet] = loss < (bad if is_bad else good)
        is_bad = step >= r if is_bad else step < p
    return lost


def close(lost: np.ndarray, ratio: float, dispersion: float) -> bool:
    """Whether a simulated ratio is as near as its standard deviation, bursts counted, makes likely."""
    deviation = math.sqrt(ratio * (1 - ratio) * max(1.0, dispersion) / lost.size)
    return abs(float(lost.mean()) - ratio) < SIGMAS * deviation


@pytest.mark.parametrize(
    ("words", "native"),
    [
        ("loss 1%", {"model": "bernoulli", "p": 0.01}),
        ("loss 1", {"model": "bernoulli", "p": 0.01}),  # tc counts in per cent with or without a sign
        ("loss random 0.1%", {"model": "bernoulli", "p": 0.001}),
        ("drop 1%", {"model": "bernoulli", "p": 0.01}),
        ("limit 1000 loss 1%", {"model": "bernoulli", "p": 0.01}),
    ],
)
def test_percentages_are_those_of_tc(words: str, native: dict[str, object]) -> None:
    assert parse_loss(f"netem:{words}").native == native


@pytest.mark.parametrize(
    ("words", "chain"),
    [
        ("loss gemodel 1% 10% 70% 0.1%", (0.01, 0.1, 0.7, 0.001)),
        ("loss gemodel p 1% r 10% 1-h 70% 1-k 0.1%", (0.01, 0.1, 0.7, 0.001)),  # as tc prints it
        ("loss gemodel 1% 10% 70%", (0.01, 0.1, 0.7, 0.0)),
        ("loss gemodel 1% 10%", (0.01, 0.1, 1.0, 0.0)),
        ("loss gemodel 1%", (0.01, 0.99, 1.0, 0.0)),
        ("loss state 1% 10%", (0.01, 0.1, 1.0, 0.0)),
        ("loss state p13 1% p31 10% p32 0% p23 100% p14 0%", (0.01, 0.1, 1.0, 0.0)),
        ("loss state 1%", (0.01, 0.99, 1.0, 0.0)),
    ],
)
def test_two_states_are_exact_and_defaults_are_those_of_the_manual(
    words: str, chain: tuple[float, ...]
) -> None:
    loss = parse_loss(f"netem:{words}")
    assert [loss.native[key] for key in ("p", "r", "loss_bad", "loss_good")] == pytest.approx(chain)
    assert loss.notes == ()


def test_a_simulated_gemodel_loses_its_stationary_share() -> None:
    """p / (p + r) (1 - h) + r / (p + r) (1 - k), in a run of the simulator and in the kernel's code."""
    loss = parse_loss("netem:loss gemodel 1% 10% 70% 0.1%")
    expected = 0.01 / 0.11 * 0.7 + 0.1 / 0.11 * 0.001
    assert loss.mean == pytest.approx(expected)
    dispersion = Chain.of(loss.native).dispersion
    assert close(kernel_gemodel(0.01, 0.1, 0.7, 0.001), expected, dispersion)
    row = lossylink.run(
        "stress", loss=loss.spelling, protection="none", settings={"traffic.packets": PACKETS}
    ).records[0]
    deviation = math.sqrt(expected * (1 - expected) * dispersion / row["packets_sent"])
    assert abs(row["effective_loss_rate"] - expected) < SIGMAS * deviation


def test_the_dispersion_is_that_of_the_kernels_losses() -> None:
    lost = kernel_gemodel(0.01, 0.1, 0.7, 0.001).reshape(-1, 2_000).sum(axis=1)
    chain = Chain.of(parse_loss("netem:loss gemodel 1% 10% 70% 0.1%").native)
    mean = chain.loss_ratio * 2_000
    # The variance of n normal counts is known to sqrt(2 / (n - 1)); batches cut what their ends correlate.
    measured = float(lost.var(ddof=1)) / (mean * (1 - chain.loss_ratio))
    assert abs(measured / chain.dispersion - 1) < 4 * math.sqrt(2 / (lost.size - 1)) + 0.02


@given(st.floats(0.01, 0.49), st.floats(0, 1))
@settings(max_examples=30, deadline=None)
def test_correlation_has_a_closed_form_in_the_middle(correlation: float, place: float) -> None:
    """From c to 1 - c the density is 1 / (1 - c), and half of the numbers are below one half."""
    loss = correlation + place * (1 - 2 * correlation)
    expected = 0.5 + (loss - 0.5) / (1 - correlation)
    assert correlated(loss, correlation).loss_ratio == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize(("loss", "correlation", "steps"), [(0.01, 0.25, 4), (0.03, 0.25, 3), (0.08, 0.2, 2)])
def test_correlation_has_a_closed_form_in_the_tail(loss: float, correlation: float, steps: int) -> None:
    """From c^n to (1 - c) c^(n-1) the last n numbers fill a simplex; the mean over those before is a sum."""
    c, theta = Fraction(correlation), Fraction(loss)
    assert c**steps <= theta <= (1 - c) * c ** (steps - 1)
    moments = [Fraction(1)]
    for n in range(1, steps + 1):  # of x = (1 - c) u + c x'
        rest = sum(
            math.comb(n, i) * (1 - c) ** i * Fraction(1, i + 1) * c ** (n - i) * moments[n - i]
            for i in range(1, n + 1)
        )
        moments.append(rest / (1 - c**n))
    room = sum(
        math.comb(steps, i) * theta ** (steps - i) * (-(c**steps)) ** i * moments[i] for i in range(steps + 1)
    )
    expected = room / (math.factorial(steps) * (1 - c) ** steps * c ** (steps * (steps - 1) // 2))
    assert correlated(loss, correlation).loss_ratio == pytest.approx(float(expected), rel=2e-3)


@pytest.mark.parametrize(("loss", "correlation"), [(0.3, 0.25), (0.3, 0.4), (0.45, 0.9), (0.7, 0.5)])
def test_correlated_numbers_lose_what_the_kernel_loses(loss: float, correlation: float) -> None:
    found = correlated(loss, correlation)
    lost = kernel_correlated(loss, correlation, chains=4_000, packets=100)
    assert close(lost, found.loss_ratio, 2 / (1 - correlation))
    after = lost[1:][lost[:-1]]
    assert close(after, found.again, 2 / (1 - correlation))


def test_a_correlated_loss_is_not_the_loss_that_was_written() -> None:
    loss = parse_loss("netem:loss 1% 25%")
    assert loss.mean == pytest.approx(2.42e-6, rel=0.01)
    (note,) = loss.notes
    assert "not 0.01" in note
    assert correlated(0.5, 0.8).loss_ratio == pytest.approx(0.5)


@pytest.mark.parametrize(
    "states",
    [(0.01, 0.3, 0.1, 0.2, 0.005), (0.02, 0.5, 0.0, 1.0, 0.03), (0.05, 0.2, 0.4, 0.6, 0.0)],
)
def test_four_states_lose_what_the_kernel_loses(states: tuple[float, ...]) -> None:
    names = ("p13", "p31", "p32", "p23", "p14")
    found = four_state(**dict(zip(names, states, strict=True)))
    lost = kernel_states(*states)
    assert close(lost, found.loss_ratio, found.chain.dispersion * 4)
    assert close(lost[1:][lost[:-1]], found.again, 4)
    loss = parse_loss("netem:loss state " + " ".join(f"{100 * one:g}%" for one in states))
    assert loss.mean == pytest.approx(found.loss_ratio)
    assert "is left out" in loss.notes[0]


def test_states_that_are_never_left_again() -> None:
    forever = {"p13": 0.1, "p31": 0.0, "p32": 0.5, "p23": 0.5, "p14": 0.0}
    assert four_state(**forever).loss_ratio == pytest.approx(0.5)
    assert four_state(**forever | {"p32": 0.0}).loss_ratio == 1
    assert four_state(**forever | {"p31": 0.2, "p23": 0.0}).loss_ratio == 0
    assert four_state(**forever | {"p13": 0.0}).loss_ratio == 0


def test_corruption_is_a_loss_and_says_so() -> None:
    loss = parse_loss("netem:loss 1% corrupt 2%")
    assert loss.native["p"] == pytest.approx(1 - 0.99 * 0.98)
    assert "fails its check" in loss.notes[0]
    chain = parse_loss("netem:loss gemodel 1% 10% 70% 0.1% corrupt 2%")
    assert chain.mean == pytest.approx(1 - (1 - 0.01 / 0.11 * 0.7 - 0.1 / 0.11 * 0.001) * 0.98)
    assert parse_loss("netem:loss 1% ecn").notes == (
        "ecn: netem marks ECN-capable packets instead; here they are lost",
    )


def test_what_tc_prints_as_json_is_what_it_prints_as_text() -> None:
    options = {
        "limit": 1000,
        "delay": {"delay": 0.01, "jitter": 0.002, "correlation": 0.25},
        "loss-gemodel": {"p": 0.01, "r": 0.1, "1-h": 0.7, "1-k": 0.001},
        "corrupt": {"corrupt": 0.02, "correlation": 0},
        "ecn": False,
        "gap": 0,
    }
    text = "limit 1000 delay 10ms  2ms 25% loss gemodel p 1% r 10% 1-h 70% 1-k 0.1% corrupt 2%"
    assert read_options(options).process() == read_words(text).process()
    assert (read_options(options).left_out, read_words(text).left_out) == (
        ("delay",),
        ("delay 10ms 2ms 25%",),
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("", "no loss in ''; write loss"),
        ("loss", "'loss' needs a percentage, and nothing follows"),
        ("loss gemodel", "'loss gemodel' needs a percentage"),
        ("loss 101%", "not between 0 and 100 %; tc counts in per cent"),
        ("loss -1%", "not between 0 and 100 %"),
        ("loss 1.2.3%", "is no percentage"),
        ("loss gemodl 1%", "did you mean 'gemodel'"),
        ("los 1%", "did you mean 'loss'"),
        ("loss 1% loss 2%", "there are two"),
        ("loss 1% 100%", "never draws again"),
        ("loss state 60% 1% 0 0 60%", "p13 and p14 leave the same state"),
        ("loss 1% delay 10ms", "'delay 10ms' is no loss; leave it out of loss (set link.propagation for it)"),
        (
            "loss 1% delay 10ms 2ms",
            "(set link.propagation to 10ms - 2ms, path.jitter to 2 x 2ms and path.reorder to true for it)",
        ),
        ("loss 1% duplicate 1%", "'duplicate 1%' is no loss; leave it out of loss (no key has it)"),
        ("loss 1% reorder 25% 50%", "'reorder 25% 50%' is no loss"),
        ("loss 1% rate 1Mbit", "set link.rate for it"),
    ],
)
def test_what_is_no_loss_is_refused_in_one_line(words: str, says: str) -> None:
    with pytest.raises(UserError, match=re.escape(says)) as refusal:
        parse_loss(f"netem:{words}")
    assert "\n" not in str(refusal.value)
