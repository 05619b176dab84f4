"""What happens to a guard, in words, from its counters: a line for each event, for terminals and journals."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lossylink.errors import RunError
from lossylink.lab.plane import PlaneClient
from lossylink.protections import Arrivals, family_of

#: How often the counters are looked at, in seconds.
_LOOK_SECONDS = 1.0
#: Over how long corruption is added up before it is told, in seconds.
_REPORT_SECONDS = 10.0
#: How often a guard that is starting is asked, in seconds.
_START_SECONDS = 0.05

Report = Mapping[str, Any]


def happened(before: Report, after: Report) -> Iterator[str]:
    """Yield what became different between two looks at a guard's counters.

    Examples
    --------
    >>> quiet = {"peer": "absent: passing frames unprotected", "peer_protection": "none", "protection": "lg",
    ...          "loop_us": None, "stuck": 0, "stood_aside": 0, "other_seal": 0, "other_version": 0}
    >>> found = quiet | {"peer": "agreed", "peer_protection": "lg", "loop_us": 212.0}
    >>> list(happened(quiet, found))
    ['peer found: this end protects by lg, the peer by lg, round trip 212 us']
    >>> list(happened(found, quiet))
    ['peer lost: frames pass unprotected']
    """
    was, is_now = (_standing(report) for report in (before, after))
    if is_now == "agreed" and was != "agreed":
        yield f"peer found: {agreement(after)}"
    elif is_now == "agreed" and _protections(before) != _protections(after):
        yield f"agreed anew: {agreement(after)}"
    elif is_now != "agreed" and was == "agreed":
        yield "peer lost: frames pass unprotected"
    if is_now != "agreed":
        yield from _strangers(before, after)
    if after["stood_aside"] > before["stood_aside"]:
        yield "nothing moved twice in 10 s: frames pass unprotected for 5 s"
    elif after["stuck"] > before["stuck"]:
        yield "nothing moved for 500 ms: a new session was begun"


def corruption(before: Report | None, after: Report, *, seconds: float) -> Iterator[str]:
    """Yield what the link has corrupted on its way to this guard between two looks, if anything.

    Without an earlier look it is what was corrupted since the guard started.

    Examples
    --------
    >>> def looked(data, lost, given_up):
    ...     return {"peer_protection": "lg",
    ...             "receiver": {"data": data, "lost": lost, "given_up": given_up}}
    >>> list(corruption(looked(100, 0, 0), looked(9_080, 20, 1), seconds=10))
    ['corrupted: 20 of 9,000 frames in 10 s (2.22e-03, 95 % between 1.4e-03 and 3.4e-03); 19 recovered,
      1 given up']
    >>> list(corruption(looked(100, 7, 0), looked(200, 7, 0), seconds=10))
    []
    """
    family = family_of(after["peer_protection"])
    then = Arrivals(0, 0, 0) if before is None else family.arrivals(before)
    now = family.arrivals(after)
    if then is None or now is None or now.lost <= then.lost:
        return
    from lossylink.statistics import binomial_interval  # scipy waits until something was lost

    lost, frames = now.lost - then.lost, now.frames - then.frames
    given_up = now.given_up - then.given_up
    share = binomial_interval(lost, frames)
    yield (
        f"corrupted: {lost:,} of {frames:,} frames in {seconds:.0f} s ({share.value:.2e}, 95 % between "
        f"{share.low:.1e} and {share.high:.1e}); {lost - given_up:,} recovered, {given_up:,} given up"
    )


def tell(control: Path, guard: str = "guard") -> None:
    """Print what happens to the guard behind a control socket, from a thread that ends with the process.

    The calling thread alone takes signals: the other one would end the process, which the data plane drains.
    """
    asked = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, asked)
    threading.Thread(target=_tell, args=(PlaneClient(control), guard), daemon=True).start()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, asked)


def _tell(plane: PlaneClient, guard: str) -> None:
    wait = threading.Event()
    before = _first(plane, guard, wait)
    _say(f"protects by {before['protection']}; looks for a guard at the far end")
    reported, reported_at = before, time.monotonic()
    before = {**before, "peer": "absent"}
    while True:
        try:
            after = plane.counters()["guards"][guard]
        except RunError:
            return  # it ends
        for line in happened(before, after):
            _say(line)
        before, seconds = after, time.monotonic() - reported_at
        if seconds >= _REPORT_SECONDS:
            for line in corruption(reported, after, seconds=seconds):
                _say(line)
            reported, reported_at = after, time.monotonic()
        wait.wait(_LOOK_SECONDS)


def _first(plane: PlaneClient, guard: str, wait: threading.Event) -> Report:
    """Return the first report of a guard that is starting."""
    while True:
        try:
            report: Report = plane.counters()["guards"][guard]
        except RunError:
            wait.wait(_START_SECONDS)
        else:
            return report


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


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


def _strangers(before: Report, after: Report) -> Iterator[str]:
    if after["other_seal"] > before["other_seal"]:
        yield "messages arrive that are not sealed as ours: both ends need the same --key-file, or none"
    if after["other_version"] > before["other_version"]:
        yield "messages of another version of the protocol arrive: both ends need the same lossylink"
