"""Guests: real Linux hosts in virtual time, with a simulated path between them.

`Guest` runs a `Plan` on a kernel of `lossylink.linux.kernel`. `hosts` makes the two hosts of a configuration.
"""

from __future__ import annotations

from lossylink.linux.guest.machine import Finished, Guest, Plan

__all__ = ["Finished", "Guest", "Plan"]
