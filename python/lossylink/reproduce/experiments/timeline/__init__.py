"""LinkGuardian switched on under a flow whose link starts to corrupt."""

from lossylink.reproduce.experiments.timeline.experiment import EXPERIMENT

__all__ = ["EXPERIMENT"]
