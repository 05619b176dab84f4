"""Loss processes as users write them: a ratio, or a model's name, a colon and its parameters (`USAGES`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from lossylink import _native
from lossylink._package import compressed
from lossylink.errors import UserError, unknown
from lossylink.scenario import netem, phy
from lossylink.scenario.phy import interleaved_at
from lossylink.units import describe_ratio, parse_positive_time, parse_ratio

USAGES: Mapping[str, str] = {
    "1e-3, 0.1%, bernoulli:1e-3": "each frame is lost on its own with this probability",
    "quantised:1e-3": "the same with the artifact's 20-bit random number (1e-3 is 9.994507e-4)",
    "bit-error-rate:1e-9": "each bit errs on its own, so longer frames are lost more often",
    "gilbert-elliott:P,R[,BAD[,GOOD]]": "good to bad with P, back with R, loss in each state (1 and 0)",
    "gilbert-elliott:mean=M,burst=B": "the same from the mean loss ratio and the mean burst length in frames",
    "gilbert-elliott:mean=M,burst=20ms": "bursts that last a time, whether frames pass or not",
    "phy:code=rs544,ber=2e-4": "bit errors and the line's code; more: burst, interleave, lanes, precoding",
    "at:17,18 or at:5-9": "exactly these frames, counted from 0",
    "trace:FILE": "a recording: text of 0 (delivered) and 1 (lost), repeated when used up; gzip and zstd too",
    "netem:loss gemodel 1% 10% 70% 0.1%": "what tc's netem loses and corrupts, in its words and per cent",
    "none": "nothing is lost",
}
"""Every spelling with what it means."""

#: Longest trace that is read, in frames: it travels to the simulator as text.
MAX_TRACE_FRAMES = 10_000_000
#: Most bytes of a trace file: for each of those frames a mark, a comma, a blank, and as much for comments.
MAX_TRACE_BYTES = 6 * MAX_TRACE_FRAMES
#: Most positions in ``at:``.
MAX_POSITIONS = 100_000
_POSITION_LIMIT = 2**63
#: Picoseconds that the simulator's clock holds.
_TIME_LIMIT = 2**63
#: Words that a number may be, and that are no time.
_NO_NUMBERS = frozenset({"nan", "inf", "infinity"})
#: What may stand between the marks of a trace.
_GAPS = str.maketrans("", "", ", \t")


class Loss(NamedTuple):
    """One direction's loss process: what the user wrote, and the JSON of ``core::loss::LossModel``."""

    spelling: str
    native: dict[str, Any]
    notes: tuple[str, ...] = ()
    """What to know of it, in sentences: what of another tool's words is taken differently or left out."""

    @classmethod
    def of(cls, native: Mapping[str, Any]) -> Loss:
        """Return the process of a JSON object, called by its model's name."""
        return cls(str(native["model"]), dict(native))

    def native_at(self, rate_bps: float) -> dict[str, Any]:
        """Return the JSON for a line of this rate, which decides how codewords are interleaved.

        Examples
        --------
        >>> parse_loss("phy:code=rs544,ber=2e-4").native_at(400e9)["interleave"]
        2
        """
        if self.native["model"] != "phy":
            return self.native
        return interleaved_at(self.native, rate_bps)

    @property
    def mean(self) -> float | None:
        """Mean loss ratio of a long run; ``None`` where it depends on frame sizes or on the run's length."""
        return mean_of(self.native)

    def describe(self) -> str:
        """Spell the ratio out as ratio and percentage, or say what the process is."""
        return describe_ratio(self.mean) if self.mean is not None else f"loss {self.spelling}"


def mean_of(native: Mapping[str, Any]) -> float | None:
    """Return the mean loss ratio of a process, given as JSON, where it has one.

    Examples
    --------
    >>> mean_of({"model": "gilbert-elliott", "p": 0.01, "r": 0.09, "loss_good": 0.0, "loss_bad": 1.0})
    0.1
    """
    match native:
        case {"model": "none"} | {"model": "bit-error-rate" | "phy", "ber": 0.0}:
            return 0.0
        case {"model": "bernoulli", "p": p}:
            return float(p)
        case {"model": "quantised", "p": p}:
            # The published switch compares a 20-bit random number with floor(p * 2^20).
            return float(math.floor(p * 2**20) / 2**20)
        case {"model": "gilbert-elliott", "p": p, "r": r, "loss_good": good, "loss_bad": bad}:
            return float((p * bad + r * good) / (p + r))
        case {"model": "fades", "clear_ps": clear, "fade_ps": fade}:
            return float(fade / (clear + fade))
        case {"model": "trace", "lost": lost}:
            return float(sum(lost) / len(lost))
        case _:
            return None


