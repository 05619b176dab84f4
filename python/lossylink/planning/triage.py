"""Many links at once: leave, protect or drain each, by closed forms, the most harmful first.

The harm of a link is the number of flows that lose at least one frame, a second, at its load. It says how
many users notice, whatever their transport then does. Flows of F octets that fill a share u of a rate R begin
u R / 8 F times a second. A flow of n frames is hit with the chance that not all of them arrive: 1 - (1 - p)^n
for independent losses, and along the chain for bursts.

A verdict rests on the interval of what was counted. It is "not testable" where the interval has the target
inside, and where no loss was seen among too few frames. Zero counted losses never ask for a protection.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from lossylink.declared.protections import keeps_order
from lossylink.errors import UserError
from lossylink.planning.families import outlines
from lossylink.planning.line import LineLosses
from lossylink.planning.link import Link
from lossylink.planning.links_file import Counts, LinkRow
from lossylink.planning.prediction import Outline
from lossylink.scenario.loss import Loss, parse_loss
from lossylink.statistics.estimates import Estimate, binomial_interval, zero_events_upper_bound
from lossylink.theory import codewords
from lossylink.units import CHECK_BYTES

LEAVE: Final = "leave"
PROTECT: Final = "protect"
DRAIN: Final = "drain"
NOT_TESTABLE: Final = "not testable"
Action = Literal["leave", "protect", "drain", "not testable"]

HEADERS_BYTES: Final = 54
"""Of a frame: Ethernet, IP and TCP; RDMA's are as many but for four."""

_SECONDS_PER_DAY: Final = 86_400
#: Digits of a counted loss that a plan needs; with two, links that lose alike share a plan.
_DIGITS: Final = 2


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What to do about a link, and why."""

    name: str
    line: int
    """Of the file."""
    action: Action
    protection: str | None
    """The one to take, with its parameters."""
    reason: str
    """Why, in a sentence."""
    loss: Estimate | None
    """Share of frames lost, with its interval at 95 % where it was counted."""
    harm: Estimate | None
    """Flows that lose a frame, a second."""
    harm_after: float | None
    """The most of them that are left with the protection."""
    speed_gbps: float | None
    """What a busy link delivers with it."""
    command: str
    """``lossylink plan`` for this link alone."""

    def row(self) -> dict[str, Any]:
        """Plain values."""
        loss, harm = self.loss, self.harm
        return {
            "name": self.name,
            "line": self.line,
            "action": self.action,
            "protection": self.protection,
            "loss_ratio": loss.value if loss else None,
            "loss_low": loss.low if loss else None,
            "loss_high": loss.high if loss else None,
            "harm_flows_per_s": harm.value if harm else None,
            "harm_low": harm.low if harm else None,
            "harm_high": harm.high if harm else None,
            "harm_after_flows_per_s": self.harm_after,
            "effective_speed_gbps": self.speed_gbps,
            "reason": self.reason,
            "command": self.command,
        }


def ranked(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return verdicts by their harm, the most first; those without an estimate by the most that it may be."""
    return sorted(verdicts, key=lambda one: (-one.harm.value, -one.harm.high) if one.harm else (1.0, 0.0))


def triage(rows: Sequence[LinkRow], *, target: float, keep: float, switch: str) -> Iterator[Verdict]:
    """Yield a verdict for each link; equal links share one plan.

    Parameters
    ----------
    rows
        The links.
    target
        Effective loss ratio that a link may have.
    keep
        Share of its rate that a protected link has to deliver; one that cannot is drained.
    switch
        Profile of the switches at the ends.

    Raises
    ------
    UserError
        A link cannot be planned for: its line is named.
    """
    if not 0 < target < 1:
        raise UserError(f"a target of {target:g} is not a loss ratio between 0 and 1")
    plans: dict[tuple[Any, ...], list[Outline]] = {}
    for row in rows:
        try:
            yield _Triage(row, target, keep, switch, plans).verdict()
        except ValueError as error:
            raise UserError(f"line {row.line}, {row.name}: {error}") from None


