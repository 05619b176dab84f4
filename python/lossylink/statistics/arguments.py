"""Refusals that functions of numbers share: one line that names the argument, the value and the mend."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
"""What every closed form returns: 0-dimensional (so that `float()` takes it) for scalar arguments."""


def _first_offender(values: FloatArray, refused: NDArray[np.bool_]) -> float:
    return float(values[refused].flat[0])


def positive(name: str, values: ArrayLike) -> FloatArray:
    """Return `values` as float64, or refuse the first that is not finite and above 0."""
    array = np.asarray(values, dtype=np.float64)
    refused = ~(np.isfinite(array) & (array > 0))
    if refused.any():
        raise ValueError(f"{name} must be finite and above 0, not {_first_offender(array, refused):g}")
    return array


def not_negative(name: str, values: ArrayLike) -> FloatArray:
    """Return `values` as float64, or refuse the first that is not finite and at least 0."""
    array = np.asarray(values, dtype=np.float64)
    refused = ~(np.isfinite(array) & (array >= 0))
    if refused.any():
        raise ValueError(f"{name} must be finite and at least 0, not {_first_offender(array, refused):g}")
    return array


def ratio(name: str, values: ArrayLike) -> FloatArray:
    """Return `values` as float64, or refuse the first outside 0..1 (both ends allowed)."""
    array = np.asarray(values, dtype=np.float64)
    refused = ~((array >= 0) & (array <= 1))
    if refused.any():
        raise _outside_unit_interval(name, "from 0 to 1", _first_offender(array, refused))
    return array


def open_ratio(name: str, values: ArrayLike) -> FloatArray:
    """Return `values` as float64, or refuse the first that is not strictly between 0 and 1."""
    array = np.asarray(values, dtype=np.float64)
    refused = ~((array > 0) & (array < 1))
    if refused.any():
        raise _outside_unit_interval(name, "between 0 and 1", _first_offender(array, refused))
    return array


def _outside_unit_interval(name: str, bounds: str, value: float) -> ValueError:
    if 1 < value <= 100:
        return ValueError(f"{name} must be a ratio {bounds}, not {value:g}; {value:g} % is {value / 100:g}")
    return ValueError(f"{name} must be a ratio {bounds}, not {value:g}")


def count(name: str, values: ArrayLike, *, at_least: int = 0) -> NDArray[np.int64]:
    """Return `values` as int64, or refuse the first that is not a whole number of at least `at_least`."""
    array = np.asarray(values, dtype=np.float64)
    refused = ~(np.isfinite(array) & (array == np.floor(array)) & (array >= at_least))
    if refused.any():
        offender = _first_offender(array, refused)
        raise ValueError(f"{name} must be a whole number of at least {at_least}, not {offender:g}")
    return array.astype(np.int64)
