"""What to do about measured losses: the plan for a direction of a link, in a sentence."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lossylink.errors import UserError
from lossylink.measuring.outcome import Finding
from lossylink.planning.link import Link
from lossylink.planning.planner import plan
from lossylink.statistics.estimates import zero_events_upper_bound

TARGET: Final = 1e-8
"""Effective loss of a healthy link, for which the plan is made."""


@dataclass(frozen=True)
class Advice:
    """The plan for a direction: the command, and what it says first."""

    command: str | None
    """Nothing where no loss was seen, for which there is nothing to plan."""
    sentence: str
    note: str | None = None
    """On what the plan rests, where that is more than what was seen."""


def advise(finding: Finding, *, rate_bps: int, frame_bytes: int, folder: Path) -> Advice:
    """Plan for the losses of a direction: for the model, or for the record in ``folder`` where none fits.

    Without a loss there is no plan: a bound is no loss. The advice says how many frames would tell. Counts
    that no model explains have no record to plan for, and no advice.
    """
    found = finding.fit
    if not found.ratio.value and not found.frames:
        return Advice(None, _without_frames(found.ratio.high))
    if not found.ratio.value:
        return Advice(None, none_seen(found.frames, finding.unit))
    loss = finding.replayed(folder / finding.trace_name) if finding.is_replayed else found.loss
    words = ["--link", f"{rate_bps / 1e9:g}Gbps", "--loss", loss.spelling, "--target", f"{TARGET:g}"]
    words += ["--frame", f"{frame_bytes}B"]
    command = shlex.join(["lossylink", "plan", *words])
    if found.is_rejected and not finding.is_replayed:
        return Advice(command, "no advice: that is the mean alone, and these losses do not come so", None)
    try:
        link = Link.losing(loss, rate_bps=rate_bps, propagation_ps=0, frame_bytes=frame_bytes)
        sentence = plan(link, target=TARGET).sentence
    except UserError as error:
        sentence = str(error)
    except KeyboardInterrupt:
        sentence = "the plan was stopped; run the command for it"
    return Advice(command, sentence, None if finding.is_replayed else extrapolation(finding))


def extrapolation(finding: Finding) -> str | None:
    """Say what a plan by a model rests on; nothing where the frames themselves show as little."""
    frames = finding.fit.frames
    if not frames or zero_events_upper_bound(frames) <= TARGET:
        return None
    shown = zero_events_upper_bound(frames)
    return (
        f"by the model of the loss above: {frames:,} {finding.unit} show no loss below {shown:.1g} themselves"
    )


def _without_frames(most: float) -> str:
    """Say what no loss means where no frames were counted, but a line's gauges or a tool's words were read.

    Examples
    --------
    >>> _without_frames(0.0), _without_frames(2.5e-9)
    ('nothing is lost: there is nothing to plan for', 'no loss was told: at most 2.5e-09 at 95 %')
    """
    if most >= 1:
        return "how many frames are lost is not told: no advice"
    if most:
        return f"no loss was told: at most {most:.3g} at 95 %"
    return "nothing is lost: there is nothing to plan for"


def none_seen(frames: int, unit: str) -> str:
    """Say what no loss in so many frames means, and how many would tell the loss of a healthy link.

    Examples
    --------
    >>> none_seen(20_000, "probes")
    'none seen: at most 0.00015 at 95 % (one-sided); 300 million probes without a loss would show 1e-08'
    """
    needed, bound = zero_events_upper_bound(1.0) / TARGET, zero_events_upper_bound(frames)
    if bound <= TARGET:
        return f"none seen: at most {bound:.3g} at 95 % (one-sided), the loss of a healthy link: leave it"
    enough = f"{needed / 1e6:.3g} million {unit} without a loss would show {TARGET:g}"
    return f"none seen: at most {min(1.0, bound):.3g} at 95 % (one-sided); {enough}"
