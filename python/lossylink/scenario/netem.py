"""Losses in the words of Linux's network emulator: what follows ``netem`` in a ``tc`` command or its output.

The conventions are tc's. A number is a percentage, with or without its sign. ``gemodel p r 1-h 1-k`` goes to
the bad state with p and back with r, and loses 1-h there and 1-k in the good state. ``state p13 p31 p32 p23
p14`` is a chain of four states. What is not written has tc's default.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from lossylink.errors import UserError, unknown

#: The parameters of each loss model, in tc's order.
STATES: Final = ("p13", "p31", "p32", "p23", "p14")
GEMODEL: Final = ("p", "r", "1-h", "1-k")
#: Options that lose nothing, and the key of a scenario for what has one.
LEFT_OUT: Final[Mapping[str, str]] = {
    "delay": "link.propagation",
    "latency": "link.propagation",
    "distribution": "",
    "duplicate": "",
    "reorder": "",
    "gap": "",
    "rate": "link.rate",
    "packetoverhead": "",
    "cellsize": "",
    "celloverhead": "",
    "slot": "",
    "bursting": "",
    "seed": "",
}
#: Words that change nothing here: the usual room of the queue, and what tc prints of a queue.
_SILENT: Final = {"limit", "root", "refcnt", "parent", "dev", "handle", "offloaded", "ingress"}
_NUMBER: Final = re.compile(r"[0-9.+-]*[0-9][0-9.eE+-]*%?")
_USAGE: Final = "loss [random] P [CORRELATION], loss state P13.., loss gemodel P.., corrupt P"


class Netem(Struct, frozen=True):
    """What netem's options say of losses, as ratios."""

    random: float = 0.0
    correlation: float = 0.0
    states: tuple[float, ...] = ()
    """By `STATES`."""
    gemodel: tuple[float, ...] = ()
    """By `GEMODEL`."""
    corrupt: float = 0.0
    corrupt_correlation: float = 0.0
    left_out: tuple[str, ...] = ()
    """Options that are no losses, each with its words."""
    is_marking: bool = False
    """Whether ECN-capable packets are marked where others are lost."""

    @property
    def has_losses(self) -> bool:
        """Whether there is anything that loses packets."""
        return bool(self.random or self.states or self.gemodel or self.corrupt)

    def process(self) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Return the losses as JSON of ``core::loss::LossModel``, and what to know of them in sentences."""
        native, notes = self._lost()
        if self.corrupt:
            native, more = self._with_corrupt(native), self._corrupt_notes()
            notes = (*notes, *more)
        if self.is_marking:
            notes = (*notes, "ecn: netem marks ECN-capable packets instead; here they are lost")
        return native, notes

    def _lost(self) -> tuple[dict[str, Any], tuple[str, ...]]:
        if self.gemodel:
            p, r, bad, good = self.gemodel
            if p == r == 0:  # never moves, and netem begins in the good state
                return _independent(good), ()
            return _chain(p, r, good, bad), ()
        if self.states:
            return self._of_states()
        if self.correlation:
            return self._of_correlation()
        return _independent(self.random), ()

    def _of_states(self) -> tuple[dict[str, Any], tuple[str, ...]]:
        from lossylink.theory import netem  # numpy, which help texts do without

        try:
            found = netem.four_state(**dict(zip(STATES, self.states, strict=True)))
        except ValueError as error:
            raise UserError(f"netem loss state: {error}") from None
        if found.loss_ratio in (0.0, 1.0):
            return _independent(found.loss_ratio), ()
        native = found.chain.native
        _p13, _p31, p32, _p23, p14 = self.states
        if not (p32 or p14):
            return native, ()
        words = (
            f"loss state: two states with its mean loss of {found.loss_ratio:.4g} and mean run of "
            f"{1 / (1 - found.again):.4g} packets; how its runs lie in bursts is left out"
        )
        return native, (words,)

    def _of_correlation(self) -> tuple[dict[str, Any], tuple[str, ...]]:
        from lossylink.theory import netem  # as above

        try:
            found = netem.correlated(self.random, self.correlation)
        except ValueError as error:
            raise UserError(f"netem loss: {error}") from None
        words = (
            f"loss {_percent(self.random)} with correlation {_percent(self.correlation)}: netem loses "
            f"{found.loss_ratio:.3g} of the packets, not {self.random:g}, since its correlated numbers "
            f"gather around one half; the packet behind a lost one is lost with {found.again:.3g}"
        )
        if found.loss_ratio in (0.0, 1.0):
            return _independent(found.loss_ratio), (words,)
        return found.chain.native, (words,)

    def _corrupted(self) -> float:
        if not self.corrupt_correlation:
            return self.corrupt
        from lossylink.theory import netem  # as above

        try:
            return netem.correlated(self.corrupt, self.corrupt_correlation).loss_ratio
        except ValueError as error:
            raise UserError(f"netem corrupt: {error}") from None

    def _with_corrupt(self, native: dict[str, Any]) -> dict[str, Any]:
        """Lose what was not lost with the chance of a corruption."""
        kept = 1 - self._corrupted()
        if native["model"] == "gilbert-elliott":
            good, bad = (1 - kept * (1 - native[key]) for key in ("loss_good", "loss_bad"))
            return {**native, "loss_good": good, "loss_bad": bad}
        return _independent(1 - kept * (1 - native.get("p", 0.0)))

    def _corrupt_notes(self) -> Iterator[str]:
        counted = "counted as losses, since a frame with a wrong bit fails its check"
        yield f"corrupt {_percent(self.corrupt)}: {counted}"
        if self.corrupt_correlation:
            yield f"corrupt: of its correlation only the mean, {self._corrupted():.3g}, is taken"


def read_words(text: str) -> Netem:
    """Read the options that follow ``netem``, as they are written or as tc prints them.

    Raises
    ------
    UserError
        An option is unknown or has no number that tc would take.

    Examples
    --------
    >>> read_words("loss gemodel 1% 10% 70% 0.1%").gemodel
    (0.01, 0.1, 0.7, 0.001)
    >>> read_words("delay 10ms loss 0.3% 25%").left_out
    ('delay 10ms',)
    """
    words = _Words(text.split())
    found = Netem()
    while words.more:
        word = words.take()
        if word in {"loss", "drop"}:
            found = _read_loss(found, words)
        elif word == "corrupt":
            corrupt, *correlation = words.ratios("corrupt", 1, 2)
            found = replace(found, corrupt=corrupt, corrupt_correlation=next(iter(correlation), 0.0))
        elif word == "ecn":
            found = replace(found, is_marking=True)
        elif word in LEFT_OUT:
            kept = " ".join((word, *words.until_option()))
            found = replace(found, left_out=(*found.left_out, kept))
        elif word in _SILENT:
            words.until_option()
        else:
            raise unknown("netem option", word, ["loss", "corrupt", "ecn", *LEFT_OUT])
    return found


def read_options(options: Mapping[str, Any]) -> Netem:
    """Read the options of a netem queue in the JSON that ``tc -j`` prints, whose shares are ratios.

    Examples
    --------
    >>> read_options({"limit": 1000, "loss-random": {"loss": 0.01, "correlation": 0}}).random
    0.01
    """
    random, corrupt = options.get("loss-random", {}), options.get("corrupt", {})
    states, gemodel = options.get("loss-state", {}), options.get("loss-gemodel", {})
    left_out = tuple(name for name in LEFT_OUT if options.get(name))
    return Netem(
        random=float(random.get("loss", 0)),
        correlation=float(random.get("correlation", 0)),
        states=tuple(float(states[name]) for name in STATES) if states else (),
        gemodel=tuple(float(gemodel[name]) for name in GEMODEL) if gemodel else (),
        corrupt=float(corrupt.get("corrupt", 0)),
        corrupt_correlation=float(corrupt.get("correlation", 0)),
        left_out=left_out,
        is_marking=bool(options.get("ecn")),
    )


def parse(text: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the losses of ``netem:`` in a scenario as JSON, and what to know of them.

    Raises
    ------
    UserError
        There is no loss, or an option that no loss process has: one line names it and the key that has it.

    Examples
    --------
    >>> parse("loss gemodel 1% 10% 70% 0.1%")[0]
    {'model': 'gilbert-elliott', 'p': 0.01, 'r': 0.1, 'loss_good': 0.001, 'loss_bad': 0.7}
    """
    found = read_words(text.strip().removeprefix("netem "))
    for words in found.left_out:
        key = _key_of(words)
        mend = f"set {key} for it" if key else "no key has it"
        raise UserError(f"netem: '{words}' is no loss; leave it out of loss ({mend})")
    if not found.has_losses:
        raise UserError(f"netem: no loss in '{text}'; write {_USAGE}")
    return found.process()


