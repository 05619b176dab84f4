"""The published figures, where experiments of `reproduce` look for them."""

from lossylink._package.published import Published, by_protection, load, lookup

__all__ = ["Published", "by_protection", "load", "lookup"]
