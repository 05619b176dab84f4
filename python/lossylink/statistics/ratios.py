"""How sure the ratio of a percentile of two protections is: its interval, by the flows of a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from msgspec import Struct

from lossylink.statistics.percentiles import percentile_of

Values: TypeAlias = Callable[[str, str], Sequence[float] | None]
"""Takes a protection and a column of the table ``trials``; gives its values, or nothing without them."""


class Sample(Struct, frozen=True):
    """The flows of a run, and how many of them that follow each other may depend on each other."""

    values: Values
    block: int


def ratio_interval(key: str, above: str, below: str, sample: Sample) -> tuple[float, float] | None:
    """Return the 95 % interval of the ratio of a percentile over two protections.

    Gives nothing for what is no percentile, without the flows, and where they are too few to bound it.

    Parameters
    ----------
    key
        Of a row, such as ``fct_us_p99_9``.
    above, below
        The protections: the percentile over the first is divided by that over the second.
    sample
        The flows.

    Examples
    --------
    >>> flows = {"none": [200.0] * 90 + [400.0] * 10, "lg": [100.0] * 100}
    >>> sample = Sample(lambda protection, column: flows[protection], block=1)
    >>> ratio_interval("fct_us_p50", "lg", "none", sample)
    (0.5, 0.5)
    """
    of = percentile_of(key)
    if of is None:
        return None
    column, percent = of
    values, reference = sample.values(above, column), sample.values(below, column)
    if not values or not reference:
        return None
    from lossylink.statistics.estimates import percentile_ratio  # numpy and scipy: most runs need neither

    found = percentile_ratio(values, reference, percent, block=sample.block)
    return (found.low, found.high) if found.low > 0 and math.isfinite(found.high) else None
