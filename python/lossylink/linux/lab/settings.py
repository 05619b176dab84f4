"""What a lab is made of: its link, its queue, its hosts' TCP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from lossylink.declared.protections import Protection, parse_protection
from lossylink.errors import UserError
from lossylink.linux.bmv2.common import check_losses
from lossylink.linux.bmv2.programs import program_of
from lossylink.scenario.loss import Loss, parse_loss

#: The sender's queue in the artifact: 7000 cells of 80 B.
ARTIFACT_QUEUE_BYTES = 560_000
#: Real-time priority of the emulated link: above ordinary work, below the kernel's own threads (50 and up).
WIRE_PRIORITY = 40
#: Bytes beyond the MTU of the LAN that a link must carry: two VLAN tags, parity headers, a seal.
HEADROOM_BYTES = 46
#: Up to this rate hosts hand over each frame by itself unless told otherwise: a machine of two cores keeps
#: up, and every segment shows in the hosts' own counters.
FRAME_BY_FRAME_BPS = 2 * 10**9
#: What a lab of software switches is like unless told otherwise: what two carry on two cores, without a
#: delay of the link, each frame by itself over cables.
SWITCH_DEFAULTS = {"rate_bps": 6 * 10**6, "rtt_ps": 0, "port": "packet", "fifo": False}
#: Longest trace of a live link, in frames: those of both directions fit into one line to its control socket.
MAX_TRACE_FRAMES = 1_000_000


def read_protection(text: str) -> Protection:
    """Read a protection for the live data plane; ``off`` is another word for ``none``.

    Raises
    ------
    UserError
        There is no such protection, or the simulator alone has it.

    Examples
    --------
    >>> read_protection("lg:copies=2").value["copies"]
    2
    >>> read_protection("off").live_value is None
    True
    """
    protection = spelled_protection(text)
    protection.check(live=True)
    return protection


def spelled_protection(text: str) -> Protection:
    """Read a protection, whatever takes it; ``off`` is another word for ``none``.

    Raises
    ------
    UserError
        There is no such protection.
    """
    return parse_protection("none" if text.strip().lower() == "off" else text)


def read_loss(text: str) -> Loss:
    """Read a loss process.

    Raises
    ------
    UserError
        It is none; the message says the mend.

    Examples
    --------
    >>> read_loss("0.1%").native
    {'model': 'bernoulli', 'p': 0.001}
    """
    try:
        return _live_loss(parse_loss(text))
    except ValueError as error:
        raise UserError(str(error)) from None


def _live_loss(loss: Loss) -> Loss:
    frames = len(loss.native.get("lost", ()))
    if frames > MAX_TRACE_FRAMES:
        mend = f"live, a trace has at most {MAX_TRACE_FRAMES}, so shorten it"
        raise UserError(f"'{loss.spelling}' has {frames} frames; {mend}")
    return loss


_Loss = Annotated[
    Loss,
    BeforeValidator(lambda value: read_loss(value) if isinstance(value, str) else value),
    AfterValidator(_live_loss),
]
_Protection = Annotated[
    Protection,
    BeforeValidator(lambda value: spelled_protection(value) if isinstance(value, str) else value),
]


class LabSettings(BaseModel):
    """Everything that ``lab up`` can be told, in base units."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dataplane: Literal["native", "bmv2"] = "native"
    """What stands between the hosts: our data plane, or software switches with the programs of ``p4/``."""
    rate_bps: int = Field(10**9, gt=0)
    rtt_ps: int = Field(200 * 10**6, ge=0)
    mtu_bytes: int = Field(1500, ge=576, le=9000)
    queue_bytes: int = Field(ARTIFACT_QUEUE_BYTES, gt=0)
    ecn_bytes: int | None = Field(None, gt=0)
    loss_forward: _Loss = Loss("none", {"model": "none"})
    """A spelling is read, as with ``loss_reverse`` and ``protection``."""
    loss_reverse: _Loss = Loss("none", {"model": "none"})
    protection: _Protection = Protection("none", {"family": "none"})
    split: bool = False
    port: Literal["tap", "packet", "xdp"] = "tap"
    """How frames cross between the hosts and the lab."""
    offloads: bool | None = None
    """Whether hosts send and receive bursts of TCP whole; when not given, on links faster than 2 Gb/s."""
    wire_processor: int | None = Field(None, ge=0)
    """The processor of the emulated link alone; hosts keep to the others."""
    seed: int = Field(1, ge=0, lt=2**64)
    fifo: bool = True
    spins: bool = True
    """Whether the link's loop is awake some time before a deadline. Where time is virtual nobody is late."""
    congestion_control: str = "cubic"
    timestamps: bool = False
    largest_window_bytes: int = Field(4 * 2**20, gt=0)
    """Most that a connection's buffers take at either end; the default is Linux's own limit of 4 MiB."""
    window_bytes: int | None = Field(None, gt=0)
    """Most that a receiver offers to one connection; when not given, what its buffer has room for."""
    initial_window: int | None = Field(None, gt=0)
    """Segments that a connection begins with; when not given, Linux's ten."""
    ecn: bool = False
    rto_min_ps: int | None = Field(None, gt=0)
    key_file: Path | None = None
    """The secret of the guards; without it, whoever can send on the link is trusted."""

    @model_validator(mode="before")
    @classmethod
    def _usual_of_switches(cls, values: Any) -> Any:
        is_switched = isinstance(values, dict) and values.get("dataplane") == "bmv2"
        return SWITCH_DEFAULTS | values if is_switched else values

    @model_validator(mode="after")
    def _fits_the_dataplane(self) -> Self:
        if self.dataplane == "bmv2":
            self._refuse_what_switches_lack()
        else:
            self.protection.check(live=True)
        return self

    def _refuse_what_switches_lack(self) -> None:
        refused = {
            "round trip (--rtt)": self.rtt_ps > 0,
            "marks of congestion (--ecn-threshold)": self.ecn_bytes is not None,
            "wire of its own (--split)": self.split,
            f"port {self.port}": self.port != "packet",
            "offloads": bool(self.offloads),
            "key": self.key_file is not None,
            "seed": self.seed != type(self).model_fields["seed"].default,
            "real-time priority": self.fifo,
        }
        if wrong := [words for words, is_wrong in refused.items() if is_wrong]:
            raise UserError(f"the data plane bmv2 has no {wrong[0]}: leave the option out")
        check_losses(loss.native for loss in (self.loss_forward, self.loss_reverse))
        program_of(self.protection.value["family"]).parameters(self.protection.value)

    @property
    def propagation_ps(self) -> int:
        """One-way delay: half the round trip that was asked for."""
        return self.rtt_ps // 2

    @property
    def super_frames(self) -> bool:
        """Whether many frames cross the edge of a host as one; on the link each is by itself in any case.

        Examples
        --------
        >>> LabSettings().super_frames, LabSettings(rate_bps=10**10).super_frames
        (False, True)
        """
        usual = self.rate_bps > FRAME_BY_FRAME_BPS and self.port != "xdp" and self.dataplane == "native"
        return usual if self.offloads is None else self.offloads

    def queue(self) -> dict[str, int | None]:
        """Return the queue toward the link, in the data plane's words."""
        return {"bytes": self.queue_bytes, "mark_from_bytes": self.ecn_bytes}

    def common(self, control: Path) -> dict[str, Any]:
        """Return the keys that every data plane process takes."""
        return {
            "mtu_bytes": self.mtu_bytes,
            "control": str(control),
            "seed": self.seed,
            "fifo_priority": WIRE_PRIORITY if self.fifo else None,
            "queue": self.queue(),
            "key_file": None if self.key_file is None else str(self.key_file.resolve()),
            **({} if self.spins else {"spin_us": 0}),
        }


def lab_settings(**values: Any) -> LabSettings:
    """Build settings from values that a user gave; a mistake is one line.

    Examples
    --------
    >>> lab_settings(mtu_bytes=100)
    Traceback (most recent call last):
    lossylink.errors.UserError: mtu_bytes: Input should be greater than or equal to 576
    >>> lab_settings(protection="fec-model:5/5")
    Traceback (most recent call last):
    lossylink.errors.UserError: protection 'fec-model:5/5': fec-model is a model of the simulator; live, ...
    """
    try:
        return LabSettings(**values)
    except ValidationError as error:
        first = error.errors()[0]
        ours = first.get("ctx", {}).get("error")
        words = str(ours) if ours else f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        raise UserError(words) from None
