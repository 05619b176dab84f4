"""The link that is planned for, what it loses, and the times that its frames take."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from lossylink.errors import UserError
from lossylink.scenario.loss import Loss, is_independent, mean_of
from lossylink.scenario.profiles import load_profile
from lossylink.units import CHECK_BYTES

if TYPE_CHECKING:
    from lossylink.planning.line import LineLosses
    from lossylink.theory.bursts import Chain, Process

BITS_PER_BYTE: Final = 8
PICOSECONDS: Final = 10**12
NANOSECOND_S: Final = 1e-9

FRAMING_BYTES: Final = 24
"""Octets on the wire beyond a frame: check sequence 4, preamble and start 8, gap 12 (IEEE 802.3)."""

SHORTEST_FRAME_BYTES: Final = 60
LONGEST_FRAME_BYTES: Final = 9_014

PROBE_FRAMES: Final = 200_000
"""Frames of a short run that a prediction rests on: a fifth of a second or less."""

MOST_PROBE_FRAMES: Final = 2_000_000
"""The longest such run: one that listed losses or a recording ask for."""


@dataclass(frozen=True, kw_only=True)
class Link:
    """A link, what it corrupts, and the switches at its ends."""

    rate_bps: int
    propagation_ps: int
    loss_ratio: float
    """Frames corrupted in the long run; each on its own unless ``loss`` says otherwise."""
    frame_bytes: int = 1_514
    """Ethernet frame without its check sequence."""
    switch: str = "tofino1"
    """Name of a switch profile, or a TOML file."""
    loss: Loss | None = None
    """The loss process; see `Link.losing`."""

    def __post_init__(self) -> None:
        """Refuse what cannot be planned for."""
        if not 0 < self.loss_ratio < 1:
            raise UserError(
                f"a loss of {self.loss_ratio:g} leaves nothing to plan; give a ratio between 0 and 1"
            )
        if not SHORTEST_FRAME_BYTES <= self.frame_bytes <= LONGEST_FRAME_BYTES:
            bounds = f"{SHORTEST_FRAME_BYTES} to {LONGEST_FRAME_BYTES} B"
            raise UserError(f"a frame of {self.frame_bytes} B does not fit Ethernet; give {bounds}")

    @classmethod
    def losing(cls, loss: Loss, *, frame_bytes: int = 1_514, **rest: Any) -> Link:
        """Return a link with a loss process of any kind.

        Raises
        ------
        UserError
            When it loses nothing or all, or lists a frame that no short run reaches.

        Examples
        --------
        >>> from lossylink.scenario.loss import parse_loss
        >>> bursts = parse_loss("gilbert-elliott:mean=1e-2,burst=4")
        >>> Link.losing(bursts, rate_bps=10**11, propagation_ps=0).loss_ratio
        0.01
        """
        model = loss.native["model"]
        ratio = mean_of(loss.native)
        if model == "bit-error-rate":
            ratio = _any_bit(loss.native["ber"], frame_bytes + CHECK_BYTES)
        elif model == "phy":
            ratio = _line_losses(loss, rest["rate_bps"]).ratio(frame_bytes + CHECK_BYTES)
        elif model == "at":
            last = max(loss.native["positions"])
            if last >= MOST_PROBE_FRAMES:
                raise UserError(
                    f"a plan runs at most {MOST_PROBE_FRAMES} frames, and the loss lists frame {last}; "
                    "list earlier ones, or give their ratio"
                )
            ratio = len(loss.native["positions"]) / max(PROBE_FRAMES, last + 1)
        assert ratio is not None
        if ratio == 0 and model == "trace":
            raise _none_recorded(len(loss.native["lost"]))
        return cls(loss_ratio=ratio, frame_bytes=frame_bytes, loss=loss, **rest)

    @property
    def native_loss(self) -> Mapping[str, Any]:
        """The loss process as the simulator's JSON."""
        return self.loss.native if self.loss else {"model": "bernoulli", "p": self.loss_ratio}

    @property
    def is_independent(self) -> bool:
        """Whether each frame is lost on its own."""
        return is_independent(self.native_loss) or self.native_loss["model"] == "bit-error-rate"

    @property
    def is_listed(self) -> bool:
        """Whether the losses are a list or a recording, for which nothing but a run of them will do."""
        return self.native_loss["model"] in {"at", "trace"}

    @property
    def chain(self) -> Chain | None:
        """The chain of losses in bursts; of a list or a recording the chain with its mean loss and burst.

        Of bursts that last a time it is the chain that frames meet which follow each other at line rate.
        """
        from lossylink.theory.bursts import Chain  # numpy, which help texts do without

        if self.is_independent:
            return None
        if self.native_loss["model"] == "gilbert-elliott":
            return Chain.of(dict(self.native_loss))
        if self.native_loss["model"] == "fades":
            return Chain.of_fades(
                clear_s=self.native_loss["clear_ps"] / PICOSECONDS,
                fade_s=self.native_loss["fade_ps"] / PICOSECONDS,
                spacing_s=self.serialisation_s(),
            )
        return Chain.of_bursts(loss_ratio=self.loss_ratio, burst_frames=self.mean_burst())

    @property
    def process(self) -> Process | None:
        """The losses in bursts as a chain over frames: behind the line's code with the lengths that it makes.

        Gaps between bursts are memoryless, as those of rare failures are.
        """
        from lossylink.theory.burst_lengths import BurstLengths  # as above

        if self.loss is None or not self.is_coded:
            return self.chain
        losses = _line_losses(self.loss, self.rate_bps)
        return BurstLengths(self.loss_ratio, losses.burst_shares(self.frame_bytes + CHECK_BYTES))

    @property
    def is_coded(self) -> bool:
        """Whether the losses are what the code of the line itself cannot correct."""
        return bool(self.native_loss["model"] == "phy")

    def mean_burst(self) -> float:
        """Mean length of a run of losses in a list or a recording, or behind the code of the line."""
        native = self.native_loss
        if self.loss is not None and self.is_coded:
            least = 1 / (1 - self.loss_ratio)
            losses = _line_losses(self.loss, self.rate_bps)
            return max(losses.mean_burst(self.frame_bytes + CHECK_BYTES), least)
        lost = (
            native["positions"]
            if "positions" in native
            else [i for i, is_lost in enumerate(native["lost"]) if is_lost]
        )
        runs = sum(position - before != 1 for before, position in zip([-2, *lost], lost, strict=False))
        return max(float(len(lost) / runs), 1 / (1 - self.loss_ratio))

    @property
    def probe_frames(self) -> int:
        """Frames of a short run: enough for every listed loss, and for a recording if it is not too long."""
        native = self.native_loss
        wanted = max(native["positions"]) + 1 if "positions" in native else len(native.get("lost", ()))
        return max(PROBE_FRAMES, min(wanted, MOST_PROBE_FRAMES))

    @property
    def shown_frames(self) -> int:
        """Frames of a short run that show something: a recording that is repeated shows nothing more."""
        return min(self.probe_frames, len(self.native_loss.get("lost", ())) or self.probe_frames)

    def frame_loss_ratio(self, more_bytes: int = 0) -> float:
        """Share of frames lost that are ``more_bytes`` longer; bit errors and codes of a line care."""
        if self.loss is not None and self.is_coded:
            octets = self.frame_bytes + CHECK_BYTES + more_bytes
            return _line_losses(self.loss, self.rate_bps).ratio(octets)
        if self.native_loss["model"] != "bit-error-rate":
            return self.loss_ratio
        return _any_bit(self.native_loss["ber"], self.frame_bytes + CHECK_BYTES + more_bytes)

    def at(self, loss_ratio: float) -> Link:
        """Return the link with another mean loss.

        Bursts last as long. Lists count as a chain. A line with a code has another bit error ratio.
        """
        from lossylink.theory.bursts import Chain  # as above

        if self.loss is not None and self.is_coded:
            line = _line_losses(self.loss, self.rate_bps)
            bits = line.bit_error_ratio_for(loss_ratio, self.frame_bytes + CHECK_BYTES)
            return replace(self, loss_ratio=loss_ratio, loss=Loss.of({**self.loss.native, "ber": bits}))
        chain = self.chain
        if chain is None:
            return replace(self, loss_ratio=loss_ratio, loss=_scaled_bits(self, loss_ratio))
        try:
            scaled = chain.scaled(loss_ratio)
        except ValueError:  # bursts so short cannot reach that mean
            scaled = Chain.without_memory(loss_ratio)
        return replace(self, loss_ratio=loss_ratio, loss=Loss.of(scaled.native))

    @cached_property
    def profile(self) -> dict[str, Any]:
        """The switch profile's table."""
        return load_profile("switch", self.switch)

    @property
    def wire_bytes(self) -> int:
        """Octets that a frame takes on the wire."""
        return self.frame_bytes + FRAMING_BYTES

    @property
    def propagation_s(self) -> float:
        """One-way delay of the cable, beyond what the switch profile contains."""
        return self.propagation_ps / PICOSECONDS

    def serialisation_s(self, more_bytes: int = 0) -> float:
        """Seconds for which a frame, ``more_bytes`` longer, occupies the wire.

        Examples
        --------
        >>> link = Link(rate_bps=10**10, propagation_ps=0, loss_ratio=1e-3)
        >>> f"{link.serialisation_s() * 1e6:.4f} us"
        '1.2304 us'
        """
        return (self.wire_bytes + more_bytes) * BITS_PER_BYTE / self.rate_bps

    def bytes_in(self, seconds: float) -> float:
        """Bytes that pass in a time at line rate."""
        return self.rate_bps * seconds / BITS_PER_BYTE


