"""The published experiments at the pace of software switches; a reader looks at what they print."""

from __future__ import annotations

import pytest

from . import tcp_experiment
from .alone import run_alone


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("family", ["linkguardian", "fec_model"])
def test_what_stays_lost_is_what_theory_says(family: str) -> None:
    run_alone(f"tests.p4.{family}_experiment")


def test_a_tcp_flow_loses_what_the_link_corrupts_unless_it_is_protected() -> None:
    bare, *protected = (tcp_experiment.measure(protection) for protection in tcp_experiment.PROTECTIONS)
    for figures in (bare, *protected):
        print(figures.line())
        assert figures.corrupted > 0
        assert figures.dropped == 0
    # Each lost segment is sent again. Lost acknowledgements there are none, and hosts see no other reason.
    assert bare.corrupted / 2 <= bare.retransmissions <= 2 * bare.corrupted
    # In order, TCP notices nothing of what the link repairs. Out of order it does: frames come late.
    ordered = protected[0]
    assert ordered.retransmissions == 0 or ordered.given_up > 0
