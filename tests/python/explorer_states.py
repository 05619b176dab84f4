"""States of the page of `lossylink explore`, with what `lossylink run` gives there.

``python -m tests.python.explorer_states PAGE FILE`` draws states of the knobs in the catalogue of a built
page: of each experiment every protection, with options of its own, and every kind of loss. It runs what the
command line of the page says, and writes rows, percentiles of completion times with their intervals, and
frames of watched flows. The states are the same in each run. ``web/tests/rows`` asks the page for the same.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, Final

import lossylink
from lossylink.errors import UserError
from lossylink.results.result import jsonable
from lossylink.statistics.estimates import percentile_interval

from .explorer_support import Json, label, random_state, settings
from .explorer_watched import watched

_SEED: Final = 47
#: States of each experiment, protection and kind of loss that have a row.
_ROUNDS: Final = 2
#: Draws until one is not refused.
_MOST_DRAWS: Final = 50
#: The view whose frames are looked at one by one asks another question.
_OTHERWISE: Final = "watch"
#: Bounds of what is drawn, so that a run takes a moment. At higher ratios of bit errors no frame passes.
_BOUNDS: Final = {
    "flow.trials": (200, 1000),
    "flow.size": (143, 60_000),
    "traffic.packets": (10_000, 30_000),
    "loss.ber": (1e-9, 5e-4),
}
_SMALL_FABRICS: Final = ("fb-fabric:pods=6,tors=16", "fat-tree:k=8")
#: The knob that decides which others there are.
_LOSSES: Final = "loss.model"
#: How often an option stands elsewhere than by default.
_MOVED: Final = 0.4
#: Flows that follow each other on one link.
_BLOCK: Final = 100


def catalogue_of(page: Path) -> Json:
    """Return the catalogue that a built page carries."""
    found = re.search(
        r'<script [^>]*id="catalogue">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL
    )
    if found is None:
        raise SystemExit(f"error: {page} has no catalogue; build it with make web")
    catalogue: Json = json.loads(found[1])
    return catalogue


def answers(catalogue: Json) -> Iterator[Json]:
    """Yield states of every experiment with their answers, and those that were refused before them."""
    draw = random.Random(_SEED)
    for view in (view for name, view in catalogue["views"].items() if name != _OTHERWISE):
        knobs = [_bounded(knob) for knob in view["knobs"]]
        losses = [choice["value"] for knob in knobs if knob["id"] == _LOSSES for choice in knob["choices"]]
        offered = catalogue["protections"]
        for name, spelling, loss, _ in product(
            view["experiments"], offered, losses or [None], range(_ROUNDS)
        ):
            only = catalogue["experiments"][name].get("when", {}) | ({_LOSSES: [loss]} if loss else {})
            for _ in range(_MOST_DRAWS):
                told = answered(
                    catalogue,
                    {
                        "experiment": name,
                        "values": random_state(knobs, draw, only),
                        "protection": label(spelling, _options(spelling, draw)),
                    },
                )
                yield told
                if "row" in told:
                    break


def _options(spelling: Json, draw: random.Random) -> Json:
    """Draw the argument of a protection, and some of its options."""
    state = random_state([*_argument(spelling), *spelling["options"]], draw, {})
    return state | {knob["id"]: knob["default"] for knob in spelling["options"] if draw.random() >= _MOVED}


def answered(catalogue: Json, state: Json) -> Json:
    """Return a state with the settings of its command line, and with what `lossylink run` says to them."""
    experiment = catalogue["experiments"][state["experiment"]]
    said = settings(experiment["rules"], state["values"])
    told = state | {"settings": said}
    try:
        run = lossylink.run(experiment["command"], protection=state["protection"], settings=said)
    except UserError as refused:
        return told | {"refused": str(refused)}
    (row,) = run.summary()["rows"]
    trials = run.tables.get("trials")
    if trials is None:
        return told | {"row": row}
    times = trials["fct_us"].to_numpy()
    return told | {"row": row, "percentiles": [_percentile(times, one) for one in catalogue["percentiles"]]}


def _percentile(times: Any, percentile: Json) -> Json:
    found = percentile_interval(times, percentile["percent"], block=_BLOCK)
    told: Json = jsonable(found.as_json())
    return {"percent": percentile["percent"], "beyond": int((times > found.value).sum())} | told


def _argument(spelling: Json) -> list[Json]:
    knobs: list[Json] = spelling.get("argument", {"knobs": []})["knobs"]
    return knobs


def _bounded(knob: Json) -> Json:
    if knob["id"] == "fabric.topology":
        return knob | {"choices": [one for one in knob["choices"] if one["value"] in _SMALL_FABRICS]}
    return (
        knob | dict(zip(("min", "max"), _BOUNDS[knob["id"]], strict=True)) if knob["id"] in _BOUNDS else knob
    )


def main(page: str, file: str) -> None:
    """Write the states of a page, with their answers."""
    catalogue = catalogue_of(Path(page))
    told = [*answers(catalogue), *watched(catalogue)]
    Path(file).write_text(json.dumps(told, allow_nan=False), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("write python -m tests.python.explorer_states PAGE FILE")
    main(*sys.argv[1:])
