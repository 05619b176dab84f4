"""Carries scenarios out: backends, one run, and sweeps of many."""
