"""A reproduction: which experiments are run, and how their verdicts are told, printed and written."""
