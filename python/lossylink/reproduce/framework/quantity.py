"""Figures as people read them: significant digits, thousands, a power of ten only where it is shorter."""

from __future__ import annotations

import math

from lossylink.statistics.estimates import Estimate

SMALLEST_PLAIN = 1e-2
"""Below this a figure reads better with a power of ten: ``9.97e-4`` and not ``0.000997``."""

LARGEST_PLAIN = 1e7
"""From this on too."""

SMALLEST_COUNT = 100
"""Whole values from here on are counts, or as good as: ``250`` and not ``250.0``."""


def figure(value: float | None, *, digits: int = 3) -> str:
    """Write a value with ``digits`` significant digits, never fewer than its whole part has.

    Examples
    --------
    >>> figure(3595.336), figure(17.4061), figure(9.97e-4), figure(0), figure(None)
    ('3,595', '17.4', '9.97e-4', '0', '–')
    >>> figure(92.25, digits=4), figure(100_000_000)
    ('92.25', '1e8')
    """
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    if not SMALLEST_PLAIN <= abs(value) < LARGEST_PLAIN:
        return _scientific(value, digits)
    if value == int(value) and abs(value) >= SMALLEST_COUNT:
        return f"{value:,.0f}"
    # Rounding first, so that 99.96 at three digits is 100 and not 100.0.
    rounded = float(f"{value:.{digits - 1}e}")
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    return f"{value:,.{decimals}f}"


def bound_text(value: float) -> str:
    """A bound as it was chosen: no digits that nobody meant.

    Examples
    --------
    >>> bound_text(15.0), bound_text(2300.0), bound_text(0.9998)
    ('15', '2,300', '0.9998')
    """
    return f"{value:,.8g}"


def _scientific(value: float, digits: int) -> str:
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    if "." in mantissa and abs(float(mantissa)) in {1.0, 10.0}:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}e{int(exponent)}"


def estimated(estimate: Estimate, *, digits: int = 3, unit: str = "") -> str:
    """Write a value and, unless it is exact, its interval in brackets.

    Examples
    --------
    >>> estimated(Estimate(16.08, 14.93, 17.81), unit="x")
    '16.1x [14.9, 17.8]'
    """
    text = with_unit(figure(estimate.value, digits=digits), unit)
    if estimate.is_exact:
        return text
    return f"{text} [{figure(estimate.low, digits=digits)}, {figure(estimate.high, digits=digits)}]"


def with_unit(text: str, unit: str) -> str:
    """Append a unit: a factor without a space, anything else after one.

    Examples
    --------
    >>> with_unit("17.4", "x"), with_unit("92.3", "Gb/s"), with_unit("3", "")
    ('17.4x', '92.3 Gb/s', '3')
    """
    if not unit:
        return text
    return f"{text}{unit}" if unit in {"x", "%"} else f"{text} {unit}"


def power_text(value: float) -> str:
    """Write a power of ten, or a multiple of one, as such.

    Examples
    --------
    >>> power_text(1e-4), power_text(5e-2)
    ('1e-4', '5e-2')
    """
    mantissa, exponent = f"{value:e}".split("e")
    return f"{float(mantissa):g}e{int(exponent)}"


def count_of(value: float) -> str:
    """Write a count in full below a million, and with M above.

    Examples
    --------
    >>> count_of(5000), count_of(100_000_000), count_of(2_500_000)
    ('5,000', '100 M', '2.5 M')
    """
    if value < 1_000_000:
        return f"{value:,.0f}"
    return f"{value / 1e6:,.4g} M"


def duration(seconds: float) -> str:
    """A wall time as people say it.

    Examples
    --------
    >>> duration(0.31), duration(42.4), duration(125)
    ('0.3 s', '42 s', '2 min 5 s')
    """
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
