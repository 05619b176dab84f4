"""LinkGuardian's stress test between two switches, at 100G."""

from lossylink.reproduce.experiments.stress.experiment import EXPERIMENT

__all__ = ["EXPERIMENT"]
