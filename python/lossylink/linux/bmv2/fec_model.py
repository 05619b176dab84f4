"""The control plane of a switch under the published switch model of FEC: set-up, code, loss, state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lossylink.errors import UserError
from lossylink.linux.bmv2.common import Pace, corrupt, corrupted, count
from lossylink.linux.bmv2.runtime import Runtime
from lossylink.linux.bmv2.sources import constants, events

FAMILY = "fec_model"
_N = constants(FAMILY)
_ENCODER_EVENTS = events(FAMILY, "ENCODER_")
_DECODER_EVENTS = events(FAMILY, "DECODER_")
_FAULTY_LINK = "SwitchEgress.faulty_link.corruption"


@dataclass(frozen=True)
class Parameters:
    """What the control plane may set.

    Raises
    ------
    UserError
        There is no such code (FEC-1).

    Examples
    --------
    >>> Parameters(is_on=True, size=129, rows=1)
    Traceback (most recent call last):
    lossylink.errors.UserError: there is no code (129, 1): k is 1 to 128, h is 0 to 32
    """

    is_on: bool = False
    size: int = 5
    """Data packets of a block, k: 1 to 128."""
    rows: int = 1
    """Parity packets of a block, h: 0 to 32; with none packets go as they come."""

    @classmethod
    def of(cls, protection: Mapping[str, Any]) -> Parameters:
        """Return the parameters of a protection's value.

        Raises
        ------
        UserError
            The program has no such option.

        Examples
        --------
        >>> Parameters.of({"k": 25, "h": 5, "flush_ps": None, "meter": "off", "change": None})
        Parameters(is_on=True, size=25, rows=5)
        """
        options = {name: value for name, value in protection.items() if name not in {"family", "k", "h"}}
        given = [name for name, value in options.items() if value not in {None, "off"}]
        if given:
            raise UserError(f"the switch program has no {given[0].removesuffix('_ps')}: leave the option out")
        return cls(is_on=True, size=protection["k"], rows=protection["h"])

    def __post_init__(self) -> None:
        if not (1 <= self.size <= _N["SIZE_MAX"] and 0 <= self.rows <= _N["ROWS_MAX"]):
            raise UserError(f"there is no code ({self.size}, {self.rows}): k is 1 to 128, h is 0 to 32")


class FecModelSwitch:
    """One switch of the lab, seen by its control plane."""

    def __init__(self, runtime: Runtime, pace: Pace | None = None) -> None:
        self.runtime = runtime
        self.pace = pace or Pace()
        self.parameters = Parameters()

    def set_up(self) -> None:
        """Bound the queues, and begin at block zero with coding off."""
        runtime, pace = self.runtime, self.pace
        runtime.set_queue(
            _N["PORT_RX_LOOP"],
            packets=pace.loop_frames,
            packets_per_second=pace.order_packets_per_second,
        )
        runtime.set_queue(
            _N["PORT_LINK"], packets=pace.queue_frames, packets_per_second=pace.link_packets_per_second
        )
        runtime.set_queue(_N["PORT_HOST"], packets=pace.loop_frames)
        self.start_over()
        self.set(self.parameters)

    def start_over(self, block: int = 0) -> None:
        """Begin with a block, forget all others, and count anew; what still circulates is forgotten, too."""
        runtime = self.runtime
        runtime.write_register("encoder_next", block << 24)
        runtime.write_register("encoder_clones", 0)
        runtime.write_register("decoder_newest", 0)
        runtime.clear_register("decoder_blocks")
        for counter in ("encoder_events", "decoder_events", f"{_FAULTY_LINK}.frames"):
            runtime.clear_counter(counter)

    def set(self, parameters: Parameters) -> None:
        """Put a code into force, from the next block on (FEC-8)."""
        rows = parameters.rows if parameters.is_on else 0
        if rows:
            # Blocks that are open need the group of the code before, so none is ever emptied.
            rids = [_N["RID_DATA"], *range(_N["RID_FIRST_ROW"], _N["RID_FIRST_ROW"] + rows)]
            self.runtime.set_group(rows, [(_N["PORT_LINK"], rid) for rid in rids])
        self.runtime.set_default(
            "SwitchIngress.encoder.code", "SwitchIngress.encoder.set_code",
            (parameters.size, 8), (rows, 8),
        )  # fmt: skip
        self.parameters = parameters

    def corrupt(self, loss_ratio: float) -> None:
        """Mark what leaves for the link; the ratio is rounded down to 2^-20.

        Raises
        ------
        UserError
            The ratio is no share.
        """
        corrupt(self.runtime, _FAULTY_LINK, loss_ratio)

    def hold(self, *, is_on: bool) -> None:
        """Hold nothing: another code begins with the next block, while packets pass (FEC-8)."""

    def is_at_rest(self) -> bool:
        """Return whether a code may be changed: it always may."""
        return True

    def begin(self, port: str) -> None:
        """Send nothing on its way: the model has no timer (FEC-26)."""

    def corruption(self) -> dict[str, int]:
        """Return how many frames left for the link, and how many of them were marked."""
        return corrupted(self.runtime, _FAULTY_LINK)

    def arrived(self) -> int:
        """Return the packets that came over the link."""
        return self.runtime.read_counter("decoder_events", _DECODER_EVENTS["from_link"])

    def detail(self) -> dict[str, dict[str, Any]]:
        """Return all that both roles count.

        A marked packet that its block's end let go or dropped circulates until it next comes round. What the
        queue of the loop drops is not noticed, and stays among those that circulate.
        """
        encoder = count(self.runtime, "encoder_events", _ENCODER_EVENTS)
        decoder = count(self.runtime, "decoder_events", _DECODER_EVENTS)
        newest = self.runtime.read_register("decoder_newest")
        place = self.runtime.read_register("encoder_next")
        decided = decoder["recovered"] + decoder["unrecovered"] + decoder["forgotten"]
        return {
            "encoder": {
                "block": place >> 24,
                "sent_data": encoder["data"],
                "sent_parity": self.runtime.read_register("encoder_clones"),
                "closed_blocks": encoder["blocks"],
                "open_data": place >> 16 & 0xFF,
                "from_host": encoder["from_host"],
                "to_link": encoder["to_link"],
                "parity_to_link": encoder["parity_to_link"],
                "bare": encoder["bare"],
                "ambiguous": encoder["ambiguous"],
            },
            "decoder": {
                "block": newest & 0xFFFFFF if newest >> 24 else None,
                "recovered": decoder["recovered"],
                # As the model counts: marked packets of blocks that had ended, and those that came too late.
                "unrecovered": decoder["unrecovered"] + decoder["late"] + decoder["forgotten"],
                "circulating": decoder["held"] - decided,
                "from_link": decoder["from_link"],
                "to_host": decoder["to_host"],
                "intact": decoder["intact"],
                "received_parity": decoder["parity"],
                "held": decoder["held"],
                "late": decoder["late"],
                "forgotten": decoder["forgotten"],
                "rounds": decoder["rounds"],
                "bare": decoder["bare"],
                "malformed": decoder["malformed"],
            },
        }

    def state(self) -> dict[str, Any]:
        """Return the state of both roles, by the names of the live guards' reports."""
        encoder, decoder = self.detail().values()
        sent_first = encoder["to_link"] - encoder["parity_to_link"]
        shown = ("sent_data", "sent_parity", "closed_blocks", "open_data")
        return {
            "from_lan": encoder["from_host"],
            "to_link": encoder["to_link"],
            "to_link_first": sent_first,
            "waiting_or_dropped": encoder["from_host"] - sent_first,
            "from_link": decoder["from_link"],
            "to_lan": decoder["to_host"],
            "malformed": decoder["malformed"],
            "coder": {name: encoder[name] for name in shown}
            | {name: decoder[name] for name in ("recovered", "unrecovered", "circulating")},
        }
