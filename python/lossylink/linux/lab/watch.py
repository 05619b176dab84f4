"""``lab watch``: rates and counters of a running lab, refreshed in place."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.live import Live
from rich.text import Text

from lossylink.declared.protections import family_of
from lossylink.results.drawn import Drawn
from lossylink.results.screen import Grid

if TYPE_CHECKING:
    from lossylink.linux.lab.lab import Lab


def watch(lab: Lab, *, interval_seconds: float, rounds: int | None = None) -> None:
    """Show the lab until Ctrl-C, or for a number of looks."""
    before = _look(lab)
    left = rounds
    with Live(auto_refresh=False) as live:
        try:
            while left is None or left > 0:
                time.sleep(interval_seconds)
                after = _look(lab)
                live.update(_view(before, after), refresh=True)
                before = after
                left = None if left is None else left - 1
        except KeyboardInterrupt:
            return


def _look(lab: Lab) -> dict[str, Any]:
    near, far = lab.guards()
    return {"at": time.monotonic(), "link": lab.link.counters(), "near": near, "far": far}


def _view(before: dict[str, Any], after: dict[str, Any]) -> Group:
    seconds = after["at"] - before["at"]
    near, far = after["near"], after["far"]
    forward = after["link"]["directions"]["forward"]
    ratio = forward["frames_lost"] / max(forward["frames_offered"], 1)
    gone = near["to_link_first"] - far["to_lan"]
    return Group(
        Text(f"up {after['link']['uptime_seconds']:.0f} s, scheduling {after['link']['scheduling']}"),
        Text(f"protection {near.get('protection', 'none')}, peer {near.get('peer', 'not looked for')}"),
        Text(
            f"h4 -> h8 so far: the link lost {ratio:.2e} of its frames; {gone:,} under way or lost for good"
        ),
        Text(),
        _directions(before["link"], after["link"], seconds),
        Text(),
        _guards(before, after, seconds),
        Text("Ctrl-C ends", style="dim"),
    )


def _directions(before: dict[str, Any], after: dict[str, Any], seconds: float) -> Drawn:
    lines = []
    for name, words in (("forward", "h4 -> h8"), ("reverse", "h8 -> h4")):
        then, now = before["directions"][name], after["directions"][name]
        # Switches count neither bytes nor lateness.
        late = after.get("lateness", {}).get(name)
        bits = 8 * (now["bytes_offered"] - then["bytes_offered"]) if "bytes_offered" in now else None
        rates = [(now[key] - then[key]) / seconds for key in ("frames_offered", "frames_lost")]
        lines.append(
            [
                words,
                "-" if bits is None else f"{bits / seconds / 1e6:,.1f}",
                *(f"{rate:,.0f}" for rate in rates),
                *(f"{late[key]:,.0f}" if late else "-" for key in ("p50_us", "p99_us", "max_us")),
            ]
        )
    heads = ["direction", "Mb/s", "frames/s", "lost/s", "late: p50 us", "p99 us", "max us"]
    return Drawn(Grid([heads], lines))


def _guards(before: dict[str, Any], after: dict[str, Any], seconds: float) -> Drawn:
    lines = []
    events = family_of(after["near"].get("protection", "none")).events
    drops = {"queue drops": ("queue_dropped",)}
    if "queue_dropped" not in after["near"]:
        drops = {"in queues or dropped": ("waiting_or_dropped",)}
    for words, place in {**drops, **events}.items():
        cells = []
        for end in ("near", "far"):
            then, now = (_at(look[end], place) for look in (before, after))
            cells += [f"{now:,}", f"{(now - then) / seconds:,.0f}"]
        lines.append([words, *cells])
    # Columns that do not move while numbers grow.
    heads = ["event", *(f"{head:>9}" for head in ("sw2", "per s", "sw6", "per s"))]
    return Drawn(Grid([heads], lines))


def _at(guard: dict[str, Any], place: tuple[str, ...]) -> int:
    value: Any = guard
    for key in place:
        value = value.get(key, {}) if isinstance(value, dict) else {}
    return value if isinstance(value, int) else 0
