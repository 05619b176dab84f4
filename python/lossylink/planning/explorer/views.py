"""The views of the page: which experiments each shows, and which knobs it has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from lossylink.declared.experiment import Experiment
from lossylink.declared.experiments import experiment_named
from lossylink.planning.explorer import table
from lossylink.planning.explorer.deriving import Part
from lossylink.planning.explorer.knobs import When


class Shown(Struct, frozen=True, kw_only=True):
    """One experiment of a view."""

    id: str
    command: str
    """As ``lossylink run`` takes it."""
    fixed: Mapping[str, str] = {}
    """Settings that nobody moves."""
    when: When = {}
    """Values of knobs with which the view shows it."""
    lost: Mapping[str, str] = {}
    """What says that the packet of the knob `table.LOST_PACKET` is lost, with its position in braces."""

    @property
    def experiment(self) -> Experiment:
        """What the experiment declares."""
        return experiment_named(self.command)


class View(Struct, frozen=True, kw_only=True):
    """A page of the explorer."""

    title: str
    lead: str
    experiments: tuple[Shown, ...]
    parts: tuple[Part, ...]


_OVER_TCP: Final = {"transport": tuple(table.TCP)}
_OVER_RDMA: Final = {"transport": tuple(table.RDMA)}
_ONE_FLOW: Final = {"flow.trials": "1"}
#: Published points are those of one protection, so each is simulated, for as long as a reader waits.
_POINTS: Final = {"fabric.points": "simulated", "traffic.packets": "50000", "run.looks": "400"}
_AT_POSITION: Final = {"loss.forward": "at:{position}"}

VIEWS: Final[Mapping[str, View]] = {
    "link": View(
        title="One link",
        lead="What a protection makes of the flows over one link that corrupts packets.",
        experiments=(
            Shown(id="tcp-fct", command="tcp-fct", when=_OVER_TCP),
            Shown(id="rdma-fct", command="rdma-fct", when=_OVER_RDMA),
            Shown(id="stress", command="stress"),
        ),
        parts=(
            *(table.RATE, table.LENGTH, table.LOSS, table.TRANSPORT),
            *(table.SIZE, table.TRIALS, table.PACKETS, table.SEED),
        ),
    ),
    "watch": View(
        title="Watch a packet",
        lead="One flow, one lost packet, and everything that passes the link: why the tail is where it is.",
        experiments=(
            Shown(id="watch-tcp", command="tcp-fct", fixed=_ONE_FLOW, when=_OVER_TCP, lost=_AT_POSITION),
            Shown(id="watch-rdma", command="rdma-fct", fixed=_ONE_FLOW, when=_OVER_RDMA, lost=_AT_POSITION),
        ),
        parts=(table.LOST, table.TRANSPORT, table.SHORT, table.RATE, table.LENGTH, table.SEED),
    ),
    "line": View(
        title="Behind the frame",
        lead="Bit errors, the line's own code, and the frames that it cannot save.",
        experiments=(Shown(id="line", command="stress"), Shown(id="line-flows", command="tcp-fct")),
        parts=(table.LINE, table.LINE_RATE, table.FRAME, table.PACKETS, table.TRIALS, table.SEED),
    ),
    "fabric": View(
        title="Fabric",
        lead="A year of failures and repairs of all links of a fabric, with and without a protection.",
        experiments=(Shown(id="fabric", command="fabric", fixed=_POINTS),),
        parts=(*table.FABRIC, table.SEED),
    ),
}
