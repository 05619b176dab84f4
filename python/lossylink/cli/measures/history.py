"""``lossylink fit --fec-history``: whether a line drifts, and when it will cross a target."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lossylink._package import compressed
from lossylink.cli.measures.gauges import line_of
from lossylink.cli.measures.kept import Place, begin_of
from lossylink.errors import UserError
from lossylink.measuring.line import recognised, table
from lossylink.scenario.loss import parse_loss
from lossylink.units import CHECK_BYTES

if TYPE_CHECKING:
    from lossylink.measuring.line.drift import Drift
    from lossylink.statistics.estimates import Estimate

_DAY_S, _HOUR_S = 86_400.0, 3_600.0


@dataclass(frozen=True)
class _Told:
    """A history, the bit error ratio for the target, and when it is crossed."""

    drift: Drift
    target: float
    wanted: float
    crossing: Estimate | None

    def lines(self) -> Iterator[str]:
        """Yield what the history tells, in words."""
        drift, times = self.drift, self.drift.history.times_s
        yield f"{times.size} intervals over {_span(times[-1] - times[0])}"
        yield f"  bit error ratio before FEC at the last one: {drift.now:.4g}"
        chance = f"permutation test, p = {drift.p_value:.2g}"
        if not drift.is_change:
            yield f"  no change is told from the scatter of the readings ({chance})"
        else:
            day = [f"{one * _DAY_S:.3g}" for one in drift.growth.as_json().values()]
            yield f"  a change at {drift.change_s:.6g} s ({chance})"
            yield f"  behind it the logarithm grows by {day[0]} a day (95 % interval {day[1]} to {day[2]})"
        yield f"  target {self.target:g}: crossed at a bit error ratio of {self.wanted:.4g}"
        yield f"  {self.when()}"

    def when(self) -> str:
        """Say when the target is crossed, or why that cannot be told."""
        last = float(self.drift.history.times_s[-1])
        if self.drift.now >= self.wanted:
            return "the target is crossed already"
        if self.crossing is None:
            return "the readings do not tell when: they show no growth that is certain"
        low, high = (one - last for one in (self.crossing.low, self.crossing.high))
        middle = _span(self.crossing.value - last)
        if high == float("inf"):
            return f"the target is crossed in about {middle}, and the readings do not tell how late at most"
        return f"the target is crossed in {middle} (95 % interval {_span(max(low, 0.0))} to {_span(high)})"


def keep_history(path: Path, place: Place, *, code: str, target: float) -> None:
    """Read a history, print what it tells, and write a scenario of its last bit error ratio."""
    from lossylink.measuring.fit import Decision, Fit, Kind
    from lossylink.measuring.outcome import Finding
    from lossylink.statistics.estimates import Estimate
    from lossylink.theory.phy import frame_loss_ratio

    octets = place.frame_bytes + CHECK_BYTES
    told, line = _told(path, code=code, target=target, rate_bps=place.rate_bps, octets=octets)
    lost = frame_loss_ratio(line.code, bit_error_ratio=told.drift.now, frame_bytes=octets, **line.options())
    fit = Fit(
        frames=0,
        losses=0,
        loss=parse_loss(line.spelling(told.drift.now)),
        ratio=Estimate.exact(lost),
        decision=Decision(Kind.UNTOLD),
        verdict="the last bit error ratio of a history, which does not tell bursts",
    )
    finding = Finding("forward", f"the line of {path.name}", fit, unit="frames")
    with place.staged(begin_of("fit", path)) as stage:
        for words in told.lines():
            print(words)
        figures = {"recording": os.fspath(path), "drift": _figures(told)}
        place.keep(stage, [finding], figures, title=path.name)


def _told(path: Path, *, code: str, target: float, rate_bps: int, octets: int) -> tuple[_Told, Any]:
    from lossylink.measuring.line.drift import crossing, drift_of, history_of
    from lossylink.theory.phy import bit_error_ratio_for

    line = line_of(code, rate_bps=rate_bps)
    text = compressed.read_text(path, most_bytes=recognised.MOST_BYTES, what="the history")
    drift = drift_of(history_of(table.read_all(text, str(path)), line, rate_bps=rate_bps))
    try:
        wanted = bit_error_ratio_for(target, line.code, frame_bytes=octets, **line.options())
    except ValueError as error:
        raise UserError(f"--target {target:g}: {error}") from None
    return _Told(drift, target, wanted, crossing(drift, wanted)), line


def _figures(told: _Told) -> dict[str, Any]:
    crossed = told.crossing.as_json() if told.crossing is not None else {}
    return {
        "p_value": told.drift.p_value,
        "change_s": told.drift.change_s if told.drift.is_change else None,
        "growth_per_s": told.drift.growth.as_json(),
        "bit_error_ratio": told.drift.now,
        "target_loss_ratio": told.target,
        "target_bit_error_ratio": told.wanted,
        "crossing_s": {key: one if abs(one) < float("inf") else None for key, one in crossed.items()},
    }


def _span(seconds: float) -> str:
    """Spell a time out in the unit that suits it.

    Examples
    --------
    >>> _span(90.0), _span(7_200.0), _span(172_800.0)
    ('90 s', '2 h', '2 d')
    """
    if abs(seconds) >= _DAY_S:
        return f"{seconds / _DAY_S:.3g} d"
    return f"{seconds / _HOUR_S:.3g} h" if abs(seconds) >= _HOUR_S else f"{seconds:.3g} s"
