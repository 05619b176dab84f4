"""What a switch must have so that LinkGuardian in order keeps 90 % of a fast line: a design study.

``python benches/ordered_at_speed.py [--frames 300k] [--figure FILE]`` runs busy links between switches
that nobody has built. Their delays are those of ``tofino1``, or a share of them. Frames out of order wait in
a loop, whose port is one, two or four times as fast as the link, or in a memory. Each point has the pause
threshold, of those in `THRESHOLDS_US`, with which most of the line is left.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

import lossylink
from lossylink.charts.chart import Axis, Chart, Guide, Series, Sheet, embedded
from lossylink.charts.drawing.figure import draw_sheet
from lossylink.scenario.profiles import load_profile
from lossylink.units import parse_count
from tables import show

RATES_GBPS = (400, 800, 1600)
LOSSES = (1e-3, 1e-2)
DELAYS = (1.0, 0.5, 0.25, 0.1, 0.05)
"""Shares of the delays of ``tofino1``."""
PORTS = {"loop, port at 1x the rate": 1, "loop, port at 2x": 2, "loop, port at 4x": 4, "memory": None}
SLOTS = ("vermillion", "orange", "blue", "green")
THRESHOLDS_US = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
"""Pause thresholds, as the time in which the line fills them; the published one is 3.2."""
RESUME_SHARE = 0.92
"""Of the pause threshold: that of the published ones."""
WANTED = 0.9
BUFFER_BYTES = 64_000_000
LOST_AT_MOST = 1e-3
"""A link that loses more keeps no line: its reorder buffer overflows, or its frames come too late."""
_DELAYED = (
    *("data_pipeline_ns", "retransmission_pipeline_ns", "notification_port_ns", "ack_register_ns"),
    *("ack_cycle_ns", "control_return_ns", "copy_first_check_ns", "tx_loop_fixed_ns", "retransmit_ns"),
    *("multicast_extra_ns", "rx_loop_fixed_ns", "timer_packet_ns", "resume_flight_ns", "pause_reaction_ns"),
)


@dataclass(frozen=True)
class Switch:
    """A switch that nobody has built."""

    rate_gbps: int
    delays: float
    port: int | None
    """Speed of the loops' port over that of the link; none with a memory."""

    def profile(self, threshold_us: float) -> str:
        """Return the text of its profile."""
        base = load_profile("switch", "tofino1")
        pause = round(threshold_us * self.rate_gbps * 125)
        threshold = {
            "rate_bps": self.rate_gbps * 10**9,
            "resume_bytes": round(RESUME_SHARE * pause),
            "pause_bytes": pause,
            "ack_no_timeout_ticks": base["threshold"][0]["ack_no_timeout_ticks"],
        }
        table = {
            **{key: value for key, value in base.items() if key != "threshold"},
            **{key: base[key] * self.delays for key in _DELAYED},
            "name": "design-study",
            "calibrated": False,
            "recirculates": self.port is not None,
            "recirculation_bps": (self.port or 1) * self.rate_gbps * 10**9,
            "tx_buffer_max_bytes": BUFFER_BYTES,
            "rx_buffer_max_bytes": BUFFER_BYTES,
        }
        return "\n".join([*_lines(table), "[[threshold]]", *_lines(threshold)])


def _lines(table: dict[str, Any]) -> Iterator[str]:
    for key, value in table.items():
        text = f'"{value}"' if isinstance(value, str) else str(value).lower()
        yield f"{key} = {text}"


def kept(switch: Switch, loss: float, *, frames: int, folder: Path) -> float:
    """Return the share of the line that a busy link keeps, with the threshold that leaves most."""
    return max(_kept(switch, one, loss, frames, folder) for one in THRESHOLDS_US)


def _kept(switch: Switch, threshold_us: float, loss: float, frames: int, folder: Path) -> float:
    file = folder / "switch.toml"
    file.write_text(switch.profile(threshold_us), encoding="utf-8")
    settings = {
        "link.rate": f"{switch.rate_gbps}Gbps",
        "loss.forward": loss,
        "switch.profile": str(file),
        "traffic.source": "saturated",
        "traffic.packets": frames,
    }
    (row,) = lossylink.run("stress", protection=["lg"], settings=settings).records
    if row["effective_loss_rate"] > LOST_AT_MOST:
        return 0.0
    return float(row["effective_link_speed_gbps"]) / switch.rate_gbps


def sheet(share: Callable[[Switch, float], float]) -> Sheet:
    """Draw the share of the line over the delays: a row of panels a loss, a panel a rate."""
    charts = [
        Chart(
            f"ordered-{rate}-{loss}",
            f"{rate}G, loss {loss:g}",
            "",
            Axis("delays over those of tofino1", scale="log", ticks=DELAYS),
            Axis("share of the line kept", low=0.0, high=1.0),
            tuple(
                Series(
                    name,
                    slot,
                    embedded(DELAYS),
                    embedded([share(Switch(rate, delays, port), loss) for delays in DELAYS]),
                    kind="marked",
                )
                for (name, port), slot in zip(PORTS.items(), SLOTS, strict=True)
            ),
            (Guide("y", WANTED, f"{WANTED:.0%}"),),
        )
        for loss in LOSSES
        for rate in RATES_GBPS
    ]
    return Sheet("ordered-at-speed", tuple(charts), columns=len(RATES_GBPS))


def table(share: Callable[[Switch, float], float]) -> Table:
    """List the slowest switch of each kind that keeps enough."""
    found = Table("rate", "loss", *PORTS, title=f"largest delays, over tofino1's, that keep {WANTED:.0%}")
    for rate in RATES_GBPS:
        for loss in LOSSES:
            cells = []
            for port in PORTS.values():
                enough = [one for one in DELAYS if share(Switch(rate, one, port), loss) >= WANTED]
                cells.append(f"{max(enough):g}" if enough else f"none of {min(DELAYS):g} to {max(DELAYS):g}")
            found.add_row(f"{rate}G", f"{loss:g}", *cells)
    return found


def main() -> None:
    """Run all links, print the table and draw the figure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--frames", type=parse_count, default=300_000, help="of each run")
    parser.add_argument("--figure", type=Path, help="file to draw")
    given = parser.parse_args()
    points = [
        (Switch(rate, delays, port), loss)
        for rate in RATES_GBPS
        for loss in LOSSES
        for delays in DELAYS
        for port in PORTS.values()
    ]
    with tempfile.TemporaryDirectory() as folder:
        shares = {
            (switch, loss): kept(switch, loss, frames=given.frames, folder=Path(folder))
            for switch, loss in track(points, "design study", console=Console(stderr=True))
        }
    show(table(lambda switch, loss: shares[switch, loss]))
    if given.figure is not None:
        draw_sheet(sheet(lambda switch, loss: shares[switch, loss])).savefig(given.figure)


if __name__ == "__main__":
    main()
