"""Colours and names of protections: Okabe and Ito's palette, told apart by people with any colour vision.

A protection keeps its slot in every figure; the report's style sheet gives each slot its shades.
"""

from __future__ import annotations

from zlib import crc32

from lossylink.declared import protections

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
"""Slots of protections without one of their own."""

ORDERED_SLOTS = ("blue", "green", "orange", "vermillion", "purple", "sky", "black")
"""Slots of what has an order and no name, such as round-trip times."""


def name_of(protection: str) -> str:
    """The name that a reader knows a protection by.

    Examples
    --------
    >>> name_of("lg-nb"), name_of("fec:25/5"), name_of("loss-free")
    ('LinkGuardian NB', 'FEC (25,5)', 'no loss')
    """
    return "no loss" if protection == LOSS_FREE else protections.name_of(protection)


def slots_of(labels: tuple[str, ...]) -> dict[str, str]:
    """The palette slot of each protection of a figure, the same in every figure.

    A protection without a slot of its own gets one from its label; only where another of the figure has that
    slot, the next.

    Examples
    --------
    >>> slots_of(("none", "fec:25/5", "lg"))
    {'none': 'vermillion', 'fec:25/5': 'orange', 'lg': 'blue'}
    >>> slots_of(("lg:copies=2",)) == {"lg:copies=2": slots_of(("lg:copies=2", "none"))["lg:copies=2"]}
    True
    """
    found = {label: slot for label in labels if (slot := _own_slot(label))}
    for label in sorted(set(labels) - set(found)):
        first = crc32(label.encode()) % len(FURTHER_SLOTS)
        turned = FURTHER_SLOTS[first:] + FURTHER_SLOTS[:first]
        found[label] = next((slot for slot in turned if slot not in found.values()), turned[0])
    return {label: found[label] for label in labels}


def _own_slot(label: str) -> str | None:
    return LOSS_FREE_SLOT if label == LOSS_FREE else protections.look_of(label).slot