class _Triage:
    """One link on its way to a verdict."""

    def __init__(
        self,
        row: LinkRow,
        target: float,
        keep: float,
        switch: str,
        plans: dict[tuple[Any, ...], list[Outline]],
    ) -> None:
        self._row, self._target, self._keep, self._switch, self._plans = row, target, keep, switch, plans
        self._loss, self._counts = _loss_of(row), row.counts

    def verdict(self) -> Verdict:
        """Decide."""
        loss, counts = self._loss, self._counts
        if loss is None:
            return self._said(NOT_TESTABLE, "nothing was counted, and no loss is given")
        if loss.high <= self._target:
            return self._said(LEAVE, self._meets(loss, counts))
        if counts is not None and counts.lost == 0:
            return self._said(NOT_TESTABLE, self._none_seen(loss, counts))
        if counts is not None and loss.low <= self._target:
            words = f"the interval of the loss, {_range(loss)}, has the target inside; count for longer"
            return self._said(NOT_TESTABLE, words)
        if loss.low >= 1:
            return self._said(DRAIN, "nothing arrives")
        return self._with_protection(loss)

    def _meets(self, loss: Estimate, counts: Counts | None) -> str:
        if counts is None:
            return f"a loss of {loss.value:.3g} meets the target"
        if counts.lost == 0:
            return f"none seen of {_of(counts)}: the loss is below {loss.high:.2g}, which meets the target"
        return f"{_of(counts, seen=True)}: the loss is {_range(loss)}, which meets the target"

    def _none_seen(self, loss: Estimate, counts: Counts) -> str:
        """Why no loss among so many frames says nothing of the target, and how many would."""
        row, needed = self._row, -math.log(0.05) / self._target
        if counts.are_codewords:
            per_frame = codewords.frame_loss_ratio(self._target, **self._framing()) / self._target
            needed *= per_frame
            per_second = codewords.codewords_in(1, rate_bps=row.rate_bps)
            unit = "codewords"
        else:
            per_second, unit = row.load * row.rate_bps / (8 * self._bare_link().wire_bytes), "frames"
        time = _time(needed / per_second)
        return (
            f"none seen of {_of(counts)}, which shows a loss below {loss.high:.2g}; {needed:.1e} {unit} "
            f"without one would show the target, {time} at its load"
        )

    def _with_protection(self, loss: Estimate) -> Verdict:
        link = self._link(loss.high)
        outlines = [one for one in self._planned(link) if one.loss_ratio <= self._target * (1 + 1e-9)]
        for_rdma = self._row.transport == "rdma"
        fitting = [one for one in outlines if keeps_order(one.protection)] if for_rdma else outlines
        if not fitting:
            best = min(self._planned(link), key=lambda one: one.loss_ratio)
            words = (
                f"no protection reaches the target; the best leaves {best.loss_ratio:.2g} ({best.protection})"
            )
            return self._said(DRAIN, words)
        chosen = max(fitting, key=lambda one: one.speed_gbps)
        share = chosen.speed_gbps * 1e9 / self._row.rate_bps
        left = f"leaves {share:.1%} of the line"
        if share < self._keep:
            return self._said(DRAIN, f"{chosen.protection} {left}, and {self._keep:.0%} have to stay")
        why = "that keep the order, as RDMA needs" if for_rdma else "that reach the target"
        words = f"{left} and a loss of {chosen.loss_ratio:.1e}: the fastest of those {why}"
        late = "" if keeps_order(chosen.protection) else "; it delivers out of order"
        return self._said(PROTECT, words + late, chosen)

    def _planned(self, link: Link) -> list[Outline]:
        """What closed forms say of each protection on a link; links that lose alike are planned once."""
        native = link.native_loss
        key = (link.rate_bps, link.propagation_ps, link.frame_bytes, repr(sorted(native.items())))
        if key not in self._plans:
            self._plans[key] = list(outlines(link, target=self._target))
        return self._plans[key]

    def _said(self, action: Action, reason: str, chosen: Outline | None = None) -> Verdict:
        row, loss = self._row, self._loss
        harm = None
        if loss is not None:
            harm = Estimate(*(self._harm(ratio) for ratio in (loss.value, loss.low, loss.high)))
        return Verdict(
            name=row.name,
            line=row.line,
            action=action,
            protection=chosen.protection if chosen else None,
            reason=reason,
            loss=loss,
            harm=harm,
            harm_after=self._harm(chosen.loss_ratio, is_independent=True) if chosen else None,
            speed_gbps=chosen.speed_gbps if chosen else None,
            command=self._command(loss),
        )

    def _harm(self, ratio: float, *, is_independent: bool = False) -> float:
        """Return the flows that lose a frame, a second; losses apart hit the most flows."""
        row = self._row
        frames = math.ceil(row.flow_bytes / max(1, row.frame_bytes - HEADERS_BYTES))
        flows_per_s = row.load * row.rate_bps / (8 * row.flow_bytes)
        if ratio <= 0 or ratio >= 1:
            return flows_per_s if ratio >= 1 else 0.0
        chain = None if is_independent else self._link(ratio, rounded=False).chain
        if chain is None:
            return flows_per_s * -math.expm1(frames * math.log1p(-ratio))
        survive = np.linalg.matrix_power(np.diag(1 - chain.loss) @ chain.step, frames)
        return flows_per_s * (1 - float(chain.stationary @ survive.sum(axis=1)))

    def _link(self, ratio: float, *, rounded: bool = True) -> Link:
        """Return the link with a loss of this ratio: as its row says it, or as its counters bunch it."""
        row, counts = self._row, self._counts
        if row.loss is not None:
            return self._bare_link(row.loss)
        ratio = min(0.99, _rounded_up(ratio) if rounded else ratio)
        if counts is not None and counts.are_codewords:
            burst = codewords.frames_lost_together(**self._framing())
            mean_run = max(burst, 1 / (1 - ratio))
            return self._bare_link(parse_loss(f"gilbert-elliott:mean={ratio!r},burst={mean_run!r}"))
        return self._bare_link(parse_loss(f"{ratio!r}"))

    def _bare_link(self, loss: Loss | None = None) -> Link:
        row = self._row
        return Link.losing(
            loss if loss is not None else parse_loss("0.5"),
            rate_bps=row.rate_bps,
            propagation_ps=row.propagation_ps,
            frame_bytes=row.frame_bytes,
            switch=self._switch,
        )

    def _framing(self) -> dict[str, Any]:
        return {"frame_bytes": self._row.frame_bytes + CHECK_BYTES, "rate_bps": self._row.rate_bps}

    def _command(self, loss: Estimate | None) -> str:
        row = self._row
        words = ["lossylink", "plan", "--link", f"{row.rate_bps / 1e9:g}Gbps"]
        words += ["--propagation", f"{row.propagation_ps / 1e3:g}ns"] if row.propagation_ps else []
        if loss is not None and 0 < loss.high < 1:
            link = self._link(loss.high)
            words += ["--loss", link.loss.spelling if link.loss is not None else f"{loss.high:g}"]
        words += ["--target", f"{self._target:g}", "--frame", f"{row.frame_bytes}B"]
        words += ["--transport", row.transport] if row.transport else []
        return shlex.join(words)


