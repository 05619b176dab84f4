"""Losses in bursts as the simulator takes them from a page: by their mean and the length of a burst.

Python turns both into the chances of a chain, which is arithmetic. A rule of the catalogue has none: it hands
on what was chosen, and the simulator's core does the same arithmetic.
"""

from __future__ import annotations

from typing import Any

from lossylink.scenario.loss import Loss


def by_mean_and_burst(loss: Loss, native: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON of a loss process, by mean and burst where the user wrote these.

    Examples
    --------
    >>> from lossylink.scenario.loss import parse_loss
    >>> bursts = parse_loss("ge:mean=0.001,burst=4")
    >>> by_mean_and_burst(bursts, bursts.native)
    {'model': 'gilbert-elliott', 'mean': 0.001, 'burst': 4.0}
    """
    parts = [part.partition("=") for part in loss.spelling.partition(":")[2].split(",")]
    named = {key.strip(): value for key, _, value in parts}
    if native["model"] != "gilbert-elliott" or named.keys() != {"mean", "burst"}:
        return native
    return {"model": native["model"], **{key: float(named[key]) for key in ("mean", "burst")}}
