"""Figures of the cliffs: a panel a line, which the figure kind ``cliff`` draws of any sweep as well."""

from __future__ import annotations

from lossylink.charts.chart import Chart
from lossylink.charts.kinds.cliff import charts_of
from lossylink.charts.samples import samples_of
from lossylink.reproduce.experiments.cliff.jobs import EXPERIMENTS, LINES, LOSS_RATES, key
from lossylink.reproduce.framework.model import Finished, Published

LEAST_POINTS = 2


def charts(finished: Finished, _published: Published) -> tuple[Chart, ...]:
    """Completion times of TCP and RDMA, then the speed and what stays lost."""
    found: list[Chart] = []
    for name in EXPERIMENTS:
        keys = [key(name, line, loss) for line in LINES for loss in LOSS_RATES]
        runs = [(one, finished.runs[one]) for one in keys if one in finished.runs]
        if len(runs) >= LEAST_POINTS:
            found += charts_of(samples_of(runs))
    return tuple(found)
