"""Figures for papers, drawn with matplotlib; every function returns its figure."""
