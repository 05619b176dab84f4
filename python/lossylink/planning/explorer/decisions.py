"""What ``lossylink plan`` says of the links of a grid: table, protection to take, and sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from multiprocessing import get_context
from typing import Any, Final

from msgspec.structs import replace

from lossylink.errors import UserError
from lossylink.planning.explorer.knobs import Choice
from lossylink.planning.families import plans
from lossylink.planning.link import Link
from lossylink.planning.planner import plan
from lossylink.planning.prediction import HEADS, KEYS, VERDICTS, Prediction
from lossylink.scenario.loss import parse_loss
from lossylink.units import parse_length, parse_rate, parse_ratio

#: Digits that a plan shows.
_DIGITS: Final = 4


def _choices(id: str, label: str, meaning: str, choices: Mapping[str, str], default: str) -> Choice:  # noqa: A002
    return Choice(id=id, label=label, meaning=meaning, choices=choices, default=default)


#: Few enough to plan all links within twenty seconds of processor time.
_RATES: Final = ("10G", "25G", "100G", "400G")
#: Up to what a link in service loses: the runs of a tenth would take as long as all others.
_LOSSES: Final = tuple(f"{digit}e-{power}" for power in range(8, 1, -1) for digit in (1, 3))
_TARGETS: Final = ("1e-6", "1e-8", "1e-10")
_LENGTHS: Final = {"100m": "100 m", "2km": "2 km"}
KNOBS: Final = (
    _choices("rate", "Rate", "line rate", {rate: f"{rate[:-1]} Gb/s" for rate in _RATES}, "100G"),
    _choices(
        "loss", "Loss ratio", "share of the frames that the link loses", {one: one for one in _LOSSES}, "1e-3"
    ),
    _choices("target", "Target", "effective loss ratio to reach", {one: one for one in _TARGETS}, "1e-8"),
    _choices("length", "Length", "length of the cable", _LENGTHS, "100m"),
)
"""What a link of the grid is made of."""
FEW_LINKS: Final = tuple(
    replace(knob, choices={value: knob.choices[value] for value in values})
    for knob, values in zip(
        KNOBS, (("25G", "100G"), ("1e-6", "1e-4", "1e-3", "1e-2"), ("1e-8",), ("100m",)), strict=True
    )
)
"""`KNOBS` with few of their values, the defaults among them: so a page for tests is built in seconds."""


def decisions(knobs: tuple[Choice, ...] = KNOBS) -> dict[str, Any]:
    """Return the plans of every combination of the knobs: `KNOBS` with all or some of their values.

    A process plans all losses and targets of a rate and a length: many of them are tried by the same run.
    """
    rates, losses, targets, lengths = (tuple(knob.choices) for knob in knobs)
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as workers:
        planned = workers.map(partial(_entries, losses, targets), *zip(*product(rates, lengths), strict=True))
        entries = {place: entry for some in planned for place, entry in some.items()}
    return {
        "command": "plan",
        "knobs": [knob.row() for knob in knobs],
        "entries": {"|".join(place): entries[place] for place in product(rates, losses, targets, lengths)},
        "columns": [{"key": key, "label": label, "unit": unit} for key, (label, unit) in HEADS.items()],
        "map": {"x": "loss", "y": "rate"},
    }


def _entries(
    losses: Sequence[str], targets: Sequence[str], rate: str, length: str
) -> dict[tuple[str, ...], dict[str, Any]]:
    places = ((rate, loss, target, length) for loss in losses for target in targets)
    return {place: _entry(*place) for place in places}


def _entry(rate: str, loss: str, target: str, length: str) -> dict[str, Any]:
    link = Link.losing(parse_loss(loss), rate_bps=parse_rate(rate), propagation_ps=parse_length(length))
    wanted = parse_ratio(target)
    try:
        planned = plan(link, target=wanted)
    except UserError as error:
        predictions = tuple(plans(link, target=wanted, budget_us=None))
        winner, sentence = None, str(error)
    else:
        predictions, winner, sentence = planned.predictions, planned.recommended, planned.sentence
    return {
        "rows": [_row(one, wanted) for one in predictions],
        "winner": winner,
        "sentence": sentence,
        "command": f"lossylink plan --link {rate} --loss {loss} --target {target} --length {length}",
    }


def _row(prediction: Prediction, target: float) -> dict[str, Any]:
    return {
        "protection": prediction.protection,
        "verdict": VERDICTS[prediction.meets(target=target)],
        "values": {key: _shown(prediction.figure(key).value) for key in KEYS},
    }


def _shown(value: float | None) -> float | None:
    """Return a figure with the digits that a plan shows; nothing for what is infinite or does not apply."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{_DIGITS}g}")
