"""Experiments that are more than one simulation for each protection."""
