"""From a real link to a scenario: probes and counters, the losses that they tell, a directory to run."""
