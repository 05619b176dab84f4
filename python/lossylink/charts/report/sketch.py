"""A route drawn: the places of its nodes and lines, which the page makes a picture of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lossylink.scenario.route import Route

NODE_WIDTH, NODE_HEIGHT, STEP, MARGIN = 48.0, 26.0, 92.0, 36.0
"""Of a drawing, in its own units: a node, from one to the next, and around all."""
BASELINE = 46.0
"""Where the middle of the nodes is, below the label of the link."""
HEIGHT = 92.0


@dataclass(frozen=True)
class Sketch:
    """A route with what its link is: rate and loss, in words."""

    route: Route
    label: str

    def drawing(self) -> dict[str, Any]:
        """Places of nodes and lines, for an SVG of ``width`` by ``height`` units."""
        nodes = [
            {
                "name": name,
                "x": MARGIN + place * STEP,
                "middle": MARGIN + place * STEP + NODE_WIDTH / 2,
                "is_host": name.startswith("h"),
            }
            for place, name in enumerate(self.route.nodes)
        ]
        lines = [
            {
                "x1": MARGIN + place * STEP + NODE_WIDTH,
                "x2": MARGIN + (place + 1) * STEP,
                "corrupts": place == self.route.corrupts,
            }
            for place in range(len(nodes) - 1)
        ]
        return {
            "width": 2 * MARGIN + (len(nodes) - 1) * STEP + NODE_WIDTH,
            "height": HEIGHT,
            "top": BASELINE - NODE_HEIGHT / 2,
            "baseline": BASELINE,
            "node_width": NODE_WIDTH,
            "node_height": NODE_HEIGHT,
            "label": self.label,
            "nodes": nodes,
            "lines": lines,
            "link_middle": MARGIN + self.route.corrupts * STEP + (NODE_WIDTH + STEP) / 2,
            "aria": f"{', '.join(self.route.nodes)}; the link that corrupts: {self.label}",
        }
