"""TCP under random loss against the inverse-square-root law."""

from lossylink.reproduce.experiments.mathis.experiment import EXPERIMENT

__all__ = ["EXPERIMENT"]