def is_independent(native: Mapping[str, Any]) -> bool:
    """Tell whether a process, given as JSON, loses each frame on its own with one probability."""
    return native["model"] in {"none", "bernoulli", "quantised"}


def independent_ratio(native: Mapping[str, Any]) -> float | None:
    """Return the loss ratio of a process whose frames are lost on their own; nothing for any other.

    Examples
    --------
    >>> independent_ratio({"model": "bernoulli", "p": 0.1})
    0.1
    >>> independent_ratio({"model": "at", "positions": [1]}) is None
    True
    """
    return mean_of(native) if is_independent(native) else None


def parse_loss(value: object, *, folder: Path | None = None) -> Loss:
    """Read a loss process; trace files are looked for relative to ``folder``.

    Examples
    --------
    >>> parse_loss("0.1%").native
    {'model': 'bernoulli', 'p': 0.001}
    >>> parse_loss("at:17,18").native
    {'model': 'at', 'positions': [17, 18]}
    >>> parse_loss("gilbert-elliott:mean=1e-2,burst=4").mean
    0.01
    >>> parse_loss("gilbert-elliott:mean=2%,burst=20ms").native
    {'model': 'fades', 'clear_ps': 980000000000, 'fade_ps': 20000000000}
    """
    text = str(value).strip()
    name, colon, rest = text.partition(":")
    if not colon:
        return _bare(value, text)
    model = _ALIASES.get(name.strip().lower(), name.strip().lower())
    if model not in _MODELS:
        raise unknown("loss model", name, [*_MODELS, "none"])
    if model == "trace":
        return _trace(text, rest.strip(), folder or Path())
    return _MODELS[model](text, rest.strip())


def _bare(value: object, text: str) -> Loss:
    if text.lower() == "none":
        return Loss(text, {"model": "none"})
    if text.lower() in _MODELS:
        raise UserError(f"'{text}' lacks its parameters; lossylink list shows how a loss model is written")
    if text[:1].isalpha() and text.lower() not in {"nan", "inf", "infinity"}:
        raise unknown("loss model", text, [*_MODELS, "none"])
    return _bernoulli(text, value)


def _bernoulli(text: str, ratio: object) -> Loss:
    p = parse_ratio(ratio)
    return Loss(text, {"model": "bernoulli", "p": p} if p else {"model": "none"})


def _quantised(text: str, ratio: str) -> Loss:
    return Loss(text, {"model": "quantised", "p": parse_ratio(ratio)})


def _bit_error_rate(text: str, ratio: str) -> Loss:
    return Loss(text, {"model": "bit-error-rate", "ber": parse_ratio(ratio)})


def _gilbert_elliott(text: str, rest: str) -> Loss:
    parts = [part.strip() for part in rest.split(",")]
    if any("=" in part for part in parts):
        if fades := _fades(text, parts):
            return fades
        p, r, bad, good = _named_gilbert_elliott(text, parts)
    else:
        if not 2 <= len(parts) <= 4:
            raise UserError(f"'{text}': write gilbert-elliott:P,R[,LOSS_BAD[,LOSS_GOOD]] or mean=..,burst=..")
        p, r, bad, good = (*map(parse_ratio, parts), *(1.0, 0.0)[len(parts) - 2 :])
    if p + r == 0.0:
        raise UserError(f"'{text}': P and R cannot both be 0, or the link never changes state")
    return Loss(text, {"model": "gilbert-elliott", "p": p, "r": r, "loss_good": good, "loss_bad": bad})


def _named_gilbert_elliott(text: str, parts: list[str]) -> tuple[float, float, float, float]:
    named: dict[str, str] = {}
    for part in parts:
        key, _, value = part.partition("=")
        if key.strip() not in {"p", "r", "bad", "good", "mean", "burst"}:
            raise unknown("Gilbert-Elliott parameter", key, ["p", "r", "bad", "good", "mean", "burst"])
        named[key.strip()] = value.strip()
    if named.keys() == {"mean", "burst"}:
        return (*_from_mean_and_burst(text, parse_ratio(named["mean"]), named["burst"]), 1.0, 0.0)
    if not {"p", "r"} <= named.keys() or named.keys() & {"mean", "burst"}:
        raise UserError(f"'{text}': give p and r (and bad, good), or mean and burst")
    bad, good = parse_ratio(named.get("bad", 1)), parse_ratio(named.get("good", 0))
    return parse_ratio(named["p"]), parse_ratio(named["r"]), bad, good


