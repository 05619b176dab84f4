"""``lossylink measure`` and ``lossylink fit``."""
