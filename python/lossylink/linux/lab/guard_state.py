"""The state of a guard in words, once or again and again: ``guard status`` and ``guard watch``."""

from __future__ import annotations

import time
from typing import Any

from rich.console import Group
from rich.live import Live
from rich.text import Text

from lossylink.linux.lab.events import agreement, corruption
from lossylink.linux.lab.plane import PlaneClient
from lossylink.results.drawn import Drawn
from lossylink.results.screen import Grid

#: Counters of a guard that say why it dropped a frame, beside a full queue.
_DROPS = (
    "no_room",
    "reserved",
    "foreign",
    "other_seal",
    "other_version",
    "repeated",
    "unsent",
    "too_long",
)
#: What is shown of each direction, and where it is counted: at a port, or by the guard.
_DIRECTIONS = (
    ("LAN to link", ("lan", "received"), ("link", "sent"), "leaving"),
    ("link to LAN", ("link", "received"), ("lan", "sent"), "arriving"),
)


def described(counters: dict[str, Any]) -> list[str]:
    """Return the state of a guard in words.

    Examples
    --------
    >>> way = {"frames": 1000, "lost": 20, "contents": 980, "missing": 1}
    >>> report = {"peer": "agreed", "protection": "lg", "peer_protection": "lg", "loop_us": 80.0,
    ...           "sealed": True, "arriving": way, "leaving": dict.fromkeys(way, 0),
    ...           "from_lan": 7, "to_link": 9, "from_link": 990, "to_lan": 1000, "queue_dropped": 0}
    >>> report |= dict.fromkeys(_DROPS, 0) | {"path": False}
    >>> ports = {side: {"missed": 0, "send_refused": 0} for side in ("lan", "link")}
    >>> for line in described({"uptime_seconds": 60.0, "scheduling": "fifo", "ports": ports,
    ...                        "guards": {"guard": report}}):
    ...     print(line)
    up 60 s, scheduling fifo, frames sealed
    peer: agreed; this end protects by lg, the peer by lg, round trip 80 us
    LAN to link: 7 frames taken, 9 sent with repetitions and control frames; 0 dropped at the queue
    link to LAN: 990 frames taken, 1,000 handed on
    corrupted on the way here: 20 of 1,000 frames in 60 s (2.00e-02, 95 % between 1.2e-02 and 3.1e-02 if
    each by itself); after repairs 1 of 980 frames of the LAN missing
    dropped: none
    >>> path = {"data": 70_000, "short": 63_000, "data_bytes": 10**8, "repeated": 700,
    ...         "repeated_bytes": 10**6, "repairs": 2600, "repair_bytes": 37 * 10**5,
    ...         "bound_percent": 5, "unpaid": 0, "recovered": 9, "rebuilt": 7,
    ...         "given_up": 1, "reordered": 3, "repair_time_us": 52000}
    >>> print(_path({"routed": path, "frame_bytes_carried": 1484}))
    path: datagrams of 1,472 bytes get through; 90% of the frames with short headers; sent again 700
    frames, 1.00% of the bytes, and 2,600 repairs ahead, 3.70% (bound 5 %), 0 beyond the bound; of those
    from the peer 9 recovered, 7 of them by repairs, 1 given up, 3 reordered; asked again after 52.0 ms
    """
    report, seconds = counters["guards"]["guard"], counters["uptime_seconds"]
    trust = "frames sealed" if report["sealed"] else "link trusted"
    lost = list(corruption(None, report, seconds=seconds))
    path = [_path(report)] if report["path"] else []
    return [
        f"up {seconds:.0f} s, scheduling {counters['scheduling']}, {trust}",
        f"peer: {report['peer']}; {agreement(report)}",
        f"LAN to link: {report['from_lan']:,} frames taken, {report['to_link']:,} sent with repetitions and "
        f"control frames; {report['queue_dropped']:,} dropped at the queue",
        f"link to LAN: {report['from_link']:,} frames taken, {report['to_lan']:,} handed on",
        *(lost or ["corrupted: nothing that this end knows of"]),
        *path,
        f"dropped: {_drops(report, counters['ports']) or 'none'}",
    ]


def _path(report: dict[str, Any]) -> str:
    """Return what a guard over a path does, in words."""
    did = report["routed"]
    again, ahead = (did[name] / max(did["data_bytes"], 1) for name in ("repeated_bytes", "repair_bytes"))
    # Twelve octets of a frame do not travel.
    carried = max(report["frame_bytes_carried"] - 12, 1200)
    return (
        f"path: datagrams of {carried:,} bytes get through; "
        f"{did['short'] / max(did['data'], 1):.0%} of the frames with short headers; "
        f"sent again {did['repeated']:,} frames, "
        f"{again:.2%} of the bytes, and {did['repairs']:,} repairs ahead, {ahead:.2%} "
        f"(bound {did['bound_percent']} %), {did['unpaid']:,} beyond the bound; "
        f"of those from the peer {did['recovered']:,} recovered, {did['rebuilt']:,} of them by repairs, "
        f"{did['given_up']:,} given up, {did['reordered']:,} reordered; "
        f"asked again after {did['repair_time_us'] / 1000:.1f} ms"
    )


def _drops(report: dict[str, Any], ports: dict[str, dict[str, int]]) -> str:
    """Return what was dropped beside the queue, by its counter; nothing that is zero."""
    counted = {name: report[name] for name in _DROPS}
    for name in ("missed", "send_refused"):
        counted |= {f"{name} at {side}": port[name] for side, port in ports.items()}
    return ", ".join(f"{number:,} {name}" for name, number in counted.items() if number)


def watched(plane: PlaneClient, *, interval_seconds: float, rounds: int | None = None) -> None:
    """Show a guard until Ctrl-C, or for a number of looks.

    Raises
    ------
    RunError
        The guard has ended.
    """
    before, at = plane.counters(), time.monotonic()
    left = rounds
    with Live(auto_refresh=False) as live:
        try:
            while left is None or left > 0:
                time.sleep(interval_seconds)
                after, now = plane.counters(), time.monotonic()
                lines = [Text(line) for line in described(after)]
                rates = _rates(before, after, now - at)
                live.update(Group(*lines, Text(), rates, Text("Ctrl-C ends", style="dim")), refresh=True)
                before, at = after, now
                left = None if left is None else left - 1
        except KeyboardInterrupt:
            return


def _rates(before: dict[str, Any], after: dict[str, Any], seconds: float) -> Drawn:
    """Return what passed in each direction between two looks, by the second."""
    lines = []

    def rate(*path: str) -> float:
        then: Any = before
        now: Any = after
        for key in path:
            then, now = then[key], now[key]
        return float(now - then) / seconds

    for words, (entry, came), (leaving, went), way in _DIRECTIONS:
        ends = ((entry, came), (leaving, went))
        bits = [rate("ports", port, f"{verb}_bytes") * 8 / 1e6 for port, verb in ends]
        frames = [rate("ports", port, f"{verb}_frames") for port, verb in ends]
        gone = [rate("guards", "guard", way, key) for key in ("lost", "missing")]
        lines.append([words, *(f"{bit:,.1f}" for bit in bits), *(f"{count:,.0f}" for count in frames + gone)])
    heads = ["direction", "Mb/s in", "out", "frames/s in", "out", "lost/s", "missing/s"]
    return Drawn(Grid([heads], lines))