def _loss_of(row: LinkRow) -> Estimate | None:
    """Return the share of frames that a link loses, with the interval of what was counted."""
    if row.loss is not None:
        return _given(row, row.loss)
    counts = row.counts
    if counts is None:
        return None
    if counts.lost:
        found = binomial_interval(counts.lost, counts.of)
    else:
        found = Estimate(0.0, 0.0, min(1.0, zero_events_upper_bound(counts.of)))
    if not counts.are_codewords:
        return found
    framing = {"frame_bytes": row.frame_bytes + CHECK_BYTES, "rate_bps": row.rate_bps}
    return Estimate(
        *(codewords.frame_loss_ratio(one, **framing) for one in (found.value, found.low, found.high))
    )


def _given(row: LinkRow, loss: Loss) -> Estimate:
    mean = loss.mean
    if loss.native["model"] == "phy":
        # Such a loss may be too small for any plan, and even for a float.
        return Estimate.exact(
            LineLosses.of(loss.native_at(row.rate_bps)).ratio(row.frame_bytes + CHECK_BYTES)
        )
    if mean is None or 0 < mean < 1:
        link = Link.losing(
            loss, rate_bps=row.rate_bps, propagation_ps=row.propagation_ps, frame_bytes=row.frame_bytes
        )
        mean = link.loss_ratio
    return Estimate.exact(mean)


def _rounded_up(ratio: float) -> float:
    """Return a ratio with few digits, none below it.

    Examples
    --------
    >>> _rounded_up(1.01e-5), _rounded_up(0.025)
    (1.1e-05, 0.025)
    """
    digits = _DIGITS - 1 - math.floor(math.log10(ratio))
    near = round(ratio, digits)
    return near if near >= ratio * (1 - 1e-12) else round(near + 10.0**-digits, digits)


def _range(loss: Estimate) -> str:
    return f"{loss.low:.2g} to {loss.high:.2g}"


def _of(counts: Counts, *, seen: bool = False) -> str:
    unit = "codewords" if counts.are_codewords else "frames"
    return f"{counts.lost:,} of {counts.of:,} {unit}" if seen else f"{counts.of:,} {unit}"


def _time(seconds: float) -> str:
    for unit, length in (("days", _SECONDS_PER_DAY), ("hours", 3_600), ("minutes", 60)):
        if seconds >= length:
            return f"{seconds / length:.2g} {unit}"
    return f"{seconds:.2g} seconds"
