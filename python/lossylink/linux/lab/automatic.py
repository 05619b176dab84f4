"""``guard --auto``: protects what a guard sends while its link corrupts frames, and while that is worth it.

Two of the core's monitors decide from what both ends count (G-33). Losses on the way to the peer ask for
copies of frames, losses on the way back for copies of control frames (``docs/protocols/monitor.md``).
Protection that does more harm than good ends, whatever the monitors say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lossylink._native import Monitor
from lossylink.linux.lab.monitor import Policy, protection_of

#: How long protection stays off after it did harm: at first, and at most. It doubles each time.
_FIRST_REST_SECONDS = 60.0
_LONGEST_REST_SECONDS = 3600.0
#: After a change counters settle for so long before harm is counted.
_SETTLING_SECONDS = 2.0
#: Over how long harm and gain are compared: what was gained earlier excuses nothing.
_BALANCE_SECONDS = 60.0

Report = Mapping[str, Any]


@dataclass(frozen=True)
class Decision:
    """A protection to go over to, and why."""

    protection: str
    because: str


@dataclass(frozen=True)
class _Balance:
    """Frames of the LAN that protection has cost and saved so far, as far as one report knows."""

    harm: int
    gain: float

    @classmethod
    def between(cls, before: Report, after: Report) -> _Balance:
        """Compare two reports.

        Harm is what is missing at the far end after all repairs, and frames that the queue dropped while
        repetitions and control frames took their place. The gain is what would be missing without protection.

        Examples
        --------
        >>> def report(frames, lost, missing, to_link, first, dropped):
        ...     leaving = {"frames": frames, "lost": lost, "contents": first, "missing": missing}
        ...     queue = {"queue_dropped": dropped, "to_link": to_link, "to_link_first": first}
        ...     return queue | {"leaving": leaving}
        >>> start = report(0, 0, 0, 0, 0, 0)
        >>> _Balance.between(start, report(11_000, 110, 1, 11_000, 10_000, 0))
        _Balance(harm=1, gain=100.0)
        >>> _Balance.between(start, report(11_000, 110, 1, 11_000, 10_000, 5_000)).harm
        1001
        """

        def more(key: str) -> int:
            return int(after[key]) - int(before[key])

        link = {key: int(count) - int(before["leaving"][key]) for key, count in after["leaving"].items()}
        displaced = min(more("queue_dropped"), more("to_link") - more("to_link_first"))
        share = link["lost"] / link["frames"] if link["frames"] > 0 else 0.0
        return cls(link["missing"] + max(0, displaced), share * link["contents"])

    def is_surely_harmful(self, confidence: float) -> bool:
        """Return whether harm exceeds the gain by more than chance.

        Were both alike, each of the frames would be one of either with even chances.

        Examples
        --------
        >>> _Balance(harm=12, gain=2.0).is_surely_harmful(0.99)
        True
        >>> _Balance(harm=12, gain=8.0).is_surely_harmful(0.99)
        False
        """
        if self.harm <= self.gain:
            return False
        from scipy import stats

        frames = self.harm + round(self.gain)
        return float(stats.binom.sf(self.harm - 1, frames, 0.5)) <= 1 - confidence


class Automatic:
    """Decides for one guard how it protects what it sends."""

    def __init__(self, policy: Policy | None = None) -> None:
        self._policy = policy or Policy()
        self._leaving: Monitor = self._policy.monitor()
        self._arriving: Monitor = self._policy.monitor()
        self._protection = "off"
        self._resting_until = 0.0
        self._rest_seconds = _FIRST_REST_SECONDS
        #: When the present protection began, and from when and what on harm and gain are compared.
        self._began = 0.0
        self._balanced_from: tuple[float, Report] | None = None

    def look(self, report: Report, now: float) -> Decision | None:
        """Return what a guard is to go over to after this report; nothing if all stays as it is.

        Parameters
        ----------
        report
            The guard's counters, as ``guard status --json`` has them.
        now
            Seconds on any clock that goes on.
        """
        for monitor, way in ((self._leaving, "leaving"), (self._arriving, "arriving")):
            frames, lost = report[way]["frames"], report[way]["lost"]
            monitor.observe(now, frames - lost, frames)
        if now < self._resting_until:
            return None
        if (harm := self._harm(report, now)) is not None:
            return harm
        wanted = protection_of(self._leaving.copies, max(1, self._arriving.copies))
        if wanted == self._protection:
            return None
        return self._change(wanted, now, _found(self._leaving))

    def _harm(self, report: Report, now: float) -> Decision | None:
        if self._protection == "off" or now < self._began + _SETTLING_SECONDS:
            return None
        since, before = self._balanced_from or (now, report)
        balance = _Balance.between(before, report)
        if not balance.is_surely_harmful(self._policy.confidence):
            if now - self._began > self._rest_seconds:
                self._rest_seconds = _FIRST_REST_SECONDS  # it was worth it for long enough
            is_old = now - since >= _BALANCE_SECONDS
            self._balanced_from = (now, report) if is_old else (since, before)
            return None
        because = (
            f"protection does harm: {balance.harm:,} frames missing or displaced, without it "
            f"{balance.gain:,.0f} would be missing; off for {self._rest_seconds:,.0f} s"
        )
        self._resting_until = now + self._rest_seconds
        self._rest_seconds = min(2 * self._rest_seconds, _LONGEST_REST_SECONDS)
        # A monitor takes its link for unprotected at first.
        self._leaving, self._arriving = self._policy.monitor(), self._policy.monitor()
        return self._change("off", now, because)

    def _change(self, protection: str, now: float, because: str) -> Decision:
        self._protection, self._began, self._balanced_from = protection, now, None
        return Decision(protection, because)


def _found(monitor: Monitor) -> str:
    frames, corrupted = monitor.counts
    return f"{corrupted:,} of the last {frames:,} frames lost on the way to the peer"
