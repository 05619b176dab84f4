"""What ``lossylink plan`` says of the links of a grid: table, protection to take, and sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from typing import Any, Final

from lossylink.errors import UserError
from lossylink.planning.explorer.knobs import Choice
from lossylink.planning.families import plans
from lossylink.planning.link import Link
from lossylink.planning.planner import plan
from lossylink.planning.prediction import HEADS, KEYS, VERDICTS, Prediction
from lossylink.scenario.loss import parse_loss
from lossylink.units import parse_length, parse_rate, parse_ratio

#: Links that a process plans before it asks for more.
_AT_ONCE: Final = 5
#: Digits that a plan shows.
_DIGITS: Final = 4


def _choices(id: str, label: str, meaning: str, choices: Mapping[str, str], default: str) -> Choice:  # noqa: A002
    return Choice(id=id, label=label, meaning=meaning, choices=choices, default=default)


#: Few enough to plan all links in half a minute on two cores.
_RATES: Final = ("10G", "25G", "100G", "400G")
_LOSSES: Final = tuple(f"{digit}e-{power}" for power in range(8, 0, -1) for digit in (1, 3))[:-1]
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


def decisions(knobs: tuple[Choice, ...] = KNOBS) -> dict[str, Any]:
    """Return the plans of every combination of the knobs: `KNOBS` with all or some of their values."""
    places = list(product(*(knob.choices for knob in knobs)))
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as workers:
        entries = list(workers.map(_entry, *zip(*places, strict=True), chunksize=_AT_ONCE))
    return {
        "command": "plan",
        "knobs": [knob.row() for knob in knobs],
        "entries": {"|".join(values): entry for values, entry in zip(places, entries, strict=True)},
        "columns": [{"key": key, "label": label, "unit": unit} for key, (label, unit) in HEADS.items()],
        "map": {"x": "loss", "y": "rate"},
    }


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
