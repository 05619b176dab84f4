"""The views of the page: which keys of which experiments a reader moves, and how far.

This table is all that is said here of the keys. What a key means and which experiment takes it is the
package's own knowledge, and what it does to a configuration is asked of the resolver.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from lossylink.planning.explorer.deriving import Part, Saying
from lossylink.planning.explorer.knobs import Choice, Number, When
from lossylink.scenario.models import SECTIONS
from lossylink.scenario.section import keys_in


class Shown(Struct, frozen=True, kw_only=True):
    """One experiment of a view."""

    id: str
    command: str
    """As ``lossylink run`` takes it."""
    fixed: Mapping[str, str] = {}
    """Settings that nobody moves."""
    when: When = {}
    """Values of knobs with which the view shows it."""


class View(Struct, frozen=True, kw_only=True):
    """A page of the explorer."""

    title: str
    lead: str
    experiments: tuple[Shown, ...]
    parts: tuple[Part, ...]
    protections: tuple[str, ...] = ()
    """Words of the protections that it shows; all where there are none."""


def _meaning(key: str) -> str:
    section, _, leaf = key.partition(".")
    return keys_in(SECTIONS[section])[leaf].meaning


def _alone(knob: Choice | Number, suffix: str = "", *, key: str = "") -> Part:
    """Return the part of a knob whose value, with a unit behind it, is the value of a key."""
    return Part(knobs=(knob,), sayings=(Saying(settings={key or knob.id: f"{{{knob.id}}}{suffix}"}),))


_RATES: Final = {f"{gbps}G": f"{gbps} Gb/s" for gbps in (10, 25, 40, 50, 100, 200, 400, 800)}
_TCP: Final = {"dctcp": "DCTCP", "cubic": "CUBIC", "reno": "Reno", "bbr": "BBR", "bbr3": "BBRv3"}
_RDMA: Final = {
    "rdma-go-back-n": "RDMA, go-back-N",
    "rdma-selective-repeat": "RDMA, selective repeat",
}
#: Codes of a line, by their names in ``phy:``.
_CODES: Final = {
    "rs544": "RS(544,514)",
    "rs528": "RS(528,514)",
    "rs272": "RS(272,257)",
    "firecode": "Firecode",
    "none": "no code",
}

_RATE: Final = _alone(
    Choice(
        id="link.rate",
        label="Rate",
        meaning=_meaning("link.rate"),
        choices=_RATES,
        default="100G",
    )
)
_LENGTH: Final = _alone(
    Number(
        id="link.length",
        label="Length",
        meaning=_meaning("link.length"),
        unit="m",
        scale="linear",
        least=0,
        most=2000,
        step=1,
        whole=True,
        default=0,
    ),
    "m",
)
_LOSS: Final = Part(
    knobs=(
        Choice(
            id="loss.model",
            label="Losses",
            meaning=_meaning("loss.forward"),
            choices={
                "independent": "each frame on its own",
                "bursts": "in bursts",
                "phy": "bit errors behind a code",
            },
            default="independent",
        ),
        Number(
            id="loss.mean",
            label="Loss ratio",
            meaning="share of the frames that the link loses",
            scale="log",
            least=1e-8,
            most=0.1,
            default=1e-3,
            when={"loss.model": ("independent", "bursts")},
        ),
        Number(
            id="loss.burst",
            label="Burst",
            meaning="mean number of frames that are lost in a row",
            unit="frames",
            scale="log",
            least=1,
            most=100,
            default=4,
            when={"loss.model": ("bursts",)},
        ),
        Choice(
            id="loss.code",
            label="Code",
            meaning="the line's own forward error correction",
            choices=_CODES,
            default="rs544",
            when={"loss.model": ("phy",)},
        ),
        Number(
            id="loss.ber",
            label="Bit error ratio",
            meaning="wrong bits over all, before the code",
            scale="log",
            least=1e-9,
            most=1e-2,
            default=5e-4,
            when={"loss.model": ("phy",)},
        ),
    ),
    sayings=(
        Saying(when={"loss.model": ("independent",)}, settings={"loss.forward": "{loss.mean}"}),
        Saying(
            when={"loss.model": ("bursts",)},
            settings={"loss.forward": "gilbert-elliott:mean={loss.mean},burst={loss.burst}"},
        ),
        Saying(
            when={"loss.model": ("phy",)},
            settings={"loss.forward": "phy:code={loss.code},ber={loss.ber}"},
        ),
    ),
)
_TRANSPORT: Final = Part(
    knobs=(
        Choice(
            id="transport",
            label="Transport",
            meaning="what the hosts make of a loss",
            choices=_TCP | _RDMA,
            default="dctcp",
        ),
    ),
    sayings=(
        Saying(when={"transport": tuple(_TCP)}, settings={"transport.congestion_control": "{transport}"}),
        *(
            Saying(when={"transport": (word,)}, settings={"transport.recovery": word.removeprefix("rdma-")})
            for word in _RDMA
        ),
    ),
)
_SIZE: Final = _alone(
    Number(
        id="flow.size",
        label="Flow",
        meaning=_meaning("flow.size"),
        unit="B",
        scale="log",
        least=143,
        most=2_000_000,
        whole=True,
        default=24_387,
    ),
    "B",
)
_TRIALS: Final = _alone(
    Number(
        id="flow.trials",
        label="Flows",
        meaning=_meaning("flow.trials"),
        scale="log",
        least=1_000,
        most=1_000_000,
        whole=True,
        default=30_000,
    )
)
_PACKETS: Final = _alone(
    Number(
        id="traffic.packets",
        label="Frames at full load",
        meaning=_meaning("traffic.packets"),
        scale="log",
        least=10_000,
        most=10_000_000,
        whole=True,
        default=300_000,
    )
)
_SEED: Final = _alone(
    Number(
        id="seed",
        label="Seed",
        meaning="decides every random draw",
        scale="linear",
        least=0,
        most=1_000_000,
        step=1,
        whole=True,
        default=1,
    )
)

_OVER_TCP: Final = {"transport": tuple(_TCP)}
_OVER_RDMA: Final = {"transport": tuple(_RDMA)}

VIEWS: Final[Mapping[str, View]] = {
    "link": View(
        title="One link",
        lead="What a protection makes of the flows over one link that corrupts packets.",
        experiments=(
            Shown(id="tcp-fct", command="tcp-fct", when=_OVER_TCP),
            Shown(id="rdma-fct", command="rdma-fct", when=_OVER_RDMA),
            Shown(id="stress", command="stress"),
        ),
        parts=(_RATE, _LENGTH, _LOSS, _TRANSPORT, _SIZE, _TRIALS, _PACKETS, _SEED),
    ),
}
