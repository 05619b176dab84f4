"""What netem's loss options mean: mean loss and runs, by the arithmetic of Linux 6 (``sch_netem.c``).

``loss random P CORRELATION`` compares P with x, where x = (1 - c) u + c x' for a uniform number u and the x'
of the packet before. Numbers made this way gather around one half. So fewer packets than P are lost where P
is below one half, which is why tc's manual calls the option deprecated. The distribution of x is the fixed
point of

    F(x) = integral from 0 to x of [F(t / c) - F((t - 1 + c) / c)] / (1 - c) dt

``loss state`` is a chain of four states: 1 delivers, 4 is a loss on its own, 3 loses in a burst, 2 delivers
within a burst. A packet is lost as the chain enters 3 or 4. Both options are told as two figures: the mean
loss, and the chance that the next packet is lost as well. A Gilbert-Elliott chain takes both; what packets
further back say is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from lossylink.statistics import arguments
from lossylink.statistics.arguments import FloatArray
from lossylink.theory.bursts import Chain

SETTLED: Final = 1e-12
"""Change of the distribution at which its iteration ends."""

MOST_ROUNDS: Final = 20_000
_POINTS: Final = 4_000
_LEAST_SHARE: Final = 1e-9
"""Smallest argument at which the distribution is told apart from zero."""


@dataclass(frozen=True)
class Clustering:
    """How many packets are lost, and how they come together."""

    loss_ratio: float
    again: float
    """Chance that the packet behind a lost one is lost as well."""

    @property
    def chain(self) -> Chain:
        """The Gilbert-Elliott chain that loses all of its bad state, with both figures.

        Examples
        --------
        >>> chain = Clustering(0.1, 0.5).chain
        >>> f"{chain.loss_ratio:.3f} {chain.mean_run:.3f}"
        '0.100 2.000'
        """
        p, again = self.loss_ratio, self.again
        if p in (0.0, 1.0):
            return Chain.without_memory(p)
        return Chain(to_bad=min(1.0, (1 - again) * p / (1 - p)), to_good=1 - again)


def correlated(loss: float, correlation: float) -> Clustering:
    """Return what ``loss random`` with a correlation loses.

    Parameters
    ----------
    loss, correlation
        Both from 0 to 1; a correlation of 1 never draws again.

    Raises
    ------
    ValueError
        When one is no ratio, or the correlation is 1.

    Examples
    --------
    >>> found = correlated(0.01, 0.25)
    >>> f"{found.loss_ratio:.2e} {found.again:.4f}"
    '2.42e-06 0.0106'
    """
    arguments.ratio("loss", loss)
    c = float(arguments.ratio("correlation", correlation))
    if c == 1:
        raise ValueError("a correlation of 100 % never draws again: all packets are lost, or none is")
    if c == 0 or loss in (0.0, 1.0):
        return Clustering(loss, loss)
    x, below = _stationary(c)
    inside = np.append(x[x < loss], loss)
    share = np.interp(inside, x, below)
    if share[-1] <= 0:
        return Clustering(0.0, 0.0)
    # The mean of P[u <= (loss - c y) / (1 - c)] over the y of a lost packet.
    middle = (inside[1:] + inside[:-1]) / 2
    chance = np.minimum(1.0, (loss - c * middle) / (1 - c))
    again = float((np.diff(share) * chance).sum() + share[0] * min(1.0, loss / (1 - c))) / float(share[-1])
    return Clustering(float(share[-1]), again)


def _stationary(c: float) -> tuple[FloatArray, FloatArray]:
    """Return points and the chance that x is below each, by iterating its equation."""
    half = np.union1d(np.geomspace(_LEAST_SHARE, 0.5, _POINTS), np.linspace(0, 0.5, _POINTS))
    x = np.concatenate((half, 1 - half[-2::-1]))
    below = x.copy()
    for _ in range(MOST_ROUNDS):
        density = (_at(x / c, x, below) - _at((x - 1 + c) / c, x, below)) / (1 - c)
        steps = np.diff(x) * (density[1:] + density[:-1]) / 2
        after = np.concatenate(([0.0], np.cumsum(steps)))
        after /= after[-1]
        if float(np.abs(after - below).max()) < SETTLED:
            break
        below = after
    return x, after


def _at(where: FloatArray, x: FloatArray, below: FloatArray) -> FloatArray:
    return np.asarray(np.interp(where, x, below, left=0.0, right=1.0))


def four_state(*, p13: float, p31: float, p32: float, p23: float, p14: float) -> Clustering:
    """Return what ``loss state`` loses.

    Parameters
    ----------
    p13, p31, p32, p23, p14
        Chances of going from one state to another, as tc names them.

    Raises
    ------
    ValueError
        When one is no ratio, or two that leave the same state add up to more than 1.

    Examples
    --------
    >>> found = four_state(p13=0.01, p31=0.5, p32=0.0, p23=1.0, p14=0.0)
    >>> f"{found.loss_ratio:.6f} {found.again:.1f}"
    '0.019608 0.5'
    """
    for name, value in (("p13", p13), ("p31", p31), ("p32", p32), ("p23", p23), ("p14", p14)):
        arguments.ratio(name, value)
    for names, total in (("p13 and p14", p13 + p14), ("p31 and p32", p31 + p32)):
        if total > 1 + 1e-9:
            raise ValueError(f"{names} leave the same state, and add up to more than 100 %")
    if p13 + p14 == 0:
        return Clustering(0.0, 0.0)
    shares = _visits(p13=p13, p31=p31, p32=p32, p23=p23, p14=p14)
    lost = shares[2] + shares[3]
    if lost == 0:
        return Clustering(0.0, 0.0)
    return Clustering(float(lost), float(shares[2] * max(0.0, 1 - p31 - p32) / lost))


def _visits(*, p13: float, p31: float, p32: float, p23: float, p14: float) -> FloatArray:
    """Return the share of packets in each of the four states in the long run, begun in the first."""
    if p13 > 0 and p31 == 0:  # bursts never end: those are the only states in the end
        return _normed(0.0, p32, p23, 0.0) if p32 + p23 else np.array([0.0, 0.0, 1.0, 0.0])
    burst = p13 / p31 if p13 else 0.0
    if burst and p32 and p23 == 0:  # a burst that begins to deliver never loses again
        return np.array([0.0, 1.0, 0.0, 0.0])
    within = burst * p32 / p23 if burst and p32 else 0.0
    return _normed(1.0, within, burst, p14)


def _normed(*visits: float) -> FloatArray:
    return np.asarray(np.array(visits) / sum(visits))
