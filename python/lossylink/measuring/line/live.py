"""The gauges of an interface of this machine, as its driver tells them through ``ethtool``."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import fields
from typing import Any, Final

from lossylink.errors import UserError
from lossylink.measuring.interface import Interface
from lossylink.measuring.line import ethtool
from lossylink.measuring.line.gauges import Gauges

#: The kernel's counters first: drivers name theirs as they like.
_ASKED: Final = (("--json", "-I", "--show-fec"), ("-S",))


def read_live(interface: Interface) -> Gauges:
    """Return what an interface has counted of its line's code; empty where its driver counts nothing."""
    told: list[Gauges] = []
    for options in _ASKED:
        text = interface.ethtool(*options)
        if ethtool.recognises(text):
            with suppress(UserError):  # a driver without such counters is no mistake of the user's
                told += ethtool.read(text, interface.name).values()
    counted: dict[str, Any] = {}
    for one in fields(Gauges):
        values = [value for gauges in told if (value := getattr(gauges, one.name)) not in (None, ())]
        if values and one.name != "source":
            counted[one.name] = values[0]
    return Gauges(source="ethtool", **counted)
