"""Figures for papers, drawn with matplotlib; every function returns its figure."""

from lossylink.experiments.mathis.figures import figure3 as mathis_figure3
from lossylink.experiments.mathis.figures import figure4 as mathis_figure4
from lossylink.plot.buffers import buffers
from lossylink.plot.ccdf import ccdf, completion_samples
from lossylink.plot.fec import fec_throughput, fec_trace
from lossylink.plot.link_speed import link_speed
from lossylink.plot.protections import protections_speed, retry_map
from lossylink.plot.save import save
from lossylink.plot.timeline import timeline

__all__ = [
    "buffers",
    "ccdf",
    "completion_samples",
    "fec_throughput",
    "fec_trace",
    "link_speed",
    "mathis_figure3",
    "mathis_figure4",
    "protections_speed",
    "retry_map",
    "save",
    "timeline",
]
