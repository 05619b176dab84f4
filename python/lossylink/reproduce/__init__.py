"""The published experiments, run again and held against the publication."""

from lossylink.reproduce.framework.orchestrate import reproduce
from lossylink.reproduce.framework.result import ReproduceResult

__all__ = ["ReproduceResult", "reproduce"]
