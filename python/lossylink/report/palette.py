"""Colours and names of protections: Okabe and Ito's palette, told apart by people with any colour vision.

Every protection keeps its slot in every figure; the report's style sheet gives each slot its shades.
"""

from __future__ import annotations

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

PROTECTION_SLOTS = {"loss-free": "black", "none": "vermillion", "lg": "blue", "lg-nb": "green"}
PROTECTION_NAMES = {
    "loss-free": "no loss, no protection",
    "none": "no protection",
    "lg": "LinkGuardian",
    "lg-nb": "LinkGuardian NB",
}
FURTHER_SLOTS = ("orange", "purple", "sky", "yellow", "black")
"""Slots of protections without one of their own, in the order in which they appear."""


def name_of(protection: str) -> str:
    """The name that a reader knows a protection by.

    Examples
    --------
    >>> name_of("lg-nb"), name_of("fec:25/5"), name_of("lg:tail=off")
    ('LinkGuardian NB', 'FEC (25,5)', 'LinkGuardian, tail=off')
    """
    base, _, options = protection.partition(":")
    if base in {"fec", "fec-model"} and "/" in options:
        data, parity = options.split("/", 1)
        return f"{'FEC' if base == 'fec' else 'FEC model'} ({data},{parity})"
    name = PROTECTION_NAMES.get(base, base)
    return f"{name}, {options.replace(',', ', ')}" if options else name


def slots_of(protections: tuple[str, ...]) -> dict[str, str]:
    """The palette slot of each protection of a figure.

    Examples
    --------
    >>> slots_of(("none", "fec:25/5", "lg"))
    {'none': 'vermillion', 'fec:25/5': 'orange', 'lg': 'blue'}
    """
    others = [protection for protection in protections if protection not in PROTECTION_SLOTS]
    further = {name: FURTHER_SLOTS[place % len(FURTHER_SLOTS)] for place, name in enumerate(others)}
    return {name: PROTECTION_SLOTS.get(name) or further[name] for name in protections}
