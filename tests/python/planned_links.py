"""Links of which the tests of the planner make plans."""

from __future__ import annotations

from typing import Any

from lossylink.planning import Link
from lossylink.scenario.loss import parse_loss


def link(loss: float | str = 1e-3, *, rate_gbps: int = 100, **more: Any) -> Link:
    """Return a link, without length unless told so; a loss is a ratio, or spelled as users spell it."""
    settings: dict[str, Any] = {"rate_bps": rate_gbps * 10**9, "propagation_ps": 0} | more
    if isinstance(loss, str):
        return Link.losing(parse_loss(loss), **settings)
    return Link(loss_ratio=loss, **settings)
