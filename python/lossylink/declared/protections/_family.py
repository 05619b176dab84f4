"""What a family of protections provides: the whole contract, with what most families need as defaults."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from msgspec import Struct

#: Counters that one end reports, a live guard or a simulated switch: in groups such as ``sender``,
#: ``receiver`` and ``coder``.
Report = Mapping[str, Any]
_FORM = re.compile(r"`(?:\w+=)?([^`]+)`")


class Option(Struct, frozen=True):
    """One option of a spelling, such as ``copies=2``, and its key in the section ``[protection]``."""

    name: str
    read: Callable[[object], Any]
    """Turns what a user wrote into the value, whose range the core checks; raises a one-line `ValueError`."""
    default: Any
    usage: str
    """The option as the guide to scenarios writes it, in Markdown."""
    description: str
    """What the key of the section means."""
    common: bool = True
    """Whether the section has it, for all protections that take it."""

    @property
    def forms(self) -> tuple[str, ...]:
        """What may stand behind the equals sign: words, and ``N``, ``TIME``, ``SIZE`` or the like for others.

        Examples
        --------
        >>> Option("timer", str, None, "`timer=TIME`, `auto`", "").forms
        ('TIME', 'auto')
        """
        return tuple(_FORM.findall(self.usage))


class Argument(Struct, frozen=True):
    """What must follow a spelling's colon, such as the ``25/5`` of ``fec:25/5``."""

    metavar: str
    example: str
    read: Callable[[str], dict[str, Any]]
    """Turns the text into members of the value; raises `ValueError` when it is something else."""
    show: Callable[[str], str]
    """Turns the text into what a legend has after the name."""


class Look(Struct, frozen=True, kw_only=True):
    """How a protection is drawn; what is unset depends on the figure."""

    slot: str | None = None
    """A colour of `lossylink.charts.palette.OKABE_ITO`, which brings a dash and a marker with it."""


class Spelling(Struct, frozen=True, kw_only=True):
    """One word by which users call a family: ``lg`` and ``lg-nb`` are two of one family."""

    word: str
    name: str
    """The name that readers of figures and reports know it by."""
    meaning: str
    """What it is, for the guide to scenarios."""
    argument: Argument | None = None
    options: tuple[Option, ...] = ()
    look: Look = Look()
    also: tuple[str, ...] = ()
    """What others call it: a user who writes so is told the word."""
    variants: Mapping[str, Look] = {}
    """How it is drawn with an argument or options, by what a label has after its colon."""

    @property
    def usage(self) -> str:
        """The spelling with a placeholder for its argument, such as ``fec:K/H``."""
        return f"{self.word}:{self.argument.metavar}" if self.argument else self.word

    def option(self, name: str) -> Option | None:
        """Return the option of this name, or nothing."""
        return next((option for option in self.options if option.name == name), None)

    def title(self, rest: str) -> str:
        """Return the name for readers, with ``rest``: what a label has after its colon.

        Examples
        --------
        >>> Spelling(word="lg", name="LinkGuardian", meaning="").title("copies=2,tail=off")
        'LinkGuardian, copies=2, tail=off'
        """
        parts = [part.strip() for part in rest.split(",") if part.strip()]
        head = self.name
        if self.argument is not None and parts:
            head += self.argument.show(parts.pop(0))
        return ", ".join((head, *parts))


class Family(ABC):
    """A kind of protection: how it is written, drawn, watched and measured.

    A module of this package has one instance, called ``FAMILY``. Values are the JSON objects that
    simulator and live data plane take, with the family's ``tag`` as member ``family``.
    """

    tag: ClassVar[str]
    """The member ``family`` of its values."""
    order: ClassVar[int]
    """Its place among the families wherever they are listed."""
    spellings: ClassVar[tuple[Spelling, ...]]
    is_live: ClassVar[bool] = True
    """Whether the live data plane has it; the core decides, this is for help texts."""
    protects: ClassVar[bool] = True
    """Whether anything is done about losses."""
    events: ClassVar[Mapping[str, tuple[str, str]]] = {}
    """Counters for ``lab watch``: words, and the group and name of the counter in a guard's report."""

    @abstractmethod
    def value(
        self, spelling: Spelling, argument: Mapping[str, Any], options: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the value of a protection; ``options`` has every option of the spelling."""

    @abstractmethod
    def spell(self, value: Mapping[str, Any]) -> str:
        """Return the shortest spelling of a value, as guards report it: no options."""

    @abstractmethod
    def load_share(self, value: Mapping[str, Any], *, loss_ratio: float, frame_wire_bytes: int) -> float:
        """Return the share of a link's rate that original frames may take, above 0 and at most 1.

        Parameters
        ----------
        value
            The protection.
        loss_ratio
            Mean share of frames that the link loses.
        frame_wire_bytes
            Octets that an original frame takes on the wire, preamble and gap included.
        """

    def source_share(self, value: Mapping[str, Any], *, frame_wire_bytes: int) -> float:
        """Return the share of a link's rate at which an interface in front of it keeps it busy.

        A queue behind the interface hides when frames come, unless something before that queue has a clock.

        Raises
        ------
        ValueError
            No interface loads the link as the simulated source does; why.
        """
        del value, frame_wire_bytes
        return 1.0

    def keeps_order(self, value: Mapping[str, Any]) -> bool:
        """Whether frames leave the link in the order in which they entered it."""
        del value
        return True

    def residual_loss(
        self, value: Mapping[str, Any], *, loss_ratio: float, reverse_loss_ratio: float | None = 0.0
    ) -> float | None:
        """Return the share of frames that stays lost of independent losses; nothing without a closed form.

        Parameters
        ----------
        value
            The protection.
        loss_ratio
            Share of data frames that the link loses.
        reverse_loss_ratio
            The same of the way back; nothing if its losses are not independent.
        """
        del value, loss_ratio, reverse_loss_ratio
        return None

    def for_copies(self, copies: int, control_copies: int) -> str | None:
        """Return the spelling that a monitor asks for when it wants so many copies; nothing without one.

        ``control_copies`` are those of control frames on the way back.
        """
        del copies, control_copies
        return None

    def sender_lines(self, near: Report) -> Iterable[str]:
        """Return the lines of a state about the sending end, from its report."""
        del near
        return ()

    def receiver_lines(self, far: Report) -> Iterable[str]:
        """Return the lines of a state about the receiving end, from its report."""
        del far
        return ()

    def parameters(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters that rows of the experiment ``fec`` show, by their row keys."""
        del value
        return {}

    def recovered(self, near: Report, far: Report) -> int:
        """Return the frames that were brought back on their way from the near to the far end, live."""
        del near, far
        return 0

    def stress_row(self, near: Report, far: Report) -> dict[str, Any]:
        """Return what a live row of the stress experiment shows of the reports at its end.

        Buffers are in kilobytes of 1000 bytes.
        """
        del near, far
        return {
            "tx_buffer_kb_max": 0.0,
            "rx_buffer_kb_max": 0.0,
            "retransmissions": 0,
            "duplicates_dropped": 0,
            "timeouts": 0,
        }
