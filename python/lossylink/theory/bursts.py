"""Losses in bursts: what a block code and link-level retry leave lost along a Gilbert-Elliott chain.

The chain has a good and a bad state. A frame meets the loss chance of the present state, then the chain
steps: to bad with p, to good with r (Gilbert 1960, Elliott 1963). On a busy line every place is taken, so the
chain steps once a frame, and the places of a frame and of what may replace it follow from the protocol:

* a block code sends k data and h parity frames back to back;
* link-level retry sends a frame, its first replay W frames later, and each further one a window later.

What LinkGuardian's copies leave is computed in Rust, where their number is decided (LG-19):
``lossylink._native.copies_leave``.

With p + r = 1 the chain has no memory, and everything here equals the closed forms for independent losses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

import numpy as np

from lossylink.statistics import arguments
from lossylink.statistics.arguments import FloatArray
from lossylink.theory.burst_lengths import BurstLengths

NEGLIGIBLE: Final = 1e-16
"""Runs of losses that are this rare among losses are not followed any further."""


@dataclass(frozen=True, kw_only=True)
class Chain:
    """A Gilbert-Elliott chain."""

    to_bad: float
    """p, from good to bad, a frame."""
    to_good: float
    """r, from bad to good, a frame."""
    loss_good: float = 0.0
    loss_bad: float = 1.0

    def __post_init__(self) -> None:
        """Refuse what is no chain."""
        for name in ("to_bad", "to_good", "loss_good", "loss_bad"):
            arguments.ratio(name, getattr(self, name))
        if self.to_bad + self.to_good == 0:
            raise ValueError("to_bad and to_good must not both be 0, or the chain never moves")

    @classmethod
    def of(cls, native: dict[str, Any]) -> Chain:
        """Return the chain of a loss process, given as the simulator's JSON."""
        return cls(
            to_bad=native["p"],
            to_good=native["r"],
            loss_good=native["loss_good"],
            loss_bad=native["loss_bad"],
        )

    @classmethod
    def of_bursts(cls, *, loss_ratio: float, burst_frames: float) -> Chain:
        """Return the chain that loses all of its bad state, from its mean loss and mean burst.

        Raises
        ------
        ValueError
            When bursts so short cannot reach that mean.

        Examples
        --------
        >>> Chain.of_bursts(loss_ratio=0.1, burst_frames=3).loss_ratio
        0.1
        """
        mean = float(arguments.open_ratio("loss_ratio", loss_ratio))
        return cls(to_bad=mean / (burst_frames * (1 - mean)), to_good=1 / burst_frames)

    @classmethod
    def of_fades(cls, *, clear_s: float, fade_s: float, spacing_s: float) -> Chain:
        """Return the chain that frames meet which begin ``spacing_s`` apart on a link that fades.

        Visits to the clear and the faded state have exponential lengths with these means, in seconds; a frame
        that begins in a fade is lost. What one frame leaves of a state's surplus is
        exp(-spacing (1/clear + 1/fade)).

        Examples
        --------
        >>> chain = Chain.of_fades(clear_s=0.98, fade_s=0.02, spacing_s=1e-3)
        >>> round(chain.loss_ratio, 12), round(1 / chain.to_good, 2)
        (0.02, 20.51)
        """
        share = fade_s / (clear_s + fade_s)
        moved = -math.expm1(-spacing_s * (1 / clear_s + 1 / fade_s))
        return cls(to_bad=share * moved, to_good=(1 - share) * moved)

    @classmethod
    def without_memory(cls, loss_ratio: float) -> Chain:
        """Return independent losses as a chain.

        Examples
        --------
        >>> Chain.without_memory(0.25).fading
        0.0
        """
        return cls(to_bad=loss_ratio, to_good=1 - loss_ratio)

    @property
    def native(self) -> dict[str, Any]:
        """The chain as JSON of ``core::loss::LossModel``."""
        return {
            "model": "gilbert-elliott",
            "p": self.to_bad,
            "r": self.to_good,
            "loss_good": self.loss_good,
            "loss_bad": self.loss_bad,
        }

    @property
    def stationary(self) -> FloatArray:
        """Shares of the good and of the bad state in the long run."""
        bad = self.to_bad / (self.to_bad + self.to_good)
        return np.array([1 - bad, bad])

    @property
    def loss(self) -> FloatArray:
        """Loss chances of the two states."""
        return np.array([self.loss_good, self.loss_bad])

    @property
    def loss_ratio(self) -> float:
        """Share of frames lost in the long run."""
        return float(
            (self.to_bad * self.loss_bad + self.to_good * self.loss_good) / (self.to_bad + self.to_good)
        )

    @property
    def fading(self) -> float:
        """What a frame leaves of a state's surplus over its share: 1 - p - r."""
        return 1 - self.to_bad - self.to_good

    @property
    def step(self) -> FloatArray:
        """The matrix of one step."""
        return np.array([[1 - self.to_bad, self.to_bad], [self.to_good, 1 - self.to_good]])

    def steps(self, frames: float) -> FloatArray:
        """The matrix of many steps."""
        return np.asarray(self.stationary + self.fading ** round(frames) * (np.eye(2) - self.stationary))

    def scaled(self, loss_ratio: float) -> Chain:
        """Return a chain with another mean loss whose bad visits last as long.

        Bad visits come more or less often; where that cannot reach the mean, the loss chances are scaled as
        well.
        """
        low, high = sorted((self.loss_good, self.loss_bad))
        if self.loss_bad > self.loss_good and low < loss_ratio < high and self.to_good > 0:
            bad = (loss_ratio - self.loss_good) / (self.loss_bad - self.loss_good)
            to_bad = self.to_good * bad / (1 - bad)
            if to_bad <= 1:
                return replace(self, to_bad=to_bad)
        factor = loss_ratio / self.loss_ratio
        good, bad = min(1.0, self.loss_good * factor), min(1.0, self.loss_bad * factor)
        return replace(self, loss_good=good, loss_bad=bad)

    @property
    def mean_run(self) -> float:
        """Mean length of a run of lost frames; without memory they are still 1 / (1 - p) long."""
        begins = float(((self.stationary * (1 - self.loss)) @ self.step) @ self.loss)
        return self.loss_ratio / begins if begins else np.inf

    @property
    def dispersion(self) -> float:
        """How much larger the variance of a long count of losses is than that of independent ones.

        Neighbours in a burst tell less than frames apart; their correlation fades by 1 - p - r a frame.

        Examples
        --------
        >>> round(Chain(to_bad=0.001, to_good=0.05).dispersion, 1)  # (1 + 0.949) / (1 - 0.949)
        38.2
        """
        bad, mean = float(self.stationary[1]), self.loss_ratio
        if not 0 < mean < 1 or self.fading == 1:
            return 1.0
        together = bad * (1 - bad) * (self.loss_bad - self.loss_good) ** 2 * self.fading / (1 - self.fading)
        return 1 + 2 * together / (mean * (1 - mean))


