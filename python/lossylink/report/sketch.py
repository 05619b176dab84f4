"""A path between two hosts as data, as a line of text and as the places of a drawing.

The names are those of the published artifact. The link that corrupts frames is the one that is protected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

NODE_WIDTH, NODE_HEIGHT, STEP, MARGIN = 48.0, 26.0, 92.0, 36.0
"""Of a drawing, in its own units: a node, from one to the next, and around all."""
BASELINE = 46.0
"""Where the middle of the nodes is, below the label of the link."""
HEIGHT = 92.0


@dataclass(frozen=True)
class Route:
    """Nodes from one end to the other; hosts are at the ends, unless a switch makes the traffic itself."""

    nodes: tuple[str, ...]
    corrupts: int
    """Place of the link that corrupts: that from this node to the next."""

    def text(self) -> str:
        """The path on one line, with a double line for the link that corrupts.

        Examples
        --------
        >>> LAB_ROUTE.text()
        'h4 ---- sw2 ==== sw6 ---- h8'
        """
        words = [self.nodes[0]]
        for place, node in enumerate(self.nodes[1:]):
            words += ["====" if place == self.corrupts else "----", node]
        return " ".join(words)


ARTIFACT_ROUTE = Route(("h4", "sw8", "sw4", "sw2", "sw6", "sw10", "h8"), 3)
"""Of the experiments between two hosts, simulated."""
LINK_ROUTE = Route(("sw2", "sw6"), 0)
"""Of the experiments between two switches."""
LAB_ROUTE = Route(("h4", "sw2", "sw6", "h8"), 1)
"""Of the live lab: each guard is a switch."""


@dataclass(frozen=True)
class Sketch:
    """A path with what its link is: rate and loss, in words."""

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
