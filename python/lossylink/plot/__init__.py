"""Figures for papers, drawn with matplotlib; every function returns its figure."""

from lossylink.plot.buffers import buffers
from lossylink.plot.ccdf import ccdf, completion_samples
from lossylink.plot.fec import fec_throughput
from lossylink.plot.link_speed import link_speed
from lossylink.plot.mathis import mathis_figure3, mathis_figure4
from lossylink.plot.save import save
from lossylink.plot.timeline import timeline

__all__ = [
    "buffers",
    "ccdf",
    "completion_samples",
    "fec_throughput",
    "link_speed",
    "mathis_figure3",
    "mathis_figure4",
    "save",
    "timeline",
]
