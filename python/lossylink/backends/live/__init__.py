"""Experiments on the live lab, under the kernel's own TCP."""