def requested_share(chain: Chain, *, holes: int) -> float:
    """Return the share of lost frames that are among the first so many of their run of losses (LG-9).

    Examples
    --------
    >>> round(requested_share(Chain.of_bursts(loss_ratio=0.01, burst_frames=10), holes=5), 3)
    0.41
    """
    at = (chain.stationary * (1 - chain.loss)) @ chain.step
    asked = 0.0
    for _ in range(holes):
        asked += float(at @ chain.loss)
        at = (at * chain.loss) @ chain.step
    return min(1.0, asked / chain.loss_ratio)


Process = Chain | BurstLengths
"""Losses in bursts, as a chain over frames."""


def losses_among(chain: Process, *, frames: int) -> FloatArray:
    """Return the chance of each number of losses, 0 to ``frames``, among consecutive frames.

    Examples
    --------
    >>> losses_among(Chain.without_memory(0.5), frames=2)
    array([0.25, 0.5 , 0.25])
    """
    chances: FloatArray = _data_losses(chain, most=frames)[frames].sum(axis=1)
    return chances


@lru_cache(maxsize=16)
def _data_losses(chain: Process, *, most: int) -> FloatArray:
    """Chance of [frames, losses among them, state after them], from the stationary state on."""
    table = np.zeros((most + 1, most + 1, chain.loss.size))
    table[0, 0] = chain.stationary
    step = chain.step
    for frames in range(1, most + 1):
        before = table[frames - 1]
        table[frames] = (before * (1 - chain.loss)) @ step
        table[frames, 1:] += (before[:-1] * chain.loss) @ step
    return table


