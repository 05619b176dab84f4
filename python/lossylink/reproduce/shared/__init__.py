"""Measures, tables, claims and charts that several published experiments share."""
