"""What the gauges of a line say of its losses: in lines for the screen, and as a finding for a scenario.

SONiC's figures stand beside the fit, with the same convention for frames (`straight_line`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from lossylink.errors import UserError
from lossylink.measuring.fit import NO_LOSS, Decision, Fit, Kind, probability
from lossylink.measuring.line import straight_line
from lossylink.measuring.line.cells import cells_of, rs_code, shares_of
from lossylink.measuring.line.estimate import Estimated
from lossylink.measuring.line.few import EQUALISER_REPEAT
from lossylink.measuring.line.gauges import Gauges
from lossylink.measuring.line.totals import Totals, ratio_that_fails, totals_of
from lossylink.measuring.outcome import Finding
from lossylink.scenario.coded_line import CodedLine
from lossylink.scenario.loss import Loss, parse_loss
from lossylink.statistics.estimates import Estimate
from lossylink.theory.codewords import PREAMBLE_BYTES
from lossylink.theory.phy import frame_loss_ratio
from lossylink.units import CHECK_BYTES


@dataclass(frozen=True, kw_only=True)
class LineFinding:
    """What the gauges of a line tell, and the loss model that follows."""

    gauges: Gauges
    line: CodedLine
    totals: Totals
    estimated: Estimated | None
    """What the histogram tells, where there is one."""
    frame_bytes: int
    """Octets of a frame without its check sequence."""

    @classmethod
    def of(
        cls,
        gauges: Gauges,
        line: CodedLine,
        *,
        seconds: float | None,
        rate_bps: float,
        frame_bytes: int,
    ) -> LineFinding:
        """Read the gauges.

        Raises
        ------
        UserError
            The histogram is of another code, or sums of counters come without a time.
        """
        estimated = Estimated(cells_of(gauges, line)) if gauges.histogram else None
        totals = totals_of(gauges, line, seconds=seconds, rate_bps=rate_bps)
        if estimated is None and totals.bit_error_ratio is None and totals.failed is None:
            raise UserError(
                f"{gauges.source} counts nothing of this line; is the line up, and does its code count?"
            )
        return cls(gauges=gauges, line=line, totals=totals, estimated=estimated, frame_bytes=frame_bytes)

    @property
    def fitting(self) -> Estimated | None:
        """What the histogram tells, where a model fits it."""
        return None if self.estimated is None or self.estimated.is_rejected else self.estimated

    @property
    def failed(self) -> Estimate | None:
        """Uncorrectable codewords over all, as counted."""
        return self.estimated.counted if self.estimated is not None else self.totals.failed

    @cached_property
    def codeword_error_ratio(self) -> Estimate | None:
        """Codewords that fail: by the fit of the histogram if one fits, as counted, or by the gauge."""
        if self.fitting is not None:
            return self.fitting.codeword_error_ratio
        told = self.totals.bit_error_ratio
        if self.estimated is not None or told is None or (self.failed is not None and self.failed.value):
            return self.failed
        return self._of_gauge(told)

    def _of_gauge(self, told: Estimate) -> Estimate:
        """Return the ratio of independent errors, with the upper end of bursts or of what was counted.

        Sums of counters do not tell bursts.
        """
        value, low = (self._failing(one, 0.0) for one in (told.value, told.low))
        high = self._failing(told.high, EQUALISER_REPEAT)
        if self.failed is not None:
            high = min(high, self.failed.high)
        return Estimate(value, min(low, value), max(high, value))

    def _failing(self, ratio: float, repeat: float) -> float:
        return float(shares_of(self.line, ratio, repeat)[-1]) if ratio else 0.0

    @cached_property
    def loss(self) -> Loss:
        """The loss model: by a histogram that fits, by codewords that failed, or by the bit error ratio."""
        told, repeat = self.totals.bit_error_ratio, None
        ratio = 0.0 if told is None else told.value
        if self.failed is not None and self.failed.value and self.fitting is None:
            ratio, repeat = ratio_that_fails(rs_code(self.line), self.failed.value), 0.0
        elif self.estimated is not None:
            ratio, repeat = self.estimated.chosen.bit_error_ratio, self.estimated.chosen.repeat
        return parse_loss(self.line.spelling(ratio, repeat)) if ratio else NO_LOSS

    def frames_lost(self, codewords: Estimate) -> Estimate:
        """Return the share of frames lost when so many codewords fail.

        Each frame touches as many codewords on average as one that begins anywhere. What a burst of errors
        makes of codewords that it shares is taken from the most likely errors.
        """
        octets = self.frame_bytes + CHECK_BYTES
        times = self.line.interleaved + (octets + PREAMBLE_BYTES - 1) / float(
            rs_code(self.line).message_bytes
        )
        if codewords.value and self.fitting is not None:
            chosen = self.fitting.chosen
            lost = frame_loss_ratio(
                self.line.code,
                bit_error_ratio=chosen.bit_error_ratio,
                frame_bytes=octets,
                **self.line.options(chosen.repeat),
            )
            times = lost / self.fitting.codeword_error_ratio.value
        return Estimate(*(min(1.0, times * one) for one in (codewords.value, codewords.low, codewords.high)))

    def finding(self, title: str) -> Finding:
        """Return the losses as a direction of a scenario."""
        codewords = self.codeword_error_ratio
        ratio = Estimate(0.0, 0.0, 1.0) if codewords is None else self.frames_lost(codewords)
        found = Fit(0, 0, self.loss, ratio, Decision(Kind.UNTOLD), self.verdict)
        if (told := self.estimated) is not None:
            found = replace(
                found,
                decision=told.decision,
                p_value=told.p_value,
                goodness=told.goodness,
                likelihood_ratio=told.likelihood_ratio,
                is_rejected=told.is_rejected,
            )
        return Finding("forward", title, found, unit="frames")

    @property
    def verdict(self) -> str:
        """What kind the errors are and by which test, in a sentence."""
        if self.estimated is not None:
            return f"{_kind(self.estimated)}{_fit(self.estimated)}"
        told = f"a bit error ratio from {self.totals.told_by}"
        if self.failed is None or not self.failed.value:
            return (
                f"{told}; sums do not tell bursts: taken as independent, with an interval that holds for both"
            )
        same = ratio_that_fails(rs_code(self.line), self.failed.value)
        return (
            f"codewords failed as often as with independent errors at a bit error ratio of {same:.3g}, and "
            f"the loss takes that; {told} which is far lower means bursts, or a bad time"
        )

    def lines(self) -> Iterator[str]:
        """Yield what the gauges tell beside the loss, in words."""
        counted = f"{self.totals.codewords:,} codewords of {self.line.name}"
        failed = self.gauges.uncorrectable if self.estimated is None else self.estimated.cells.uncorrectable
        failed = self.gauges.uncorrectable if failed is None else failed
        counted += "" if failed is None else f", {failed:,} of them uncorrectable"
        yield f"{self.gauges.source}: {counted}"
        if self.bit_error_ratio is not None:
            yield f"  bit error ratio before FEC: {_words(self.bit_error_ratio)}{self._against_limit()}"
        if self.estimated is not None and self.estimated.erred:
            yield f"  burst factor: {_words(self.estimated.repeat)}"
        if self.codeword_error_ratio is not None:
            yield f"  codeword error ratio: {_words(self.codeword_error_ratio)}"
            lost = self.frames_lost(self.codeword_error_ratio)
            yield f"  frames of {self.frame_bytes} B lost: {_words(lost)}"
        if self.failed is not None and self.failed is not self.codeword_error_ratio:
            yield f"  codewords that failed, as counted: {_words(self.failed)}"
        yield from self._of_sonic()

    @property
    def bit_error_ratio(self) -> Estimate | None:
        """Wrong bits over all before the code."""
        if self.estimated is not None:
            return self.estimated.bit_error_ratio
        return self.totals.bit_error_ratio

    def _against_limit(self) -> str:
        limit = self.line.limit_bit_error_ratio
        if limit is None or self.bit_error_ratio is None or not self.bit_error_ratio.value:
            return ""
        times = limit / self.bit_error_ratio.value
        place = f"{times:.3g} times below" if times >= 1 else f"{1 / times:.3g} times ABOVE"
        return f", {place} the limit in use of {limit:g}"

    @cached_property
    def straight(self) -> straight_line.Prediction | None:
        """SONiC's prediction, of a histogram with a bin for each number of wrong symbols."""
        bins = self.gauges.histogram
        if not bins or any(one.low != one.high for one in bins):
            return None
        corrects = rs_code(self.line).corrects
        counts = [one.codewords for one in bins if one.low <= corrects]
        return straight_line.predicted(counts, interleaved=self.line.interleaved)

    def _of_sonic(self) -> Iterator[str]:
        if self.estimated is None:
            return
        cells, crossed = self.estimated.cells, self.line.interleaved
        seen = "not counted"
        if cells.uncorrectable is not None:
            ratio = straight_line.observed(
                uncorrectable=cells.uncorrectable, codewords=cells.codewords, interleaved=crossed
            )
            seen = f"{ratio:.3g}"
        if self.straight is None:
            yield f"  SONiC's convention: FEC_FLR {seen}, and no FEC_FLR_PREDICTED"
            return
        said = f"{self.straight.frame_loss_ratio:.3g} (R^2 {self.straight.r_squared:.3f})"
        words = f"  SONiC's convention: FEC_FLR {seen}, FEC_FLR_PREDICTED {said}"
        if self.fitting is not None and (fitted := self.fitting.codeword_error_ratio.value):
            ours = straight_line.frames_lost_by(fitted, interleaved=crossed)
            words += f", {self.straight.frame_loss_ratio / ours:.3g} times the {ours:.3g} of this fit"
        yield words

    def figures(self) -> dict[str, Any]:
        """Return what the gauges tell, as JSON."""
        estimated, straight = self.estimated, self.straight
        misfit = estimated.misfit if estimated is not None and estimated.is_rejected else None
        return {
            "code": self.line.name,
            "interleaved": self.line.interleaved,
            "codewords": self.totals.codewords,
            "bit_error_ratio": _json(self.bit_error_ratio),
            "burst": _json(estimated.repeat if estimated is not None and estimated.erred else None),
            "codeword_error_ratio": _json(self.codeword_error_ratio),
            "codewords_failed_ratio": _json(self.failed),
            "sonic_fec_flr_predicted": straight.frame_loss_ratio if straight is not None else None,
            "sonic_r_squared": straight.r_squared if straight is not None else None,
            "misfit_wrong_symbols": misfit.wrong_symbols if misfit is not None else None,
            "misfit_times": misfit.times if misfit is not None else None,
        }


