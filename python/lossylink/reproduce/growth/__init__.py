"""More work for claims that the published amount leaves open, inside a budget of time."""
