"""The published experiments, run again and held against the publication."""

from lossylink.reproduce.framework.result import ReproduceResult
from lossylink.reproduce.reproduction.orchestrate import reproduce

__all__ = ["ReproduceResult", "reproduce"]
