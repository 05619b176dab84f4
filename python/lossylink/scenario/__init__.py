"""Scenarios: what a user writes, checked and turned into what the simulator reads."""
