"""The nodes between two hosts, by the names of the published artifact; one link of them corrupts frames."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Route:
    """Nodes from one end to the other; hosts are at the ends, unless a switch makes the traffic itself."""

    nodes: tuple[str, ...]
    corrupts: int
    """Place of the link that corrupts: that from this node to the next."""

    def text(self) -> str:
        """The route on one line, with a double line for the link that corrupts.

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
