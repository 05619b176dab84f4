"""The published experiments, run again and held against the publication."""