def _line_losses(loss: Loss, rate_bps: int) -> LineLosses:
    from lossylink.planning.line import LineLosses  # numpy, which help texts do without

    return LineLosses.of(loss.native_at(rate_bps))


def _none_recorded(frames: int) -> UserError:
    """A recording without a loss bounds the loss of its link, and is nothing to plan for."""
    bound = -math.log1p(-0.95) / frames
    return UserError(
        f"none of {frames:,} recorded frames was lost: the loss is at most {bound:.2g} at 95 % (one-sided), "
        f"and there is nothing to plan for; record longer, or plan for that bound: --loss {bound:.2g}"
    )


def _any_bit(bit_error_rate: float, frame_bytes: int) -> float:
    """The chance that at least one bit of a frame errs."""
    if bit_error_rate >= 1:
        return 1.0
    return -math.expm1(BITS_PER_BYTE * frame_bytes * math.log1p(-bit_error_rate))


def _scaled_bits(link: Link, loss_ratio: float) -> Loss | None:
    """Bit errors with which a frame of this link is lost with another chance."""
    if link.native_loss["model"] != "bit-error-rate":
        return None
    bits = BITS_PER_BYTE * (link.frame_bytes + CHECK_BYTES)
    return Loss.of({"model": "bit-error-rate", "ber": -math.expm1(math.log1p(-loss_ratio) / bits)})
