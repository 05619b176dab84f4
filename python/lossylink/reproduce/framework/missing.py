"""What a claim, a table or a chart raises for a run that is not there: apart, for all need it."""

from __future__ import annotations


class NotRunError(Exception):
    """A claim or a table asks for a run that is not finished."""
