"""How sure figures are: percentiles, intervals and ratios."""

from typing import Final

CONFIDENCE: Final = 0.95
"""Two-sided confidence of every interval in tables and verdicts."""
