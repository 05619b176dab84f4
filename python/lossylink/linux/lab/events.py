"""What happens to a guard, in words, from its counters: a line for each event, for terminals and journals."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lossylink.errors import RunError
from lossylink.linux.lab.automatic import Automatic
from lossylink.linux.lab.plane import PlaneClient
from lossylink.linux.lab.settings import read_protection

#: How often the counters are looked at, in seconds.
_LOOK_SECONDS = 1.0
#: Over how long corruption is added up before it is told, in seconds.
_REPORT_SECONDS = 10.0
#: How long a line about strangers is not said again, in seconds: their messages come without end.
_REMIND_SECONDS = 600.0
#: How often a guard that is starting is asked, in seconds.
_START_SECONDS = 0.05

Report = Mapping[str, Any]


def happened(before: Report, after: Report) -> Iterator[str]:
    """Yield what became different between two looks at a guard's counters.

    Examples
    --------
    >>> quiet = {"peer": "absent: passing frames unprotected", "peer_protection": "none", "protection": "lg",
    ...          "loop_us": None, "stuck": 0, "stood_aside": 0, "peer_lan_frame_bytes": None,
    ...          "lan_frame_bytes": 1514, "path": False, "too_narrow": False}
    >>> found = quiet | {"peer": "agreed", "peer_protection": "lg", "loop_us": 212.0}
    >>> list(happened(quiet, found))
    ['peer found: this end protects by lg, the peer by lg, round trip 212 us']
    >>> list(happened(found, quiet))
    ['peer lost: frames pass unprotected']
    >>> list(happened(found, quiet | {"path": True}))
    ['peer lost: frames are dropped until it is there again']
    >>> narrow = quiet | {"too_narrow": True, "frame_bytes_needed": 1528, "frame_bytes_carried": 83}
    >>> list(happened(quiet, narrow))
    ['the peer is there, but frames of 1,528 bytes do not reach it (the longest that did: 83): frames pass
      unprotected; raise the MTU of the link']
    """
    was, is_now = (_standing(report) for report in (before, after))
    yield from _too_long(before, after)
    if is_now == "agreed" and was != "agreed":
        yield f"peer found: {agreement(after)}"
    elif is_now == "agreed" and _protections(before) != _protections(after):
        yield f"agreed anew: {agreement(after)}"
    elif is_now != "agreed" and was == "agreed":
        until = "frames are dropped until it is there again"
        yield f"peer lost: {until if after['path'] else 'frames pass unprotected'}"
    if after["stood_aside"] > before["stood_aside"]:
        which = "are dropped" if after["path"] else "pass unprotected"
        yield f"nothing moved twice in 10 s: frames {which} for 5 s"
    elif after["stuck"] > before["stuck"]:
        yield "nothing moved for 500 ms: a new session was begun"


def corruption(before: Report | None, after: Report, *, seconds: float) -> Iterator[str]:
    """Yield for each direction what the link has corrupted between two looks, if anything (G-33).

    Without an earlier look it is what was corrupted since the guard started.

    Examples
    --------
    >>> def looked(frames, lost, missing):
    ...     count = {"frames": frames, "lost": lost, "contents": frames, "missing": missing}
    ...     return {"arriving": count, "leaving": dict.fromkeys(count, 0)}
    >>> list(corruption(looked(100, 0, 0), looked(9_100, 20, 1), seconds=10))
    ['corrupted on the way here: 20 of 9,000 frames in 10 s (2.22e-03, 95 % between 1.4e-03 and 3.4e-03 if
      each by itself); after repairs 1 of 9,000 frames of the LAN missing']
    >>> list(corruption(looked(100, 7, 0), looked(200, 7, 0), seconds=10))
    []
    """
    for name, way in (("arriving", "here"), ("leaving", "to the peer")):
        then, now = {} if before is None else before[name], after[name]
        more = {key: now[key] - then.get(key, 0) for key in ("frames", "lost", "contents", "missing")}
        if more["lost"] <= 0:
            continue
        from lossylink.statistics.estimates import binomial_interval  # scipy waits until something was lost

        # A message may tell of a loss before it tells of the frames around it.
        frames = max(more["frames"], more["lost"])
        share = binomial_interval(more["lost"], frames)
        yield (
            f"corrupted on the way {way}: {more['lost']:,} of {frames:,} frames in {seconds:.0f} s "
            f"({share.value:.2e}, 95 % between {share.low:.1e} and {share.high:.1e} if each by itself); "
            f"after repairs {more['missing']:,} of {more['contents']:,} frames of the LAN missing"
        )


def tell(plane: PlaneClient, say: Callable[[str], None], automatic: Automatic | None = None) -> None:
    """Say what happens to a guard as long as this process lives, and do what ``automatic`` decides."""
    wait = threading.Event()
    before = _first(plane, wait)
    say(f"protects by {before['protection']}; looks for a guard at the far end")
    strangers = Strangers()
    reported, reported_at = before, time.monotonic()
    before = {**before, "peer": "absent"}
    while True:
        try:
            after = plane.counters()["guards"]["guard"]
            if automatic is not None:
                _obey(plane, say, automatic, after)
        except RunError:
            # A guard that was kept from running answers again; one that ends takes this thread along.
            wait.wait(_LOOK_SECONDS)
            continue
        for line in happened(before, after):
            say(line)
        for line in strangers.lines(before, after, time.monotonic()):
            say(line)
        before, seconds = after, time.monotonic() - reported_at
        if seconds >= _REPORT_SECONDS:
            for line in corruption(reported, after, seconds=seconds):
                say(line)
            reported, reported_at = after, time.monotonic()
        wait.wait(_LOOK_SECONDS)


def _obey(plane: PlaneClient, say: Callable[[str], None], automatic: Automatic, report: Report) -> None:
    """Do what an automatic decides."""
    decision = automatic.look(report, time.monotonic())
    if decision is None:
        return
    plane.ask("protect", protection=read_protection(decision.protection).live_value)
    say(f"{decision.because}: {decision.protection}")


def _first(plane: PlaneClient, wait: threading.Event) -> Report:
    """Return the first report of a guard that is starting."""
    while True:
        try:
            report: Report = plane.counters()["guards"]["guard"]
        except RunError:
            wait.wait(_START_SECONDS)
        else:
            return report


def _standing(report: Report) -> str:
    """Return the first word of the peer: absent, known or agreed."""
    return str(report["peer"]).split(":")[0]


def agreement(report: Report) -> str:
    """Return how both ends protect, and the round trip between them once it is measured."""
    loop_us = report["loop_us"]
    words = "this end protects by {}, the peer by {}".format(*_protections(report))
    return words if loop_us is None else f"{words}, round trip {loop_us:.0f} us"


def _protections(report: Report) -> tuple[str, str]:
    return report["protection"], report["peer_protection"]


def _too_long(before: Report, after: Report) -> Iterator[str]:
    """Yield what is said of lengths: the LANs differ, or the link carries only short frames."""
    theirs, ours = after["peer_lan_frame_bytes"], after["lan_frame_bytes"]
    if theirs not in (None, ours, before["peer_lan_frame_bytes"]):
        yield (
            f"frames of the peer's LAN have up to {theirs:,} bytes, those of this one up to {ours:,}: longer "
            "ones are dropped; give both guards the same --mtu"
        )
    if after["too_narrow"] and not before["too_narrow"]:
        yield (
            f"the peer is there, but frames of {after['frame_bytes_needed']:,} bytes do not reach it (the "
            f"longest that did: {after['frame_bytes_carried']:,}): frames pass unprotected; raise the MTU of "
            "the link"
        )


class Strangers:
    """Says who sends messages that are none of the peer's, once in ten minutes for each reason.

    Examples
    --------
    >>> quiet = {"peer": "absent", "other_seal": 0, "other_version": 0, "path": True}
    >>> strangers = Strangers()
    >>> list(strangers.lines(quiet, quiet | {"other_seal": 1}, 5.0))
    ['messages arrive that are not sealed as ours: both ends need the same --key-file']
    >>> list(strangers.lines(quiet, quiet | {"other_seal": 1}, 6.0))
    []
    """

    def __init__(self) -> None:
        self._said_at: dict[str, float] = {}

    def lines(self, before: Report, after: Report, now_seconds: float) -> Iterator[str]:
        """Yield what is to be said after a look; a peer that has been there since makes all of it new."""
        if _standing(after) == "agreed":
            self._said_at.clear()
            return
        for line in _strangers(before, after):
            if now_seconds - self._said_at.get(line, -_REMIND_SECONDS) >= _REMIND_SECONDS:
                self._said_at[line] = now_seconds
                yield line


def _strangers(before: Report, after: Report) -> Iterator[str]:
    if after["other_seal"] > before["other_seal"]:
        mend = "both ends need the same --key-file" + ("" if after["path"] else ", or none")
        yield f"messages arrive that are not sealed as ours: {mend}"
    if after["other_version"] > before["other_version"]:
        yield (
            f"messages of version {after['other_version_heard']} of the guards' protocol arrive, which this "
            "end does not speak: install the same lossylink at both ends"
        )
