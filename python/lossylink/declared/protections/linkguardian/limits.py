"""How far LinkGuardian's options go."""

from __future__ import annotations

from functools import cache
from typing import Final

from lossylink.declared.protections._bounds import most

PUBLISHED_HOLES: Final = 5
"""Consecutive losses that the published sender can mark."""


@cache
def most_copies() -> int:
    """Return how many copies of a retransmission the core sends at most."""
    mode = {"ordered": {"backpressure": True}}
    return most(
        lambda copies: {
            "family": "linkguardian",
            "copies": copies,
            "dummies": None,
            "holes": PUBLISHED_HOLES,
            "mode": mode,
        }
    )
