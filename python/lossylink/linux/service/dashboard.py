"""A dashboard of guards for Grafana: what the link loses, what is carried, what is dropped, who the peer is.

The layout is Grafana's own (schema version 41, Grafana 11.6); newer versions take it over. The metrics are
those of a guard's Prometheus text that it has whatever its protection is, and at the end those of a guard
over a routed path.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any

#: The version of the layout.
_SCHEMA = 41
#: Panels are laid out in rows of 24 columns.
_COLUMNS, _PANEL_COLUMNS, _PANEL_ROWS = 24, 8, 8
_SOURCE = {"type": "prometheus", "uid": "${source}"}
#: Guards that the user has chosen above the panels.
_CHOSEN = 'instance=~"$guard"'


@dataclass(frozen=True)
class Line:
    """A line of a panel: an expression of PromQL, and its legend."""

    expression: str
    legend: str


@dataclass(frozen=True)
class Panel:
    """A panel of lines over time."""

    title: str
    description: str
    #: In Grafana's words.
    unit: str
    lines: tuple[Line, ...]


def _guard(name: str) -> str:
    return f"lossylink_guards_{name}{{{_CHOSEN}}}"


def _rate(name: str) -> str:
    return f"rate({_guard(name)}[$__rate_interval])"


def _port(name: str, side: str) -> str:
    return f'rate(lossylink_ports_{name}{{{_CHOSEN}, at="{side}"}}[$__rate_interval])'


def _share(part: str, whole: str) -> str:
    return f"{_rate(part)} / {_rate(whole)}"


PANELS = (
    Panel(
        "Loss of the link",
        "The share of the frames of every kind that the link corrupted, whatever protects it.",
        "percentunit",
        (
            Line(_share("arriving_lost_total", "arriving_frames_total"), "{{instance}} on the way here"),
            Line(_share("leaving_lost_total", "leaving_frames_total"), "{{instance}} to the peer"),
        ),
    ),
    Panel(
        "Missing after repairs",
        "The share of the frames of the LAN that was not handed on at the far end.",
        "percentunit",
        (
            Line(_share("arriving_missing_total", "arriving_contents_total"), "{{instance}} on the way here"),
            Line(_share("leaving_missing_total", "leaving_contents_total"), "{{instance}} to the peer"),
        ),
    ),
    Panel(
        "Peer",
        "1 while the peer is there and both have agreed; at 0 frames pass unprotected.",
        "short",
        (Line(_guard("agreed"), "{{instance}} agreed"),),
    ),
    Panel(
        "Throughput of the LAN",
        "What the protected network sends and is given.",
        "bps",
        (
            Line(f"8 * {_port('received_bytes_total', 'lan')}", "{{instance}} from the LAN"),
            Line(f"8 * {_port('sent_bytes_total', 'lan')}", "{{instance}} to the LAN"),
        ),
    ),
    Panel(
        "Throughput of the link",
        "What crosses the link, with headers, repetitions and control frames.",
        "bps",
        (
            Line(f"8 * {_port('sent_bytes_total', 'link')}", "{{instance}} to the link"),
            Line(f"8 * {_port('received_bytes_total', 'link')}", "{{instance}} from the link"),
        ),
    ),
    Panel(
        "Round trip",
        "The longest of the recent round trips between both guards.",
        "s",
        (Line(_guard("loop_seconds"), "{{instance}}"),),
    ),
    Panel(
        "Queue toward the link",
        "Bytes that wait, and the most that ever did.",
        "bytes",
        (
            Line(_guard("queue_bytes"), "{{instance}} waiting"),
            Line(_guard("queue_longest_bytes"), "{{instance}} longest"),
        ),
    ),
    Panel(
        "Drops",
        "Frames dropped each second, by reason.",
        "pps",
        (
            Line(_rate("queue_dropped_total"), "{{instance}} queue full"),
            Line(_rate("no_room_total"), "{{instance}} no memory"),
            Line(_rate("reserved_total"), "{{instance}} EtherType of the guards"),
            Line(_rate("foreign_total"), "{{instance}} foreign"),
            Line(_rate("other_seal_total"), "{{instance}} other key"),
            Line(_rate("repeated_total"), "{{instance}} repeated"),
            Line(_rate("unsent_total"), "{{instance}} no peer on the path"),
            Line(_rate("too_long_total"), "{{instance}} too long for the path"),
            Line(_port("missed_total", "lan"), "{{instance}} missed at the LAN"),
            Line(_port("missed_total", "link"), "{{instance}} missed at the link"),
        ),
    ),
    Panel(
        "Sessions",
        "Sessions that began each second, for what reason.",
        "ops",
        (
            Line(_rate("sessions_total"), "{{instance}} sessions"),
            Line(_rate("silences_total"), "{{instance}} peer silent"),
            Line(_rate("stuck_total"), "{{instance}} nothing moved"),
            Line(_rate("stood_aside_total"), "{{instance}} stood aside"),
        ),
    ),
    Panel(
        "Path: losses",
        "Over a routed path: frames that it lost on the way here each second, and what became of them.",
        "pps",
        (
            Line(_rate("routed_lost_total"), "{{instance}} lost"),
            Line(_rate("routed_recovered_total"), "{{instance}} recovered"),
            Line(_rate("routed_rebuilt_total"), "{{instance}} of these, by repairs ahead"),
            Line(_rate("routed_given_up_total"), "{{instance}} given up"),
        ),
    ),
    Panel(
        "Path: what repairing takes",
        "Over a routed path: bytes of repetitions and repairs, as a share of the others, and their bound.",
        "percentunit",
        (
            Line(
                _share("routed_repeated_bytes_total", "routed_data_bytes_total"), "{{instance}} repetitions"
            ),
            Line(
                _share("routed_repair_bytes_total", "routed_data_bytes_total"), "{{instance}} repairs ahead"
            ),
            Line(f"{_guard('routed_bound_percent')} / 100", "{{instance}} bound"),
        ),
    ),
)


def dashboard() -> dict[str, Any]:
    """Return the dashboard, as Grafana imports it."""
    return {
        "title": "lossylink guards",
        "uid": "lossylink-guards",
        "tags": ["lossylink"],
        "schemaVersion": _SCHEMA,
        "editable": True,
        "refresh": "10s",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {"list": [_source(), _guards()]},
        "panels": [_panel(number, panel) for number, panel in enumerate(PANELS)],
    }


def _source() -> dict[str, Any]:
    """Return the choice of the Prometheus that scrapes the guards."""
    return {"name": "source", "label": "Prometheus", "type": "datasource", "query": "prometheus"}


def _guards() -> dict[str, Any]:
    """Return the choice of guards, by the address at which they are scraped."""
    query = "label_values(lossylink_guards_sessions_total, instance)"
    return {
        "name": "guard",
        "label": "Guard",
        "type": "query",
        "datasource": _SOURCE,
        "query": {"query": query, "refId": "guards"},
        "refresh": 2,
        "multi": True,
        "includeAll": True,
        "current": {"text": ["All"], "value": ["$__all"]},
    }


def _panel(number: int, panel: Panel) -> dict[str, Any]:
    row, column = divmod(number * _PANEL_COLUMNS, _COLUMNS)
    references = map(chr, count(ord("A")))
    return {
        "id": number + 1,
        "type": "timeseries",
        "title": panel.title,
        "description": panel.description,
        "datasource": _SOURCE,
        "gridPos": {"x": column, "y": row * _PANEL_ROWS, "w": _PANEL_COLUMNS, "h": _PANEL_ROWS},
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom", "showLegend": True}},
        "targets": [
            {"refId": reference, "datasource": _SOURCE, "expr": line.expression, "legendFormat": line.legend}
            for reference, line in zip(references, panel.lines, strict=False)
        ],
    }
