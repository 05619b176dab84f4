"""Colours and names of protections: Okabe and Ito's palette, told apart by people with any colour vision.

Every protection keeps its slot in every figure; the report's style sheet gives each slot its shades.
"""

from __future__ import annotations

from lossylink import protections

# Okabe, Ito: "Color Universal Design" (2008).
OKABE_ITO = {
    "black": "#000000",
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "green": "#009E73",
    "yellow": "#F0E442",
    "blue": "#0072B2",
    "vermillion": "#D55E00",
    "purple": "#CC79A7",
}

LOSS_FREE = "loss-free"
"""The label of a run without loss, which stands beside the protections in many figures."""
LOSS_FREE_SLOT = "black"

FURTHER_SLOTS = ("orange", "purple", "sky", "yellow", "black")
"""Slots of protections without one of their own, in the order in which they appear."""


def name_of(protection: str) -> str:
    """The name that a reader knows a protection by.

    Examples
    --------
    >>> name_of("lg-nb"), name_of("fec:25/5"), name_of("loss-free")
    ('LinkGuardian NB', 'FEC (25,5)', 'no loss, no protection')
    """
    return "no loss, no protection" if protection == LOSS_FREE else protections.name_of(protection)


def slots_of(labels: tuple[str, ...]) -> dict[str, str]:
    """The palette slot of each protection of a figure.

    Examples
    --------
    >>> slots_of(("none", "fec:25/5", "lg"))
    {'none': 'vermillion', 'fec:25/5': 'orange', 'lg': 'blue'}
    """
    own = {label: _own_slot(label) for label in labels}
    others = [label for label, slot in own.items() if slot is None]
    further = {label: FURTHER_SLOTS[place % len(FURTHER_SLOTS)] for place, label in enumerate(others)}
    return {label: own[label] or further[label] for label in labels}


def _own_slot(label: str) -> str | None:
    return LOSS_FREE_SLOT if label == LOSS_FREE else protections.look_of(label).slot
