"""The cliff of a line's code: what users see while bit errors grow, by code and by protection."""

from lossylink.reproduce.experiments.cliff.experiment import EXPERIMENT

__all__ = ["EXPERIMENT"]