def _json(estimate: Estimate | None) -> dict[str, float] | None:
    return None if estimate is None else estimate.as_json()


def _words(one: Estimate) -> str:
    """Spell an estimate out; without an event it is a bound, and without an interval a bare number.

    Examples
    --------
    >>> _words(Estimate(0.0, 0.0, 3e-9)), _words(Estimate(2e-4, 1e-4, 4e-4)), _words(Estimate.exact(1e-5))
    ('at most 3e-09', '0.0002 (95 % interval 0.0001 to 0.0004)', '1e-05')
    """
    if one.is_exact:
        return f"{one.value:.4g}"
    if not one.value:
        return f"at most {one.high:.3g}"
    digits = _DIGITS if one.high > _NARROW * one.low else _MORE_DIGITS
    value, low, high = (f"{part:.{digits}g}" for part in (one.value, one.low, one.high))
    return f"{value} (95 % interval {low} to {high})"


_DIGITS, _MORE_DIGITS = 4, 6
#: An interval this narrow, high over low, needs more digits to show its ends.
_NARROW: Final = 1.002


def _kind(estimated: Estimated) -> str:
    decision = estimated.decision
    if decision.kind is Kind.NONE_SEEN:
        return f"no codeword of {estimated.cells.codewords:,} had an error"
    chance = probability(estimated.p_value)
    if decision.kind is Kind.BURSTY:
        return f"errors come in bursts (likelihood ratio, {chance})"
    if decision.kind is Kind.UNTOLD:
        return (
            f"the histogram cannot tell whether errors come in bursts ({chance}): too few "
            "codewords have two; the interval of the codeword error ratio holds for both"
        )
    words = "errors are independent as far as the histogram tells"
    return f"{words} ({chance}): the burst factor is below {estimated.repeat.high:.3g}"


def _fit(estimated: Estimated) -> str:
    if estimated.decision.kind is Kind.NONE_SEEN:
        return ""
    if estimated.fit_p_value is None:
        return "; too few bins to test the fit"
    chance = probability(estimated.fit_p_value)
    if not estimated.is_rejected:
        return f", and the model fits the bins ({chance})"
    misfit, counted = estimated.misfit, estimated.counted
    symbols = f"{misfit.wrong_symbols} wrong symbols{' or more' if misfit.is_tail else ''}"
    taken = "takes failures as counted" if counted is not None and counted.value else "is the nearest one's"
    return (
        f", but no model here fits the bins ({chance}): {misfit.times:.3g} times as many codewords as the "
        f"nearest one expects have {symbols}; the loss {taken}"
    )
