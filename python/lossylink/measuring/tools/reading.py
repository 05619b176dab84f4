"""What another tool counted: packets sent and lost, in batches whose differences tell of clusters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from scipy import stats

from lossylink.measuring.fit import DOUBT, NO_LOSS, Decision, Evidence, Fit, Kind
from lossylink.measuring.ratios import by_batches, none_lost
from lossylink.scenario.loss import Loss, parse_loss
from lossylink.statistics.estimates import Estimate, clustered_interval
from lossylink.theory.bursts import Chain

FEWEST_BATCHES: Final = 5
"""Batches below which nothing is said about how losses come together."""


class Batch(NamedTuple):
    """What was counted of one interval or one connection."""

    sent: int
    lost: int


def summed(batches: Iterable[Batch]) -> Batch:
    """Return what was counted in all batches together."""
    found = list(batches)
    return Batch(sum(one.sent for one in found), sum(one.lost for one in found))


@dataclass(frozen=True)
class Reading:
    """The counts of one direction, or the losses that a tool was told to make."""

    title: str
    """The direction in words."""
    unit: str
    """What was counted, such as ``datagrams``."""
    batches: tuple[Batch, ...] = ()
    notes: tuple[str, ...] = ()
    """What the counts cannot tell, and what was left out, in sentences."""
    loss: Loss | None = None
    """The process where the tool was told one; without it losses are taken as independent."""
    batch: str = "interval"
    """What a batch is of."""
    lost_word: str = "lost"
    """What became of those that are counted as losses, such as ``sent again``."""

    @property
    def sent(self) -> int:
        """Packets in all."""
        return summed(self.batches).sent

    @property
    def lost(self) -> int:
        """Lost ones in all."""
        return summed(self.batches).lost

    def fit(self) -> Fit:
        """Return the loss model of the counts, with an interval as wide as their batches differ."""
        if self.loss is not None:
            return self._told(self.loss)
        sent, lost = self.sent, self.lost
        loss, verdict = NO_LOSS, f"none of {sent:,} {self.unit} was {self.lost_word}"
        if lost:
            loss, verdict = parse_loss(f"{lost / sent:.6g}"), self._verdict()
        decision, chance = self._decision(), self._chance()
        is_rejected = decision.kind in {Kind.BURSTY, Kind.APART}
        ratio = by_batches([(batch.lost, batch.sent) for batch in self.batches])
        return Fit(sent, lost, loss, ratio, decision, verdict, p_value=chance, is_rejected=is_rejected)

    def _told(self, loss: Loss) -> Fit:
        """What a tool was told, beside what it counted while it did so."""
        mean = loss.mean or 0.0
        chain = Chain.of(loss.native) if loss.native["model"] == "gilbert-elliott" else None
        run = chain.mean_run if chain else None
        if not self.sent:
            words = "by the parameters of netem; nothing was counted"
            return Fit(0, 0, loss, Estimate.exact(mean), Decision(Kind.TOLD), words, mean_run_frames=run)
        # Counters of one queue are one batch; the parameters say how far its losses stand together.
        factor = max(1.0, chain.dispersion) if chain else 1.0
        ratio = none_lost(self.sent)
        if self.lost:
            ratio = clustered_interval(self.lost, self.sent, design_effect=factor)
        words = f"by the parameters of netem, whose mean is {mean:.4g}; the counters "
        if ratio.contains(mean):
            words += "agree"
        else:
            words += "do NOT agree: a full queue drops too, and so do counters from before a change"
        return Fit(self.sent, self.lost, loss, ratio, Decision(Kind.TOLD), words, mean_run_frames=run)

    def _verdict(self) -> str:
        chance, count = self._chance(), len(self.batches)
        if chance is None:
            what = f"{count} {self.batch}s do" if count != 1 else f"one {self.batch} does"
            return f"{what} not tell whether losses come together; taken as independent"
        times = f"{self.batch}s differ {_excess(self.batches):.3g} times as much as independent losses do"
        if chance < DOUBT:
            return f"losses come together: {times}; the mean alone is taken"
        if chance > 1 - DOUBT:
            return f"losses keep apart, as those of a queue or a counter do: {times}; the mean alone is taken"
        return f"{self.batch}s differ as independent losses do (p = {chance:.2g})"

    def _decision(self) -> Decision:
        """What kind losses are by the differences between batches: too many, too few, or neither."""
        chance = self._chance()
        if chance is None:
            return Decision(Kind.UNTOLD if self.lost else Kind.NONE_SEEN)
        if DOUBT <= chance <= 1 - DOUBT:
            return Decision(Kind.INDEPENDENT, Evidence.BATCHES, chance)
        kind = Kind.BURSTY if chance < DOUBT else Kind.APART
        return Decision(kind, Evidence.BATCHES, min(chance, 1 - chance))

    def _chance(self) -> float | None:
        """Chance of such a difference between batches if losses are independent (chi-square)."""
        if len(self.batches) < FEWEST_BATCHES or not 0 < self.lost < self.sent:
            return None
        degrees = len(self.batches) - 1
        return float(stats.chi2.sf(_excess(self.batches) * degrees, degrees))


def _excess(batches: Sequence[Batch]) -> float:
    """Return the variance of the batches over that of independent losses: Pearson's chi-square a degree."""
    sent = np.array([batch.sent for batch in batches], dtype=np.float64)
    lost = np.array([batch.lost for batch in batches], dtype=np.float64)
    share = lost.sum() / sent.sum()
    return float((((lost - share * sent) ** 2) / (share * (1 - share) * sent)).sum() / (len(batches) - 1))
