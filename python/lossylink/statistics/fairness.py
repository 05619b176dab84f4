"""How evenly flows share a link."""

from __future__ import annotations

from collections.abc import Sequence


def jain(shares: Sequence[float]) -> float | None:
    """Return Jain's fairness index, or nothing where there was nothing to share.

    Parameters
    ----------
    shares
        What each flow got, in any unit: not negative.

    Returns
    -------
    One for equal shares, 1 / n if one of n takes all (Jain, Chiu, Hawe, 1984).

    Examples
    --------
    >>> jain([3.0, 1.0]), jain([7, 7]), jain([0, 0])
    (0.8, 1.0, None)
    """
    squares = len(shares) * sum(share**2 for share in shares)
    return float(sum(shares) ** 2 / squares) if squares else None
