"""Forward error correction on a 10G link as Wharf evaluated it: one TCP flow of 10 s, 25 times a point."""

from lossylink.reproduce.experiments.fec.experiment import EXPERIMENT

__all__ = ["EXPERIMENT"]
