"""The published experiments: a module or a package each, with an ``EXPERIMENT``; the registry finds them."""
