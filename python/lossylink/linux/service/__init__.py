"""A guard that runs for months: its configuration file and unit, its manager, its metrics."""
