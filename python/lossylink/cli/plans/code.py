"""``lossylink plan --code``: a loss from a bit error ratio before FEC, and the bit error ratio for a loss."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lossylink.errors import UserError
from lossylink.scenario.loss import Loss, parse_loss
from lossylink.units import CHECK_BYTES

if TYPE_CHECKING:
    from lossylink.scenario.coded_line import CodedLine


def loss_of_gauge(ratio: float, code: str, *, rate_bps: int) -> Loss:
    """Return the loss of a line with a bit error ratio before FEC.

    Raises
    ------
    UserError
        There is no such code, or no such ratio.
    """
    if not 0 < ratio <= 0.5:
        raise UserError(
            f"--pre-fec-ber {ratio:g}: a bit error ratio is above 0 and at most 0.5, where bits say nothing"
        )
    return parse_loss(_line(code, rate_bps).spelling(ratio))


def plan_code(code: str, *, target: float, rate_bps: int, frame_bytes: int, as_json: bool) -> None:
    """Print the bit error ratio at which a line loses the target, and its distance to the limit in use."""
    found = _found(_line(code, rate_bps), target=target, rate_bps=rate_bps, frame_bytes=frame_bytes)
    if as_json:
        print(json.dumps(found, allow_nan=False))
        return
    print(f"{code} at {rate_bps / 1e9:g} Gb/s, frames of {frame_bytes} B, target {target:g}")
    print(f"a bit error ratio of {found['bit_error_ratio']:.4g} before FEC loses {target:g} of frames")
    limit = found["limit_bit_error_ratio"]
    if limit is None:
        return
    place = "above" if found["times_above_limit"] >= 1 else "BELOW"
    times = max(found["times_above_limit"], 1 / found["times_above_limit"])
    print(f"the limit in use is {limit:g}: the target's ratio lies {times:.3g} times {place} it")
    print(f"a line at the limit loses {found['limit_loss_ratio']:.3g} of frames")


def _found(line: CodedLine, *, target: float, rate_bps: int, frame_bytes: int) -> dict[str, Any]:
    from lossylink.theory.phy import bit_error_ratio_for, frame_loss_ratio

    octets, limit = frame_bytes + CHECK_BYTES, line.limit_bit_error_ratio
    try:
        ratio = bit_error_ratio_for(target, line.code, frame_bytes=octets, **line.options())
    except ValueError as error:
        raise UserError(f"--target {target:g}: {error}") from None
    lost = None
    if limit is not None:
        lost = frame_loss_ratio(line.code, bit_error_ratio=limit, frame_bytes=octets, **line.options())
    return {
        "code": line.name,
        "rate_gbps": rate_bps / 1e9,
        "frame_bytes": frame_bytes,
        "target_loss_ratio": target,
        "bit_error_ratio": ratio,
        "limit_bit_error_ratio": limit,
        "times_above_limit": None if limit is None else ratio / limit,
        "limit_loss_ratio": lost,
    }


def _line(code: str, rate_bps: int) -> CodedLine:
    from lossylink.scenario.coded_line import read_coded_line

    try:
        return read_coded_line(code, rate_bps=rate_bps)
    except UserError as error:
        raise UserError(f"--code: {error}") from None
