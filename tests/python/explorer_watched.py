"""Watched flows of the page of `lossylink explore`, with the frames and states that `lossylink run` gives.

The lost packet's position on the link, and what passes, are read by tshark from the captures of ``--pcap``.
"""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import lossylink
from lossylink.errors import UserError
from lossylink.scenario.resolving import resolve

from .explorer_support import Json, label, random_state, settings
from .test_capture import HOPS, read

_SEED: Final = 48
_LINK: Final = "sw2-sw6"
#: Draws until one is not refused.
_MOST_DRAWS: Final = 50
#: Sizes of flows: some packets each.
_SIZES_BYTES: Final = (5_000, 60_000)
#: A packet of a flow: a segment of TCP with data, a packet of RDMA, or a large data frame of a block code, of
#: which tshark knows nothing: the bit that marks parity is the first behind EtherType and block.
_DATA: Final = (
    "tcp.len > 0 or infiniband.bth.opcode or (eth.type == 0x081c and frame[17] < 80 and frame.len > 100)"
)
#: Frames that a host sends, as a capture flags them.
_OUTBOUND: Final = 2
#: What a capture cuts off an instant, in picoseconds.
_CUT_PS: Final = 999


def watched(catalogue: Json) -> Iterator[Json]:
    """Yield states of the view of one packet, one for each protection, over TCP and RDMA in turn."""
    tshark = shutil.which("tshark")
    if tshark is None:
        raise SystemExit("error: tshark is missing; tools/setup installs it")
    draw = random.Random(_SEED)
    names = catalogue["views"]["watch"]["experiments"]
    for place, spelling in enumerate(catalogue["protections"]):
        name = names[place % len(names)]
        experiment = catalogue["experiments"][name]
        for _ in range(_MOST_DRAWS):
            state = _drawn(catalogue, name, spelling, draw)
            try:
                resolve(experiment["command"], settings=state["settings"], protection=[state["protection"]])
            except UserError:
                continue
            yield _answered(tshark, experiment, state, draw)
            break


def _drawn(catalogue: Json, name: str, spelling: Json, draw: random.Random) -> Json:
    """Draw the knobs of an experiment, and the options of a protection."""
    experiment = catalogue["experiments"][name]
    values = random_state(catalogue["views"]["watch"]["knobs"], draw, experiment.get("when", {}))
    values["flow.size"] = draw.randint(*_SIZES_BYTES)
    argument = spelling.get("argument", {"knobs": []})["knobs"]
    return {
        "experiment": name,
        "values": values,
        "protection": label(spelling, random_state([*argument, *spelling["options"]], draw, {})),
        "settings": settings(experiment["rules"], values),
    }


def _answered(tshark: str, experiment: Json, state: Json, draw: random.Random) -> Json:
    """Return a state with a lost packet, the frames of two hops, and the states of the ends."""
    said, knob = state["settings"], experiment["lost"]["knob"]
    with tempfile.TemporaryDirectory() as folder:
        capture = Path(folder) / "hop.pcapng"

        def run(settings_: Mapping[str, str], hop: str = _LINK, state_at: tuple[str, ...] = ()) -> Any:
            return lossylink.run(
                experiment["command"],
                protection=state["protection"],
                settings=settings_,
                pcap=(hop, capture),
                state_at=state_at,
            )

        run(said | {"loss.forward": "0"})
        outbound = f"frame.packet_flags_direction == {_OUTBOUND}"
        numbers = _numbers(tshark, capture, outbound)
        packets = _numbers(tshark, capture, f"({outbound}) and ({_DATA})")
        if not packets:
            raise SystemExit(f"error: tshark finds no packet with data in the flow of {state}")
        lost = draw.randint(1, len(packets))
        position = numbers.index(packets[lost - 1])
        said = said | {
            key: text.replace("{position}", str(position))
            for key, text in experiment["lost"]["settings"].items()
        }
        hops = {}
        for hop in (_LINK, draw.choice([hop for hop in HOPS if hop != _LINK])):
            run(said, hop)
            hops[hop] = _frames(tshark, capture)
        instants = dict.fromkeys(at_ns * 1000 + _CUT_PS for at_ns, *_ in hops[_LINK])
        found = run(said, state_at=tuple(f"{instant}ps" for instant in instants))
    # Which protection it is goes without saying in the page.
    states = [{key: value for key, value in state.items() if key != "protection"} for state in found.states]
    return state | {
        "values": state["values"] | {knob: lost},
        "watched": {"position": position, "hops": hops, "states": states},
    }


def _numbers(tshark: str, capture: Path, only: str) -> list[str]:
    return [frame["frame.number"] for frame in read(tshark, capture, ["frame.number"], only=only)]


def _frames(tshark: str, capture: Path) -> list[tuple[int, int, bool, bool]]:
    """Return instant in ns, octets, whether outbound and whether corrupted, of each frame of a capture."""
    fields = (
        "frame.time_epoch",
        "frame.len",
        "frame.packet_flags_direction",
        "frame.packet_flags_crc_error",
    )
    return [
        (_nanoseconds(at), int(octets), int(direction, 16) == _OUTBOUND, is_lost in ("1", "True"))
        for at, octets, direction, is_lost in (frame.values() for frame in read(tshark, capture, fields))
    ]


def _nanoseconds(seconds: str) -> int:
    whole, _, part = seconds.partition(".")
    return int(whole) * 10**9 + int(part.ljust(9, "0"))
