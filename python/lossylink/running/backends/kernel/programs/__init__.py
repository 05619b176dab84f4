"""Programs that run inside a guest, on the standard library alone: a guest loads a file at a time."""