def _key_of(words: str) -> str:
    """Return the keys that have what an option says, with their values where they are not its own."""
    option, *values = words.split()
    if option in {"delay", "latency"} and len(values) > 1:
        delay, jitter, *_ = values
        return f"link.propagation to {delay} - {jitter}, path.jitter to 2 x {jitter} and path.reorder to true"
    return LEFT_OUT[option]


def _read_loss(found: Netem, words: _Words) -> Netem:
    if found.random or found.states or found.gemodel:
        raise UserError("netem takes one loss option, and there are two; leave one out")
    kind = words.take() if words.more and not words.is_number() else "random"
    if kind == "random":
        loss, *correlation = words.ratios("loss", 1, 2)
        return replace(found, random=loss, correlation=next(iter(correlation), 0.0))
    if kind == "state":
        given = words.ratios("loss state", 1, 5, names=STATES)
        default = (given[0], 1 - given[0], 0.0, 1.0, 0.0)
        return replace(found, states=(*given, *default[len(given) :]))
    if kind == "gemodel":
        given = words.ratios("loss gemodel", 1, 4, names=GEMODEL)
        usual = (given[0], 1 - given[0], 1.0, 0.0)
        return replace(found, gemodel=(*given, *usual[len(given) :]))
    raise unknown("netem loss model", kind, ["random", "state", "gemodel"])


