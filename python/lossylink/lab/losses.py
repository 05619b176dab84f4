"""Loss processes, spelt by users or in the simulator's words, as the live data plane reads them."""

from __future__ import annotations

from typing import Any

from lossylink.errors import UserError
from lossylink.scenario.loss import parse_loss


def data_plane_loss(text: str) -> str:
    """Return a loss process as the data plane reads it.

    Examples
    --------
    >>> data_plane_loss("0.1%"), data_plane_loss("none")
    ('bernoulli:0.001', 'none')
    """
    try:
        return loss_text(parse_loss(text).native)
    except ValueError as error:
        raise UserError(str(error)) from None


def loss_text(native: dict[str, Any]) -> str:
    """Return a loss process, given in the simulator's words, as the data plane reads it.

    Examples
    --------
    >>> loss_text({"model": "bernoulli", "p": 0.001}), loss_text({"model": "at", "positions": [17, 18]})
    ('bernoulli:0.001', 'at:17,18')
    """
    match native["model"]:
        case "none":
            return "none"
        case "bernoulli" | "quantised" as model:
            return f"{model}:{native['p']!r}" if native["p"] else "none"
        case "bit-error-rate":
            return f"ber:{native['ber']!r}"
        case "gilbert-elliott":
            return "gilbert-elliott:p={p!r},r={r!r},good={loss_good!r},bad={loss_bad!r}".format(**native)
        case "at":
            return "at:" + ",".join(map(str, native["positions"]))
        case "trace":
            return "trace:" + "".join("1" if lost else "0" for lost in native["lost"])
        case other:
            raise UserError(f"loss model {other} is simulated only")
