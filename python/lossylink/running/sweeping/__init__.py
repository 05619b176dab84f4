"""A grid of settings, run by any executor; what has ended is on the disk, so a sweep can go on."""

from lossylink.running.sweeping.grid import parse_grid
from lossylink.running.sweeping.result import Sweep, read_sweep, save_figure
from lossylink.running.sweeping.running import sweep

__all__ = ["Sweep", "parse_grid", "read_sweep", "save_figure", "sweep"]