class _Words:
    """The words of a command, taken one after another."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = list(words)

    @property
    def more(self) -> bool:
        return bool(self._words)

    def take(self) -> str:
        return self._words.pop(0)

    def is_number(self) -> bool:
        return bool(self._words) and _NUMBER.fullmatch(self._words[0]) is not None

    def until_option(self) -> list[str]:
        """Take what belongs to an option: all up to the next one."""
        taken = []
        options = {"loss", "drop", "corrupt", "ecn", *LEFT_OUT, *_SILENT}
        while self._words and self._words[0] not in options:
            taken.append(self.take())
        return taken

    def ratios(self, what: str, least: int, most: int, *, names: Sequence[str] = ()) -> tuple[float, ...]:
        """Take percentages, which tc prints with their names in front."""
        taken: list[float] = []
        while self._words and len(taken) < most:
            if names and self._words[0] == names[len(taken)] and len(self._words) > 1:
                self.take()
            if not self.is_number():
                break
            taken.append(_ratio(what, self.take()))
        if len(taken) < least:
            after = f"'{self._words[0]}'" if self._words else "nothing"
            raise UserError(f"netem: '{what}' needs a percentage, and {after} follows; write {_USAGE}")
        return tuple(taken)


def _ratio(what: str, word: str) -> float:
    """Read a number as tc does: a percentage, whether or not it says so."""
    try:
        percent = float(word.removesuffix("%"))
    except ValueError:
        raise UserError(f"netem: '{word}' of '{what}' is no percentage") from None
    if not 0 <= percent <= 100:
        raise UserError(f"netem: '{word}' of '{what}' is not between 0 and 100 %; tc counts in per cent")
    return round(percent / 100, 15)


def _percent(ratio: float) -> str:
    return f"{ratio * 100:g}%"


def _independent(ratio: float) -> dict[str, Any]:
    return {"model": "bernoulli", "p": ratio} if ratio else {"model": "none"}


def _chain(p: float, r: float, good: float, bad: float) -> dict[str, Any]:
    return {"model": "gilbert-elliott", "p": p, "r": r, "loss_good": good, "loss_bad": bad}
