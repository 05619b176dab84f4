"""The system's tools that a lab needs, and where to look for them."""

from __future__ import annotations

import os

#: Where administrators' tools are; Debian leaves these out of the PATH of ordinary users.
_ADMINISTRATORS = ("/usr/local/sbin", "/usr/sbin", "/sbin")


def complete_path() -> None:
    """Let this process and what it starts find ``ip``, ``ethtool`` and ``tcpdump``, whoever the user is.

    Examples
    --------
    >>> complete_path()
    >>> "/usr/sbin" in os.environ["PATH"].split(os.pathsep)
    True
    """
    places = [place for place in os.environ.get("PATH", os.defpath).split(os.pathsep) if place]
    places += [place for place in _ADMINISTRATORS if place not in places]
    os.environ["PATH"] = os.pathsep.join(places)
