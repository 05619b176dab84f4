"""The protections of a link beside each other, from 100G to 800G, and where go-back-N is fast enough."""

from lossylink.reproduce.experiments.protections.experiment import EXPERIMENT

__all__ = ["EXPERIMENT"]
