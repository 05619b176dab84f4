"""Guests: real Linux hosts in virtual time, with a simulated path between them.

`Guest` runs a `Plan` on a kernel of `lossylink.kernel`. `hosts` makes the two hosts out of a configuration.
"""

from __future__ import annotations

from lossylink.guest.machine import Finished, Guest, Plan

__all__ = ["Finished", "Guest", "Plan"]
