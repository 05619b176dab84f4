"""Fitted and assumed values of profiles, and the claims that say that they rest on them."""

from __future__ import annotations

import pytest

from lossylink._package import published
from lossylink.reproduce.framework.model import Basis, Claim, Judgement, Outcome
from lossylink.reproduce.reproduction import following, registry
from lossylink.reproduce.reproduction.following import Followed, Value
from lossylink.scenario.profiles import load_profile
from lossylink.statistics.estimates import Estimate

KEPT = following.load()
CLAIMS = {
    (experiment.name, claim.text): claim
    for experiment in registry.EXPERIMENTS
    for claim in experiment.claims(published.load())
}
MOVED = {
    (experiment, text, value): figures
    for value, experiments in KEPT["moved"].items()
    for experiment, claims in experiments.items()
    for text, figures in claims.items()
}


def value_named(name: str) -> Value:
    return next(value for value in following.values() if value.name == name)


def test_the_profiles_are_those_that_were_followed() -> None:
    """After a change of a profile: python -m lossylink.reproduce.reproduction.following."""
    assert KEPT["fingerprint"] == following.fingerprint()
    assert set(KEPT["moved"]) == {value.name for value in following.values()}


def test_every_followed_claim_is_still_made() -> None:
    assert {(experiment, text) for experiment, text, _ in MOVED} <= set(CLAIMS)


@pytest.mark.parametrize("value", [v.name for v in following.values() if v.origin == "assumed"])
def test_a_claim_that_an_assumed_value_moves_says_so(value: str) -> None:
    silent = [text for (name, text, of) in MOVED if of == value and value not in CLAIMS[name, text].rests_on]
    assert not silent


def test_a_claim_that_says_what_it_rests_on_moves_with_it() -> None:
    """Of the values that a claim names, one at least moves its figure."""

    def is_idle(name: str, claim: Claim) -> bool:
        named = [value for value in claim.rests_on if ":" in value and not value.startswith("ideal:")]
        return len(named) == len(claim.rests_on) > 0 and not any(
            (name, claim.text, value) in MOVED for value in named
        )

    assert not [text for (name, text), claim in CLAIMS.items() if is_idle(name, claim)]


def test_a_claim_rests_on_values_that_no_source_gives() -> None:
    """What a source gives decides figures as well, and makes no claim calibrated or assumed."""
    profiles = {value.profile for value in following.values()}
    rests_on = {name for claim in CLAIMS.values() for name in claim.rests_on}
    named = {name for name in rests_on if name.partition(":")[0] in profiles}
    assert named <= {value.name for value in following.values()}


def test_what_was_fitted_to_a_figure_moves_it() -> None:
    """The canary: a fit whose figures no longer move was not followed."""
    fitted = {value.name for value in following.values() if value.origin == "fitted"}
    calibrated = {key for key, claim in CLAIMS.items() if claim.basis is Basis.CALIBRATED}
    assert {value for name, text, value in MOVED if (name, text) in calibrated} & fitted


@pytest.mark.parametrize("name", ["ae-hosts:rdma_one_way_ns", "ae-hosts:rdma_inline_bytes"])
def test_following_a_value_again_leads_to_the_same_claims(name: str) -> None:
    followed = Followed(next(one for one in registry.EXPERIMENTS if one.name == "rdma-fct"))
    moved = followed.moved_by(value_named(name))
    assert moved == KEPT["moved"][name].get("rdma-fct", {})


def test_numbers_tables_and_switches_are_raised() -> None:
    host, switch = load_profile("host", "ae-hosts"), load_profile("switch", "tofino1")
    assert value_named("tofino1:data_pipeline_ns").raised(switch)["data_pipeline_ns"] == 988
    assert value_named("ae-hosts:rdma_latency").raised(host)["rdma_latency"][2] == [0.99, 1695.0 * 1.5]
    offload = Value("host", "ae-hosts", "generic_receive_offload", "assumed")
    assert offload.raised(host)["generic_receive_offload"] is False
    assert value_named("ae-hosts:receive_segment_ns").raised(host)["receive_segment_ns"] == 100
    share = value_named("ae-hosts:missed_tick_share").raised(host)["missed_tick_share"]
    assert share == host["missed_tick_share"] / 2


def judged(value: float, *, spread: float = 0.0, outcome: Outcome = Outcome.HOLDS) -> dict[str, Judgement]:
    return {"claim": Judgement(outcome, "", Estimate(value, value - spread, value + spread))}


@pytest.mark.parametrize(
    ("found", "again", "changed", "moves"),
    [
        (judged(1.0), judged(1.0), judged(1.04), False),
        (judged(1.0), judged(1.0), judged(1.06), True),
        (judged(1.0), judged(1.1), judged(1.2), False),
        (judged(1.0, spread=0.2), judged(1.0), judged(1.3, spread=0.2), False),
        (judged(1.0, spread=0.2), judged(1.0), judged(1.5, spread=0.2), True),
        (judged(0.0), judged(0.0), judged(1.0), True),
        (judged(1.0), judged(1.0), judged(1.01, outcome=Outcome.FAILS), True),
        (judged(1.0), judged(1.0, outcome=Outcome.FAILS), judged(1.01, outcome=Outcome.FAILS), False),
        (judged(1.0), judged(1.0), judged(1.01, outcome=Outcome.UNDECIDED), False),
    ],
)
def test_a_figure_moves_beyond_a_twentieth_and_beyond_its_noise(
    found: dict[str, Judgement], again: dict[str, Judgement], changed: dict[str, Judgement], moves: bool
) -> None:
    assert bool(dict(following._moves(found, again, changed))) is moves