@lru_cache(maxsize=16)
def _parity_losses(chain: Process, *, most: int) -> FloatArray:
    """Chance of [frames, at least so many losses among them, state before them]."""
    exactly = np.zeros((most + 1, most + 2, chain.loss.size))
    exactly[0, 0] = 1.0
    step = chain.step.T
    for frames in range(1, most + 1):
        after = exactly[frames - 1] @ step
        exactly[frames] = (1 - chain.loss) * after
        exactly[frames, 1:] += chain.loss * after[:-1]
    return np.asarray(np.cumsum(exactly[:, ::-1], axis=1)[:, ::-1])


def block_residual_ratio(
    chain: Process, *, data_packets: int, parity_packets: int, parity_chain: Process | None = None
) -> FloatArray:
    """Return what a block code leaves lost, for every code up to a size.

    A block of k data and h parity frames keeps its lost data when more than h of its frames are lost. Its
    frames take consecutive places, and blocks follow each other, so a block begins in the stationary state:
    E[data lost; more than h lost] / k, summed over all positive terms.

    Parameters
    ----------
    chain
        The losses of data frames.
    data_packets, parity_packets
        The largest k and h.
    parity_chain
        The losses of parity frames where they differ, being longer; the same states.

    Returns
    -------
    float64 array
        By k - 1 and h - 1.

    Examples
    --------
    >>> chain = Chain.of_bursts(loss_ratio=0.01, burst_frames=4)
    >>> f"{block_residual_ratio(chain, data_packets=25, parity_packets=5)[-1, -1]:.2e}"
    '5.16e-03'
    """
    data = _data_losses(chain, most=data_packets)
    parity = _parity_losses(parity_chain or chain, most=parity_packets)
    residual = np.empty((data_packets, parity_packets))
    lost = np.arange(data_packets + 1)
    weighted = data[1:] * lost[np.newaxis, :, np.newaxis]
    for h in range(1, parity_packets + 1):
        # With j data frames lost, h + 1 - j lost parity frames are one too many.
        beyond = parity[h, np.maximum(0, h + 1 - lost)]
        residual[:, h - 1] = np.einsum("kjs,js->k", weighted, beyond)
    return np.asarray(residual / np.arange(1, data_packets + 1)[:, np.newaxis])


def block_losses_given_one(chain: Process, *, data_packets: int, parity_packets: int) -> float:
    """Return how many frames a block loses on average, seen from a data frame that was lost and rebuilt.

    Examples
    --------
    >>> round(block_losses_given_one(Chain.without_memory(1e-6), data_packets=5, parity_packets=2), 4)
    1.0
    """
    k, h = data_packets, parity_packets
    data = _data_losses(chain, most=k)[k]
    at_least = _parity_losses(chain, most=h)[h]
    exactly = at_least[:-1] - at_least[1:]
    weight = total = 0.0
    for lost in range(1, min(k, h) + 1):
        for parity in range(h - lost + 1):
            chance = lost * float(data[lost] @ exactly[parity])
            weight += chance
            total += chance * (lost + parity)
    return total / weight if weight else 1.0


@dataclass(frozen=True, kw_only=True)
class Retry:
    """What link-level retry makes of a chain."""

    residual_loss_ratio: float
    """Share of the offered frames that stays lost."""
    delivered_share: float
    """Share of the line that a busy sender delivers."""


