"""Protections of the live lab, in the data plane's words."""

from __future__ import annotations

from typing import Any

from lossylink.errors import UserError
from lossylink.scenario.protection import parse_protection

#: Options of the codes that only the simulator has.
_SIMULATED = {"fec_release", "fec_flush_ps", "fec_meter", "fec_priority", "fec_change"}
#: Dummies after the last frame, as published.
_DUMMIES = 3


def native_protection(text: str) -> dict[str, Any] | None:
    """Return the data plane's words for a protection; ``off`` and ``none`` are nothing.

    Examples
    --------
    >>> native_protection("lg:copies=2")["copies"]
    2
    >>> native_protection("off") is None
    True
    """
    if text.strip().lower() in {"off", "none"}:
        return None
    protection = parse_protection(text)
    if protection.kind == "fec-model":
        raise UserError("fec-model is a model of the simulator; live, use fec:K/H")
    words = protection.native(dummy_count=_DUMMIES)
    foreign = sorted(_SIMULATED & words.keys())
    if foreign:
        raise UserError(f"protection '{text}': live, fec takes no option {foreign[0].split('_')[1]}")
    return words
