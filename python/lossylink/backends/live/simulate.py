"""The live counterpart of the simulator: the same configuration in JSON, a row and its columns out."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from lossylink.backends.live import long_flow, short_flows, stress
from lossylink.errors import UserError

#: What an experiment's module offers: the configuration and who to tell of progress, to row and columns.
Measure = Callable[[dict[str, Any], Callable[[float, float], None]], dict[str, Any]]

_EXPERIMENTS: dict[str, Measure] = {
    "stress": stress.measure,
    "tcp-fct": short_flows.measure,
    "throughput": long_flow.measure_throughput,
    "fec": long_flow.measure_fec,
    "mathis": long_flow.measure_mathis,
}
_OUT_OF_SCOPE = {
    "rdma-fct": "RDMA is simulated only: the live lab's hosts have no RDMA interface",
    "timeline": "the time line is simulated only; live, watch it with `lossylink lab watch`",
}


def simulate(config_json: str, report: Callable[[float, float], None] | None) -> dict[str, Any]:
    """Measure what a configuration describes; raises as the simulator does.

    Examples
    --------
    >>> simulate('{"experiment": "rdma-fct"}', None)
    Traceback (most recent call last):
    lossylink.errors.UserError: rdma-fct: RDMA is simulated only: the live lab's hosts have no RDMA interface
    """
    config = json.loads(config_json)
    name = config["experiment"]
    if name in _OUT_OF_SCOPE:
        raise UserError(f"{name}: {_OUT_OF_SCOPE[name]}")
    return _EXPERIMENTS[name](config, report or (lambda _done, _total: None))
