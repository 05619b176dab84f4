"""The two losses of a figure: what the link loses by itself, and what a protection leaves of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lossylink.charts.chart import Axis
from lossylink.charts.samples import Sample
from lossylink.errors import UserError
from lossylink.scenario.loss import is_independent, parse_loss
from lossylink.theory.bursts import Chain

OF_LINK = Axis("loss ratio of the link, before any protection", "", "log")
"""The mean that was set for the forward direction: ``loss_rate`` of a row."""

EFFECTIVE = Axis("effective loss ratio, after the protection", "", "log")

ALONG = "loss.forward"
"""The key that runs along such an axis; losses of the way back, and bursts, make lines of their own."""

SWEEP_IT = "all runs have one loss; sweep it, as in --grid loss.forward=1e-4,1e-3"


def link_loss(sample: Sample) -> float | None:
    """Return the loss of a row's link, before any protection."""
    return sample.number("loss_rate")


def by_process(samples: Sequence[Sample]) -> list[Sample]:
    """Return the samples with a word for how losses come, so that bursts are no repetition of others."""
    return [
        replace(sample, settings={**sample.settings, "loss.process": _process(sample)}) for sample in samples
    ]


def _process(sample: Sample) -> str:
    """Say how losses come, whatever their mean: nothing for independent ones."""
    try:
        native = parse_loss(sample.settings.get(ALONG, "0")).native
    except UserError:
        return "a recording"  # that is no longer there
    if is_independent(native):
        return ""
    if native["model"] == "gilbert-elliott":
        return f"bursts of {Chain.of(dict(native)).mean_run:.3g}"
    return str(native["model"]).replace("-", " ")
