"""The state of a lab in words, with the fields that the artifact's switches print."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lossylink.linux.lab.switches import packets_per_second
from lossylink.results import states
from lossylink.scenario.route import LAB_ROUTE

if TYPE_CHECKING:
    from lossylink.linux.lab.lab import Lab


def describe(lab: Lab) -> str:
    """Return the whole status as text."""
    near, far = lab.guards()
    link = lab.link.counters()
    forward = link["directions"]["forward"]
    near = {"peer": "not looked for", **near}
    lines = [
        *_head(lab, link),
        "",
        *states.sender("sw2", near, forward, ecn_bytes=lab.settings.ecn_bytes),
        "",
        *states.receiver("sw6", far, forward),
        "",
        *_link(lab, link),
    ]
    return "\n".join(lines)


def _head(lab: Lab, link: dict[str, Any]) -> Iterator[str]:
    settings = lab.settings
    yield LAB_ROUTE.text()
    if settings.dataplane == "bmv2":
        most = packets_per_second(settings)
        yield (
            f"software switches (BMv2), MTU {settings.mtu_bytes}, at most {most} frames/s of each host, "
            f"up {link['uptime_seconds']:.1f} s"
        )
        return
    yield (
        f"link {settings.rate_bps / 1e9:g} Gb/s, round trip {settings.rtt_ps / 1e6:g} us, "
        f"MTU {settings.mtu_bytes}, queue {settings.queue_bytes / 1000:g} KB, "
        f"offloads {'on' if settings.super_frames else 'off'}, "
        f"up {link['uptime_seconds']:.1f} s"
    )
    note = link.get("scheduling_note")
    yield f"scheduling: {link['scheduling']}" + (f" ({note})" if note else "")


def _link(lab: Lab, link: dict[str, Any]) -> Iterator[str]:
    for direction, words in (("forward", "h4 -> h8"), ("reverse", "h8 -> h4")):
        late = link.get("lateness", {}).get(direction)
        punctual = (
            f"; late p50 {late['p50_us']:.1f}, p99 {late['p99_us']:.1f}, max {late['max_us']:.1f} us"
            if late
            else ""
        )
        yield states.carried(words, link["directions"][direction]) + punctual
    missed = sum(port["missed"] + port["send_refused"] for port in lab.ports())
    near, far = lab.guards()
    # BMv2 does not count what its queues drop.
    place, words = (
        ("queue_dropped", "queue drops")
        if "queue_dropped" in near
        else ("waiting_or_dropped", "in queues or dropped there")
    )
    yield f"{words}: {near[place]} at sw2, {far[place]} at sw6; refused or missed at ports: {missed}"
