"""``lossylink guard``, ``wire`` and ``restore``."""
