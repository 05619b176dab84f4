"""Which program of ``p4/`` does what: the protections that each one offers, and its control plane."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from lossylink.errors import UserError
from lossylink.linux.bmv2 import fec_model, linkguardian
from lossylink.linux.bmv2.common import Pace
from lossylink.linux.bmv2.runtime import Runtime


class ControlPlane(Protocol):
    """What a lab asks of a switch, whatever its program."""

    def set_up(self) -> None:
        """Begin anew."""

    def begin(self, port: str) -> None:
        """Send the packets on their way that circulate for ever."""

    def set(self, parameters: Any) -> None:
        """Put parameters into force."""

    def hold(self, *, is_on: bool) -> None:
        """Hold frames of the host back, or let them go on."""

    def is_at_rest(self) -> bool:
        """Return whether nothing is under way that other parameters would lose."""

    def corrupt(self, loss_ratio: float) -> None:
        """Corrupt frames of the link."""

    def corruption(self) -> dict[str, int]:
        """Return the frames that could be corrupted, and those that were."""

    def state(self) -> dict[str, Any]:
        """Return the state, by the names of the live guards' reports."""


@dataclass(frozen=True)
class Program:
    """One program."""

    family: str
    """Its folder in ``p4/``, and the family of protections that it offers."""
    control: Callable[[Runtime, Pace], ControlPlane]
    off: Any
    """Its parameters when nothing is protected."""
    read: Callable[[Mapping[str, Any]], Any]
    corrupts_on_arrival: bool
    """Whether a switch corrupts what it receives, and not what it sends."""

    def parameters(self, protection: Mapping[str, Any]) -> Any:
        """Return the parameters of a protection's value.

        Raises
        ------
        UserError
            The program does not offer it.
        """
        family = protection["family"].replace("-", "_")
        if family == "none":
            return self.off
        if family != self.family:
            mend = "take the lab down, and up again with that protection"
            raise UserError(f"the program in these switches, {self.family}, has no {family}: {mend}")
        return self.read(protection)


_PROGRAMS = (
    Program(
        linkguardian.FAMILY,
        linkguardian.LinkGuardianSwitch,
        off=linkguardian.Parameters(),
        read=linkguardian.Parameters.of,
        corrupts_on_arrival=True,
    ),
    Program(
        fec_model.FAMILY,
        fec_model.FecModelSwitch,
        off=fec_model.Parameters(),
        read=fec_model.Parameters.of,
        corrupts_on_arrival=False,
    ),
)


def program_of(family: str) -> Program:
    """Return the program for a family of protections; LinkGuardian's where nothing is protected.

    Raises
    ------
    UserError
        No program offers it.

    Examples
    --------
    >>> program_of("none").family, program_of("fec-model").family
    ('linkguardian', 'fec_model')
    >>> program_of("llr")
    Traceback (most recent call last):
    lossylink.errors.UserError: no switch program has llr; there are lg, lg-nb and fec-model
    """
    word = family.replace("-", "_")
    for program in _PROGRAMS:
        if word in {program.family, "none"}:
            return program
    raise UserError(f"no switch program has {family}; there are lg, lg-nb and fec-model")
