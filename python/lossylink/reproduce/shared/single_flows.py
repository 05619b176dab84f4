"""What experiments on completion times share: one link under each protection, and the same without loss."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lossylink._package.published import Published
from lossylink.charts.chart import Chart
from lossylink.reproduce.framework.comparison import ComparisonTable
from lossylink.reproduce.framework.model import Claim, Finished, Insight, Job, PublishedExperiment, Scale
from lossylink.reproduce.shared.charts import completion_chart
from lossylink.reproduce.shared.completion import completion_table, percentiles_by_protection
from lossylink.reproduce.shared.declaring import declared
from lossylink.reproduce.shared.insights import tail_insight
from lossylink.reproduce.shared.measures import Source
from lossylink.scenario.route import ARTIFACT_ROUTE

REQUESTED_LOSS = 1048 / 2**20
"""0.001 as the artifact's 20-bit draw realises it."""
LOSSY_JOB = "loss 1e-3"
LOSS_FREE_JOB = "no loss"
PROTECTIONS = ("none", "lg", "lg-nb")


def samples_of(protections: tuple[str, ...]) -> dict[str, Source]:
    """The run without loss, and each protection on the link that loses, by its name in tables and charts."""
    return {"loss-free": (LOSS_FREE_JOB, "none"), **{name: (LOSSY_JOB, name) for name in protections}}


SAMPLES: Mapping[str, Source] = samples_of(PROTECTIONS)


def single_flow_jobs(
    experiment: str,
    settings: Mapping[str, Any],
    *,
    weight: float,
    protections: tuple[str, ...] = PROTECTIONS,
    grows: str = "flow.trials",
) -> tuple[Job, Job]:
    """Every protection on the link that loses, none on the one that does not.

    ``weight`` is in seconds; ``grows`` is raised where a claim needs more flows.
    """
    loss_free = {**settings, "loss.forward": "0%"}
    return (
        Job(LOSSY_JOB, experiment, protections, settings, weight, grows=grows),
        Job(LOSS_FREE_JOB, experiment, ("none",), loss_free, weight, grows=grows),
    )


@dataclass(frozen=True, kw_only=True)
class View:
    """A table and a chart of the completion times of some samples."""

    chart: str
    """The identifier of the chart."""
    chart_title: str
    table_title: str
    note: str = ""
    samples: Mapping[str, Source]
    published: str = ""
    """The table of LinkGuardian's that stands beside ours, if there is one."""

    def _published(self, published: Published) -> Published | None:
        return published["linkguardian"][self.published] if self.published else None

    def table(self, finished: Finished, published: Published) -> ComparisonTable:
        """The table."""
        reference = self._published(published)
        return completion_table(finished, self.samples, reference, title=self.table_title, note=self.note)

    def charts(self, finished: Finished, published: Published) -> tuple[Chart, ...]:
        """The complementary distribution of the samples; nothing where none was run."""
        reference = self._published(published)
        return completion_chart(
            finished,
            self.samples,
            identifier=self.chart,
            title=self.chart_title,
            published=None if reference is None else percentiles_by_protection(reference),
        )


def single_flows(
    name: str,
    *views: View,
    jobs: Callable[[Scale], tuple[Job, ...]],
    own: Mapping[str, Any] | None = None,
    also: Callable[[Published], Iterable[Claim]] = lambda _published: (),
    flows: str = "",
    rank: int = 0,
) -> PublishedExperiment:
    """An experiment on completion times.

    Parameters
    ----------
    views
        Its tables and charts, in their order.
    own, also
        As for `declared`.
    flows
        What the sentence about the tail calls the flows; without it there is none.
    rank
        That of the sentence.
    """

    def insights(finished: Finished) -> tuple[Insight, ...]:
        return (tail_insight(finished, SAMPLES, flows, rank=rank),) if flows else ()

    return PublishedExperiment(
        **declared(name, own, also=also),
        jobs=jobs,
        tables=lambda finished, published: tuple(view.table(finished, published) for view in views),
        charts=lambda finished, published: tuple(
            chart for view in views for chart in view.charts(finished, published)
        ),
        insights=insights,
        route=ARTIFACT_ROUTE,
    )
