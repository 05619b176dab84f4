"""How options and arguments are declared, read, explained and completed."""
