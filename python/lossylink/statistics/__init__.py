"""How sure figures are: percentiles, intervals and ratios."""
