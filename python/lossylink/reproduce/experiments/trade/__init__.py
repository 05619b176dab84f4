"""The low-latency code with link-level retry in place of KP4: where each design wins."""

from lossylink.reproduce.experiments.trade.experiment import EXPERIMENT

__all__ = ["EXPERIMENT"]