def link_level_retry(
    chain: Chain,
    *,
    replays: int,
    lag_frames: float,
    window_frames: int,
    timer_frames: float,
    init_frames: float,
) -> Retry:
    """Return what link-level retry leaves lost and delivers under a chain.

    The process renews itself with every *head*, the first frame that has not arrived: its turns decide, and
    all else is sent again with it. A lost head is shown by the next frame that arrives, and replayed W - 1
    frames after that; if the whole window is lost nothing shows it, and the timer replays it. What has been
    asked for is not asked for again: a lost replay of it is followed by the rest of the window, then silence
    until the timer. The chain stands still in silence, for it steps with frames. After r replays the window
    is given up. INIT goes, and again after the timer if it is lost; frames go without a number until its
    echo. The state at a head's first turn is the fixed point of one such cycle.

    Parameters
    ----------
    chain
        The losses.
    replays
        r, below 255.
    lag_frames, window_frames, timer_frames, init_frames
        W, F, R and U of `lossylink.theory.llr`; U for an INIT that is not lost.

    Examples
    --------
    >>> sizes = {"lag_frames": 20, "window_frames": 25, "timer_frames": 90, "init_frames": 12}
    >>> retry = link_level_retry(Chain.without_memory(0.01), replays=2, **sizes)
    >>> f"{retry.residual_loss_ratio:.4e} {retry.delivered_share:.3f}"
    '2.5128e-05 0.827'
    """
    shown, shown_later, unseen = _discovery(chain, window_frames)
    step, keep, lose = chain.step, np.diag(1 - chain.loss), np.diag(chain.loss)
    asked_for = shown @ chain.steps(lag_frames - 1)
    again = lose @ step @ chain.steps(window_frames - 1)
    found_out = shown.sum(axis=1) * lag_frames + shown_later + unseen.sum(axis=1) * timer_frames
    # From the head's first turn to its present one, before and after it was asked for; times as columns.
    silent, asked = np.eye(2), np.zeros((2, 2))
    arrived, waiting = np.zeros((2, 2)), np.zeros(2)
    for _ in range(replays + 1):
        arrived = arrived + (silent + asked) @ keep @ step
        waiting = waiting + silent @ found_out + timer_frames * (asked @ chain.loss)
        silent, asked = silent @ unseen, silent @ asked_for + asked @ again
    flushed = silent + asked
    # INIT goes until one arrives, frames without a number meanwhile and until its echo is there.
    repeat = lose @ step @ chain.steps(timer_frames)
    attempts = flushed @ np.linalg.inv(np.eye(2) - repeat)
    at_head = _fixed_point(arrived + attempts @ keep @ step @ chain.steps(init_frames))
    flushes, tried = float((at_head @ flushed).sum()), at_head @ attempts
    failed, agreed = (tried * chain.loss) @ step, (tried * (1 - chain.loss)) @ step
    bare = timer_frames * float(failed.sum()) + init_frames * flushes
    lost_bare = _losses_from(chain, failed, timer_frames) + _losses_from(chain, agreed, init_frames)
    offered = 1 - flushes + flushes * window_frames + bare
    lost = flushes * window_frames + lost_bare
    time = 1 + float(at_head @ waiting) + bare
    delivered = (1 - flushes + bare - lost_bare) / time
    return Retry(residual_loss_ratio=lost / offered, delivered_share=delivered)


def _discovery(chain: Chain, window_frames: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """How a lost head is found out, by the state at its turn.

    Returns the state at the frame that shows it, the frames lost on the way, and the state behind a window
    that is lost whole.
    """
    step, keep, lose = chain.step, np.diag(1 - chain.loss), np.diag(chain.loss)
    at = lose @ step
    shown, later = np.zeros((2, 2)), np.zeros(2)
    for more in range(window_frames - 1):
        arrives = at @ keep
        shown += arrives
        later += more * arrives.sum(axis=1)
        at = at @ lose @ step
        if float(at.max()) < NEGLIGIBLE:
            break
    return shown, later, at


def _fixed_point(cycle: FloatArray) -> FloatArray:
    """The states that a cycle of two leaves as they are; its rows sum to one."""
    leave_good, leave_bad = cycle[0, 1], cycle[1, 0]
    if leave_good + leave_bad == 0:
        return np.array([1.0, 0.0])
    return np.asarray(np.array([leave_bad, leave_good]) / (leave_good + leave_bad))


def _losses_from(chain: Chain, at: FloatArray, frames: float) -> float:
    """Mean losses among frames that follow a state."""
    whole = float(at.sum())
    surplus = float((at - whole * chain.stationary) @ chain.loss)
    fading = chain.fading
    remembered = frames if fading == 1 else (1 - fading ** round(frames)) / (1 - fading)
    return float(whole * chain.loss_ratio * frames + surplus * remembered)
