"""Merge patches of JSON (RFC 7396): what one object must be given to become another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def merged(target: Any, patch: Any) -> Any:
    """Return a target with a patch on it; a member that is null in the patch is removed.

    Examples
    --------
    >>> merged({"a": 1, "b": {"c": 2, "d": 3}}, {"a": 5, "b": {"c": None}})
    {'a': 5, 'b': {'d': 3}}
    """
    if not _is_object(patch):
        return patch
    result = dict(target) if _is_object(target) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def difference(source: Mapping[str, Any], target: Mapping[str, Any]) -> dict[str, Any]:
    """Return the patch that makes the target of the source; none of both has null members.

    Examples
    --------
    >>> difference({"a": 1, "b": {"c": 2, "d": 3}}, {"a": 5, "b": {"d": 3}})
    {'a': 5, 'b': {'c': None}}
    """
    patch: dict[str, Any] = {key: None for key in source if key not in target}
    for key, value in target.items():
        if key not in source:
            patch[key] = value
        elif _is_object(source[key]) and _is_object(value):
            if inner := difference(source[key], value):
                patch[key] = inner
        elif source[key] != value:
            patch[key] = value
    return patch


def without_nulls(value: Any) -> Any:
    """Return JSON without the null members of its objects: the simulator reads an absent one the same.

    Examples
    --------
    >>> without_nulls({"a": None, "b": {"c": None, "d": [None]}})
    {'b': {'d': [None]}}
    """
    if not isinstance(value, dict):
        return value
    return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}


def is_hole(value: Any) -> bool:
    """Tell whether a value stands for the number of a knob.

    Examples
    --------
    >>> is_hole({"$": "link.length", "times": 5000}), is_hole({"model": "none"})
    (True, False)
    """
    return isinstance(value, dict) and "$" in value


def _is_object(value: Any) -> bool:
    return isinstance(value, dict) and not is_hole(value)
