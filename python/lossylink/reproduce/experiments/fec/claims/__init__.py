"""What Wharf's evaluation says, statement by statement, numbered in the order of its text (1 to 33).

Three statements are wrong as printed: 22 (a product for a quotient), 31 (more than the code leaves) and 33
(one order of magnitude for two). Others hold only under a condition that the text leaves out; the verdict
names it.
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
