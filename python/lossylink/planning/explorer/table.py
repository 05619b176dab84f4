"""The knobs: which keys of scenarios a reader moves, and how far.

This table is all that is said here of the keys. What a key means and which experiment takes it is known by
the package, and what it does to a configuration is asked of the resolver.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lossylink.planning.explorer.deriving import Part, Saying
from lossylink.planning.explorer.knobs import Choice, Number, When
from lossylink.scenario.models import SECTIONS
from lossylink.scenario.section import keys_in


def _meaning(key: str) -> str:
    section, _, leaf = key.partition(".")
    return keys_in(SECTIONS[section])[leaf].meaning


def _alone(knob: Choice | Number, unit: str = "") -> Part:
    """Return the part of a knob whose value, with a unit behind it, is the value of the key of its name."""
    return Part(knobs=(knob,), sayings=(Saying(settings={knob.id: f"{{{knob.id}}}{unit}"}),))


def _rate(choices: Mapping[str, str]) -> Choice:
    return Choice(
        id="link.rate",
        label="Rate",
        meaning=_meaning("link.rate"),
        choices=choices,
        default="100G",
    )


def _flow_size(most: int) -> Number:
    return Number(
        id="flow.size",
        label="Flow",
        meaning=_meaning("flow.size"),
        unit="B",
        scale="log",
        least=143,
        most=most,
        whole=True,
        default=24_387,
    )


def _coded(*, least_ber: float, when: When | None = None) -> tuple[Choice, Number]:
    """Return the knobs of a line with bit errors behind a code."""
    return (
        Choice(
            id="loss.code",
            label="Code",
            meaning="the line's own forward error correction",
            choices=_CODES,
            default="rs544",
            when=when or {},
        ),
        Number(
            id="loss.ber",
            label="Bit error ratio",
            meaning="wrong bits over all, before the code",
            scale="log",
            least=least_ber,
            most=1e-2,
            default=5e-4,
            when=when or {},
        ),
    )


def _share(key: str, label: str, *, default: float) -> Number:
    return Number(
        id=key,
        label=label,
        meaning=_meaning(key),
        scale="linear",
        least=0,
        most=1,
        step=0.01,
        default=default,
    )


def _hours(key: str, label: str, *, least: int, most: int, default: int) -> Number:
    return Number(
        id=key,
        label=label,
        meaning=_meaning(key),
        unit="h",
        scale="log",
        least=least,
        most=most,
        whole=True,
        default=default,
    )


_RATES: Final = {f"{gbps}G": f"{gbps} Gb/s" for gbps in (10, 25, 40, 50, 100, 200, 400, 800)}
TCP: Final = {"dctcp": "DCTCP", "cubic": "CUBIC", "reno": "Reno", "bbr": "BBR", "bbr3": "BBRv3"}
RDMA: Final = {
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

RATE: Final = _alone(_rate(_RATES))
#: Four interleaved codewords of rs544 with bursts, as at 800G, take half a second for each bit error ratio.
LINE_RATE: Final = _alone(_rate({rate: label for rate, label in _RATES.items() if rate != "800G"}))
LENGTH: Final = _alone(
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
LOSS: Final = Part(
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
        *_coded(least_ber=1e-9, when={"loss.model": ("phy",)}),
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
TRANSPORT: Final = Part(
    knobs=(
        Choice(
            id="transport",
            label="Transport",
            meaning="what the hosts make of a loss",
            choices=TCP | RDMA,
            default="dctcp",
        ),
    ),
    sayings=(
        Saying(when={"transport": tuple(TCP)}, settings={"transport.congestion_control": "{transport}"}),
        *(
            Saying(when={"transport": (word,)}, settings={"transport.recovery": word.removeprefix("rdma-")})
            for word in RDMA
        ),
    ),
)
SIZE: Final = _alone(_flow_size(2_000_000), "B")
#: Of a flow whose packets are looked at one by one.
SHORT: Final = _alone(_flow_size(200_000), "B")
TRIALS: Final = _alone(
    Number(
        id="flow.trials",
        folded=True,
        label="Flows",
        meaning=_meaning("flow.trials"),
        scale="log",
        least=1_000,
        most=1_000_000,
        whole=True,
        default=30_000,
    )
)
PACKETS: Final = _alone(
    Number(
        id="traffic.packets",
        folded=True,
        label="Frames at full load",
        meaning=_meaning("traffic.packets"),
        scale="log",
        least=10_000,
        most=10_000_000,
        whole=True,
        default=300_000,
    )
)
SEED: Final = _alone(
    Number(
        id="seed",
        folded=True,
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

LOST_PACKET: Final = Number(
    id="lost",
    label="Lost packet",
    meaning="the packet that the link loses, counted from 1 among the packets with data",
    scale="linear",
    least=1,
    most=50,
    step=1,
    whole=True,
    default=8,
)
#: Nothing that can be said before the flow has run: a protection's own frames have places on the link, too.
LOST: Final = Part(knobs=(LOST_PACKET,), sayings=())
LINE: Final = Part(
    knobs=(
        *_coded(least_ber=1e-12),
        Number(
            id="loss.repeat",
            label="Burst factor",
            meaning="chance that the equaliser of the receiver passes an error on to the next symbol",
            scale="linear",
            least=0,
            most=0.75,
            step=0.05,
            default=0,
        ),
    ),
    sayings=(Saying(settings={"loss.forward": "phy:code={loss.code},ber={loss.ber},burst={loss.repeat}"}),),
)
FRAME: Final = _alone(
    Number(
        id="traffic.frame",
        label="Frame",
        meaning=_meaning("traffic.frame"),
        unit="B",
        scale="linear",
        least=60,
        most=1514,
        step=1,
        whole=True,
        default=1514,
    ),
    "B",
)
FABRIC: Final = (
    _alone(
        Choice(
            id="fabric.topology",
            label="Topology",
            meaning="the switches of the fabric, and how many there are",
            choices={
                "fb-fabric:pods=6,tors=16": "6 pods of 16 ToR switches",
                "fb-fabric:pods=24,tors=48": "24 pods of 48 ToR switches",
                "fb-fabric:pods=100,tors=48": "100 pods of 48 ToR switches",
                "fat-tree:k=8": "fat tree, k = 8",
                "fat-tree:k=16": "fat tree, k = 16",
                "fat-tree:k=32": "fat tree, k = 32",
            },
            default="fb-fabric:pods=24,tors=48",
        )
    ),
    _alone(_share("fabric.constraint", "Paths to keep", default=0.75)),
    _alone(_share("fabric.deployment", "Protected pods", default=1)),
    _alone(_hours("fabric.mttf", "Time between failures", least=500, most=100_000, default=10_000), "h"),
    _alone(_hours("fabric.repair", "Repair", least=1, most=1_000, default=48), "h"),
    _alone(_hours("fabric.second_repair", "Second repair", least=1, most=1_000, default=96), "h"),
    _alone(_share("fabric.first_attempt", "Repairs that succeed at once", default=0.8)),
)
