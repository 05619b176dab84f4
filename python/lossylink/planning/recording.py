"""What a recording says beyond its length: the loss model that fits it, if one does.

A recording shows a loss as rare as its frames are many, and nothing below. What is said of less rests on a
model, and is an extrapolation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lossylink.planning.link import Link
from lossylink.scenario.loss import parse_loss

if TYPE_CHECKING:
    from lossylink.measuring.fit import Fit


@dataclass(frozen=True)
class Model:
    """A loss model that fits a recording, or why there is none."""

    link: Link | None
    """The link that loses as the model does, at the upper end of the recorded loss; nothing if none fits."""
    words: str
    """The model in words, or what speaks against one."""
    spelling: str | None = None
    """The model as ``--loss`` takes it, with the loss of the recording."""

    @property
    def row(self) -> dict[str, str | float | None]:
        """Plain values."""
        return {
            "loss": self.spelling,
            "loss_ratio_high": self.link.loss_ratio if self.link else None,
            "words": self.words,
        }


def model_of(link: Link, *, report: Callable[[float, float], None] | None = None) -> Model:
    """Fit a model to the recording of a link, or say why that cannot be.

    Parameters
    ----------
    link
        One whose losses are a recording or a list. A list is no sample of anything: it has no model.
    report
        Called with the work done and the whole work.
    """
    from lossylink.measuring.fit import FEWEST_RUNS, Kind, fit  # a plan without a recording does without
    from lossylink.measuring.record import Record

    if link.native_loss["model"] != "trace":
        return Model(None, "a list of frames is no sample, so that no model can be fitted")
    found = fit(Record.of(link.native_loss["lost"]), report=report)
    if found.decision.kind is Kind.UNTOLD:
        return Model(None, f"fewer than {FEWEST_RUNS} runs of losses are too few to fit a model")
    if found.is_rejected:
        return Model(None, f"no model fits: the losses are {found.decision.kind}")
    return Model(_modelled(link, found), f"losses {_KINDS[found.decision.kind]}", found.loss.spelling)


_KINDS = {"independent": "that are independent", "bursty": "in bursts", "kept apart": "that keep apart"}


def _modelled(link: Link, found: Fit) -> Link:
    """The link with the model, at the upper end of the loss that the recording allows."""
    whole = replace(link, loss_ratio=found.ratio.value, loss=parse_loss(found.loss.spelling))
    return whole.at(min(found.ratio.high, _MOST)) if found.ratio.value < _MOST else whole


#: A loss beyond this is nearly all; what a bound on it allows beyond that says nothing.
_MOST = 0.999