def _fades(text: str, parts: list[str]) -> Loss | None:
    """Read bursts that last a time; nothing where no burst has a unit of time."""
    named = {key.strip(): value.strip() for key, _, value in (part.partition("=") for part in parts)}
    burst = named.get("burst", "")
    if named.keys() != {"mean", "burst"} or not burst[-1:].isalpha() or burst.lower() in _NO_NUMBERS:
        return None
    mean = parse_ratio(named["mean"])
    if mean == 0.0:
        return Loss(text, {"model": "none"})
    try:
        fade = parse_positive_time(burst)
    except ValueError as error:
        raise UserError(f"'{text}': {error}; a bare number is a burst in frames") from None
    clear = round(fade * (1.0 - mean) / mean)
    if clear == 0:
        raise UserError(f"'{text}': nothing lies between two bursts; write a smaller mean, or a ratio of 1")
    if clear + fade >= _TIME_LIMIT:
        raise UserError(f"'{text}': {clear / 1e12:.3g} s between two bursts are too many to simulate")
    return Loss(text, {"model": "fades", "clear_ps": clear, "fade_ps": fade})


def _from_mean_and_burst(text: str, mean: float, burst_text: str) -> tuple[float, float]:
    try:
        burst = float(burst_text)
    except ValueError:
        raise UserError(f"'{text}': burst '{burst_text}' is not a number of frames") from None
    try:
        return _native.burst_chances(mean, burst)
    except ValueError as error:
        raise UserError(f"'{text}': {error}") from None


def _phy(text: str, rest: str) -> Loss:
    native = phy.parse_phy(text, rest)
    code, percent = native["code"], 100 * phy.overhead_ratio(native["code"])
    faster = f"{code} makes the line {percent:.4g} % faster than link.rate says"
    note = f"{faster}, and delays frames (link.phy_latency)"
    return Loss(text, native, (note,) if code != "none" else ())


def _positions(text: str, rest: str) -> Loss:
    positions: set[int] = set()
    for part in rest.split(","):
        first, dash, last = (side.strip() for side in part.partition("-"))
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise UserError(f"'{text}': '{part.strip()}' is no frame index; write at:17,18 or at:5-9")
        start, stop = int(first), int(last or first)
        if stop < start or stop >= _POSITION_LIMIT:
            raise UserError(f"'{text}': '{part.strip()}' is no range of frame indices")
        if stop - start + len(positions) >= MAX_POSITIONS:
            raise UserError(f"'{text}': more than {MAX_POSITIONS} frames; record them in a trace:FILE")
        positions.update(range(start, stop + 1))
    return Loss(text, {"model": "at", "positions": sorted(positions)})


def _trace(text: str, name: str, folder: Path) -> Loss:
    path = folder / Path(name).expanduser()
    recording = compressed.read_text(path, most_bytes=MAX_TRACE_BYTES, what="the loss trace")
    return Loss(text, {"model": "trace", "lost": _read_marks(recording, path)})


def _netem(text: str, words: str) -> Loss:
    native, notes = netem.parse(words)
    return Loss(text, native, notes)


def _read_marks(recording: str, path: Path) -> list[bool]:
    lost: list[bool] = []
    for number, line in enumerate(recording.splitlines(), start=1):
        marks = line.split("#", 1)[0].translate(_GAPS)
        if marks.strip("01"):
            stray = marks.strip("01")[0]
            raise UserError(f"{path}:{number}: '{stray}' is neither 0 (delivered) nor 1 (lost)")
        if len(lost) + len(marks) > MAX_TRACE_FRAMES:
            raise UserError(f"{path}: a trace holds at most {MAX_TRACE_FRAMES} frames; shorten it")
        lost.extend(mark == "1" for mark in marks)
    if not lost:
        raise UserError(f"{path}: the loss trace is empty")
    return lost


_MODELS: dict[str, Callable[[str, str], Loss]] = {
    "at": _positions,
    "bernoulli": _bernoulli,
    "bit-error-rate": _bit_error_rate,
    "gilbert-elliott": _gilbert_elliott,
    "netem": _netem,
    "phy": _phy,
    "quantised": _quantised,
    "trace": lambda text, rest: _trace(text, rest, Path()),
}
_ALIASES = {"ber": "bit-error-rate", "ge": "gilbert-elliott", "quantized": "quantised"}
