"""The data plane as a process of its own: ``python -m lossylink.live CONFIGURATION``."""
