"""What a measurement says: in lines for the screen, and as a directory that `lossylink run` takes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from lossylink._package.holding import MANIFEST
from lossylink._package.manifest import manifest
from lossylink.declared.job import Progress
from lossylink.measuring.exchange import Direction
from lossylink.measuring.fit import Fit, counted, figures, fit
from lossylink.measuring.ratios import by_runs
from lossylink.results.directory import write_json
from lossylink.scenario.loss import Loss
from lossylink.statistics.estimates import Estimate, binomial_interval

MOST_DROPPED_SHARE: Final = 0.01
"""Share of the missing probes that the two boxes may have dropped before the run is invalid."""

FIGURES = "measurement.json"
#: Runs of losses that a line shows.
_SHOWN_RUNS = 6
#: Frames of the scenario: a hundred losses or more, unless that takes long.
_FEWEST_FRAMES, _MOST_FRAMES, _LOSSES = 1_000_000, 100_000_000, 1000


@dataclass(frozen=True)
class Finding:
    """One direction of a link, and what is known of its losses."""

    key: str
    """``forward`` or ``reverse``, as in a scenario."""
    title: str
    """The direction in words."""
    fit: Fit
    unit: str = "probes"
    direction: Direction | None = None
    """The frames one by one, where they were recorded."""
    notes: tuple[str, ...] = ()
    """What the source of the counts cannot tell, and what was left out, in sentences."""
    lost_word: str = "lost"
    """What became of the frames that count as lost, such as ``sent again``."""

    @classmethod
    def of(
        cls,
        key: str,
        title: str,
        direction: Direction,
        *,
        unit: str = "probes",
        report: Progress | None = None,
    ) -> Finding:
        """Fit a loss model to a direction; what the boxes dropped is not counted as the link's.

        Ctrl-C ends the fit, not the measurement.
        """
        record = direction.record
        try:
            found = fit(record, report=report)
        except KeyboardInterrupt:
            stopped = "the fit was stopped; taken as independent"
            plain = counted(frames=record.frames, losses=record.losses, verdict=stopped)
            found = replace(plain, ratio=by_runs(record))
        if direction.dropped:
            found = _without(found, direction.dropped)
        return cls(key, title, found, unit, direction)

    @property
    def is_valid(self) -> bool:
        """Whether nearly all that is missing was lost on the link."""
        if self.direction is None:
            return True
        return self.direction.dropped <= MOST_DROPPED_SHARE * self.direction.record.losses

    def lines(self) -> Iterator[str]:
        """Yield what is known in words."""
        found, ratio = self.fit, self.fit.ratio
        share = f"{ratio.value:.4g} (95 % interval {ratio.low:.3g} to {ratio.high:.3g})"
        if not found.losses:
            share = f"less than {ratio.high:.3g} with 95 % confidence"
        counts = f"{found.frames:,} {self.unit}, {found.losses:,} {self.lost_word}: {share}"
        yield f"{self.title}: {counts if found.frames else found.loss.describe()}"
        if self.direction is not None:
            told = self.direction
            yield (
                f"  {told.duplicated} came twice, {told.reordered} late, {told.altered} altered; "
                f"{told.dropped} dropped in the boxes"
            )
            if not self.is_valid:
                yield "  INVALID: the boxes dropped too many of them; lower --rate and measure again"
            runs = [f"{length} x {count:,}" for length, count in told.record.run_counts().items()]
            more = ", ..." if len(runs) > _SHOWN_RUNS else ""
            if runs:
                yield f"  runs of losses, frames x times: {', '.join(runs[:_SHOWN_RUNS])}{more}"
        yield f"  {found.verdict}"
        for note in self.notes:
            yield f"  note: {note}"
        if found.ratio.value and not self.is_replayed:
            yield f"  loss: {found.loss.spelling}"

    def figures(self) -> dict[str, Any]:
        """Return what is known as JSON."""
        told: dict[str, Any] = {"direction": self.title, **figures(self.fit), "is_valid": self.is_valid}
        told["notes"] = list(self.notes)
        if self.direction is not None:
            one = self.direction
            told |= {
                "duplicated": one.duplicated,
                "reordered": one.reordered,
                "altered": one.altered,
                "dropped_in_boxes": one.dropped,
                "run_frames": one.record.run_counts(),
                "gap_frames": one.record.gap_frames(),
                "trace": self.trace_name,
            }
        if self.is_replayed:
            told["loss"] = f"trace:{self.trace_name}"
        return told

    @property
    def is_replayed(self) -> bool:
        """Whether only the record itself will do, and there is one."""
        return self.fit.is_rejected and self.direction is not None

    def replayed(self, path: Path) -> Loss:
        """Return the record, which is in a file, as a loss."""
        assert self.direction is not None
        return Loss(f"trace:{path}", {"model": "trace", "lost": self.direction.record.lost.tolist()})

    @property
    def trace_name(self) -> str:
        """The file of the frames one by one, beside the scenario."""
        return f"{self.key}.trace"


def _without(found: Fit, dropped: int) -> Fit:
    """Return a fit whose ratio leaves out what the boxes dropped; its upper end is as if they had not.

    The lower end is as far below the ratio, as a share, as that of all losses is below theirs.
    """
    losses = max(0, found.losses - dropped)
    alone = binomial_interval(losses, found.frames)
    low = min(alone.low, found.ratio.low * losses / found.losses) if losses else 0.0
    ratio = Estimate(losses / found.frames, low, found.ratio.high)
    if losses == 0:
        return replace(counted(frames=found.frames, losses=0, verdict=""), ratio=ratio)
    return replace(found, losses=losses, ratio=ratio)


def scenario_text(findings: Sequence[Finding], *, rate_bps: int, frame_bytes: int, title: str) -> str:
    """Return a scenario that `lossylink run` takes.

    Examples
    --------
    >>> from lossylink.measuring.fit import counted
    >>> found = Finding("forward", "to the peer", counted(frames=10**6, losses=100, verdict="by counters"))
    >>> print(scenario_text([found], rate_bps=10**9, frame_bytes=1514, title="eth2"))
    # Measured by lossylink: the loss and the rate are the link's, the rest is an example.
    experiment = "stress"
    title = "eth2"
    protection = ["none"]
    <BLANKLINE>
    [link]
    rate = "1Gbps"
    <BLANKLINE>
    [loss]
    # to the peer: 100 of 1,000,000 lost, 8.14e-05 to 0.000122
    forward = "0.0001"
    reverse = "none"
    <BLANKLINE>
    [traffic]
    packets = 10000000
    frame = 1514
    <BLANKLINE>
    """
    text = [
        "# Measured by lossylink: the loss and the rate are the link's, the rest is an example.",
        'experiment = "stress"',
        f"title = {json.dumps(title)}",
        'protection = ["none"]',
        "",
        "[link]",
        f'rate = "{rate_bps / 1e9:g}Gbps"',
        "",
        "[loss]",
    ]
    known = {finding.key: finding for finding in findings}
    for key in ("forward", "reverse"):
        finding = known.get(key)
        if finding is None:
            text.append(f'{key} = "none"')
            continue
        found = finding.fit
        interval = f"{found.ratio.low:.3g} to {found.ratio.high:.3g}"
        counts = f"{found.losses:,} of {found.frames:,} {finding.lost_word}, {interval}"
        text.append(f"# {json.dumps(finding.title)[1:-1]}: {counts if found.frames else found.verdict}")
        text += [f"# note: {json.dumps(note)[1:-1]}" for note in finding.notes]
        if finding.is_replayed:
            text.append(f"# {found.decision.kind}: the losses as they were recorded, for no model fits")
            text.append(f'{key} = "trace:{finding.trace_name}"')
            continue
        if finding.direction is not None and found.losses:
            text.append(f'# as it was recorded: {key} = "trace:{finding.trace_name}"')
        text.append(f'{key} = "{found.loss.spelling}"')
    ratios = [finding.fit.ratio.value for finding in findings if finding.fit.ratio.value]
    frames = min(_MOST_FRAMES, max(_FEWEST_FRAMES, int(_LOSSES / min(ratios)) if ratios else 0))
    text += ["", "[traffic]", f"packets = {frames}", f"frame = {frame_bytes}"]
    return "\n".join(text) + "\n"


def write(folder: Path, findings: Sequence[Finding], *, scenario: str, told: dict[str, Any]) -> None:
    """Write the scenario, the traces, the figures and the manifest."""
    (folder / "scenario.toml").write_text(scenario, encoding="utf-8")
    for finding in findings:
        if finding.direction is not None:
            trace = f"# {finding.title}: 0 arrived, 1 was lost\n{finding.direction.record.trace()}"
            (folder / finding.trace_name).write_text(trace, encoding="utf-8")
    directions = {finding.key: finding.figures() for finding in findings}
    write_json(folder / FIGURES, told | {"directions": directions})
    write_json(folder / MANIFEST, manifest(seed=0))
