"""The published experiments, run again and held against the publication."""

from lossylink.reproduce.orchestrate import reproduce
from lossylink.reproduce.result import ReproduceResult

__all__ = ["ReproduceResult", "reproduce"]
