"""Figures as data: a `Chart` is drawn in a browser by a report, on paper by `lossylink.charts.drawing`."""
