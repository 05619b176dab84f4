"""Charts on paper, by matplotlib, and as files; import it where something is drawn: it loads slowly."""

from lossylink.charts.drawing.figure import draw, draw_sheet
from lossylink.charts.drawing.save import save

__all__ = ["draw", "draw_sheet", "save"]
