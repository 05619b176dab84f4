"""What Wharf's evaluation says, statement by statement, numbered in the order of its text (1 to 33).

Each statement is judged as it stands. One that the simulation contradicts is refuted, and the verdict says
what is true instead. A figure that was measured on the test bed, and that the simulation misses, fails.
"""

from __future__ import annotations

from lossylink.reproduce.experiments.fec.claims import latency, remedies, structure, throughput, window
from lossylink.reproduce.framework.model import Claim, Published

STATEMENTS = range(1, 34)
"""Numbers of the source's statements."""


def claims(published: Published) -> tuple[Claim, ...]:
    """Every statement, theme by theme."""
    wharf = published["wharf"]
    return (
        *structure.claims(wharf),
        *throughput.claims(wharf),
        *window.claims(wharf),
        *latency.claims(wharf),
        *remedies.claims(wharf),
    )
