"""What users see of a link against the bit errors of its line: the cliff of the line's own code.

A panel shows one line: a code with its options, at one rate. The axis on top has the loss of full frames,
which rows have beside each bit error ratio.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lossylink.charts.chart import Axis, Chart, Series, Sheet, TopAxis, embedded, with_never
from lossylink.charts.kinds._kind import CannotDrawError, Kind
from lossylink.charts.kinds._losses import EFFECTIVE
from lossylink.charts.kinds._percentiles import CAPTION, TIME, points_of_row, series_of, with_times
from lossylink.charts.kinds.effective_loss import estimate_of
from lossylink.charts.kinds.goodput import RATES
from lossylink.charts.samples import Line, Sample, lines_of
from lossylink.errors import UserError
from lossylink.scenario.loss import parse_loss
from lossylink.statistics.estimates import Estimate

BITS = Axis("bit error ratio before the line's code (pre-FEC)", "", "log")
TOP = "loss ratio of full frames"
ALONG = ("loss.forward", "flow.trials", "traffic.packets")
"""Keys that differ along a line."""
SWEEP_IT = (
    "no line has two bit error ratios; sweep them, as in "
    "--grid 'loss.forward=phy:code=rs544\\,ber=5e-4,phy:code=rs544\\,ber=1e-3'"
)
_MARGIN = 1.1
"""By what an axis goes on beyond the bit errors that were run."""
_OPTIONS = ("interleave", "burst", "precoding", "lanes", "line_bits")


@dataclass(frozen=True)
class Panel:
    """Samples of one line, which differ in its bit errors, its protection, and in what else was set."""

    name: str
    identifier: str
    samples: tuple[Sample, ...]

    def bits(self) -> Axis:
        """Return the axis of bit errors, with ends of its own: each code has its cliff elsewhere."""
        found = [_bits(sample) for sample in self.samples]
        return replace(BITS, low=min(found) / _MARGIN, high=max(found) * _MARGIN)

    def top(self) -> TopAxis:
        """Return the axis of the loss: its decades, where rows reach two of them, else the loss of each row.

        A decade lies between two rows. Between them the logarithms of both ratios go in proportion.
        """
        known = {
            _bits(sample): loss for sample in self.samples if (loss := sample.number("loss_rate")) is not None
        }
        bits = sorted(value for value, loss in known.items() if loss > 0)
        if not bits:
            return TopAxis(TOP, ())
        losses = np.log10([known[value] for value in bits])
        decades = np.arange(np.ceil(losses.min() - 1e-3), np.floor(losses.max() + 1e-3) + 1)
        if decades.size < 2:
            return TopAxis(TOP, tuple((value, f"{known[value]:.2g}") for value in bits))
        places = 10 ** np.interp(decades, losses, np.log10(bits))
        ticks = zip(embedded(places), (f"1e{int(decade)}" for decade in decades), strict=True)
        return TopAxis(TOP, tuple(ticks))


def sheet(samples: Sequence[Sample]) -> Sheet:
    """A panel a line and quantity: completion times, or the speed and what stays lost."""
    charts = charts_of(samples)
    return Sheet("cliff", charts, columns=1 if len(charts) == 1 else 2)


def charts_of(samples: Sequence[Sample]) -> tuple[Chart, ...]:
    """Return the charts of lines with bit errors; raises `CannotDrawError` where there is none."""
    of_lines = panels(samples)
    if not of_lines:
        raise CannotDrawError(
            "no link has a line with bit errors; run stress with --set loss.forward=phy:..."
        )
    of_lines = [panel for panel in of_lines if len({_bits(sample) for sample in panel.samples}) > 1]
    if not of_lines:
        raise CannotDrawError(SWEEP_IT)
    found = [chart for make in (_times, _speed, _left) for panel in of_lines if (chart := make(panel))]
    if not found:
        raise CannotDrawError(
            "no row has completion times, a speed or losses; run tcp-fct, rdma-fct or stress"
        )
    return tuple(found)


def panels(samples: Sequence[Sample]) -> list[Panel]:
    """Group the samples of lines with bit errors by experiment, code, options and rate."""
    groups: dict[tuple[Any, ...], list[Sample]] = {}
    for sample in samples:
        if (native := _line_of(sample)) is not None:
            options = tuple(native[key] for key in ("code", *_OPTIONS))
            rate = sample.number("link_gbps") or 0.0
            groups.setdefault((sample.settings.get("experiment", ""), rate, *options), []).append(sample)
    return [
        Panel(_name(group[0]), _identifier(group[0], place), tuple(group))
        for place, group in enumerate(groups.values())
    ]


def _line_of(sample: Sample) -> dict[str, Any] | None:
    try:
        native = parse_loss(sample.settings.get("loss.forward", "0")).native
    except UserError:
        return None  # a recording that is no longer there
    return dict(native) if native["model"] == "phy" and native["ber"] > 0 else None


def _bits(sample: Sample) -> float:
    native = _line_of(sample)
    assert native is not None, "panels have lines with bit errors"
    return float(native["ber"])


def _name(sample: Sample) -> str:
    """Call a line by its code, its rate, and its options as they were written."""
    _, _, rest = sample.settings["loss.forward"].partition(":")
    parts = (part.partition("=") for part in rest.split(","))
    written = {key.strip().lower(): value.strip() for key, _, value in parts}
    code = written.pop("code")
    written.pop("ber")
    rate = sample.number("link_gbps")
    words = [
        f"code {code}",
        *([f"{rate:g} Gb/s"] if rate else []),
        *(" ".join(one) for one in written.items()),
    ]
    return ", ".join(words)


def _identifier(sample: Sample, place: int) -> str:
    return f"{sample.settings.get('experiment', '')}-{place}"


def _times(panel: Panel) -> Chart | None:
    """Three lines a protection, a percentile each."""
    found = with_times(panel.samples)

    def drawn(line: Line) -> Iterable[Series]:
        return series_of(
            line, (one for sample in line.samples for one in points_of_row(sample, _bits(sample)))
        )

    return _chart(panel, "times", found, drawn, TIME, CAPTION)


def _speed(panel: Panel) -> Chart | None:
    found = [sample for sample in panel.samples if _speed_of(sample) is not None]
    axis = Axis("effective speed", "Gb/s", low=0.0)
    return _chart(
        panel, "speed", found, _estimated(_speed_of), axis, "With 95 % intervals where rows have them."
    )


def _left(panel: Panel) -> Chart | None:
    found = [sample for sample in panel.samples if estimate_of(sample) is not None]
    caption = "With 95 % intervals. A triangle that points down: none lost, the upper end of the interval."
    return _chart(panel, "residual", found, _residual, EFFECTIVE, caption)


def _chart(
    panel: Panel,
    quantity: str,
    samples: Sequence[Sample],
    drawn: Callable[[Line], Iterable[Series]],
    axis: Axis,
    caption: str,
) -> Chart | None:
    series = tuple(one for line in lines_of(samples, across=ALONG) for one in drawn(line)) if samples else ()
    if not series:
        return None
    identifier = f"cliff-{quantity}-{panel.identifier}"
    return Chart(
        identifier, panel.name, with_never(caption, series), panel.bits(), axis, series, top=panel.top()
    )


def _speed_of(sample: Sample) -> Estimate | None:
    """Return the speed of a row with its interval, where the row has one."""
    for key in RATES:
        if (value := sample.number(key)) is not None:
            interval = sample.row.get(f"{key}_ci95")
            return Estimate.exact(value) if interval is None else Estimate(value, *map(float, interval))
    return None


def _ordered(line: Line) -> list[Sample]:
    return sorted(line.samples, key=_bits)


def _estimated(read: Callable[[Sample], Estimate | None]) -> Callable[[Line], Iterable[Series]]:
    """Return what draws a quantity of the rows of a line."""

    def drawn(line: Line) -> Iterable[Series]:
        told = [(_bits(sample), one) for sample in _ordered(line) if (one := read(sample)) is not None]
        has_intervals = any(not one.is_exact for _, one in told)
        yield Series(
            line.label,
            line.slot,
            embedded([bits for bits, _ in told]),
            embedded([one.value for _, one in told]),
            kind="marked",
            y_low=embedded([one.low for _, one in told]) if has_intervals else None,
            y_high=embedded([one.high for _, one in told]) if has_intervals else None,
        )

    return drawn


def _residual(line: Line) -> Iterable[Series]:
    """Draw what stays lost; where nothing did, the upper end of the interval."""
    told = [(_bits(sample), one) for sample in _ordered(line) if (one := estimate_of(sample)) is not None]
    lost = [one.value > 0 for _, one in told]
    yield Series(
        line.label,
        line.slot,
        embedded([bits for bits, _ in told]),
        embedded([one.value or one.high for _, one in told]),
        kind="points",
        markers=tuple("circle" if seen else "down" for seen in lost),
        hollow=tuple(not seen for seen in lost),
        y_low=embedded([one.low if one.value and one.low else one.high for _, one in told]),
        y_high=embedded([one.high for _, one in told]),
        labels=tuple("measured" if seen else "none lost: upper bound" for seen in lost),
    )


KIND = Kind(
    name="cliff",
    place=67,
    summary="completion times, speed and residual loss against the bit errors of a line",
    sheet=sheet,
)
