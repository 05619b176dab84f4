"""The monitor: watches a link's loss and decides about its protection, as the published daemon does.

The rule: over a window of frames, a loss rate from 1e-8 on asks for one copy, from 1e-3 on for as many as
bring the rest below 1e-8. A window here is the last few seconds, since a live link carries no 10^8 frames in
them; a rate is acted on when at least one frame was lost, and forgotten after a window without loss.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lossylink.lab.lab import Lab

#: Effective loss that the copies are to reach.
_TARGET_LOSS = 1e-8
#: From this loss rate on the number of copies follows the rule; below, one is enough.
_MANY_COPIES_FROM = 1e-3
#: Seconds between two looks, and of the window.
_POLL_SECONDS, _WINDOW_SECONDS = 0.5, 5.0


def decide(*, frames: int, lost: int) -> str:
    """Return the protection that a window of ``frames`` of which ``lost`` were corrupted asks for.

    Examples
    --------
    >>> decide(frames=100_000, lost=0), decide(frames=100_000, lost=5), decide(frames=100_000, lost=1000)
    ('off', 'lg:copies=1', 'lg:copies=3')
    """
    if lost == 0 or frames == 0:
        return "off"
    rate = lost / frames
    if rate < _MANY_COPIES_FROM:
        return "lg:copies=1"
    copies = math.ceil(math.log(_TARGET_LOSS) / math.log(min(rate, 0.5)) - 1e-9) - 1
    return f"lg:copies={min(max(copies, 1), 16)}"


def run_monitor(lab: Lab, *, seconds: float | None, tell: Callable[[str], None]) -> None:
    """Poll the link and switch its protection, until Ctrl-C or for ``seconds``."""
    window: deque[tuple[int, int]] = deque(maxlen=round(_WINDOW_SECONDS / _POLL_SECONDS) + 1)
    current, started = "", time.monotonic()
    try:
        while seconds is None or time.monotonic() - started < seconds:
            forward = lab.link.counters()["directions"]["forward"]
            window.append((forward["frames_offered"], forward["frames_lost"]))
            frames, lost = (now - then for now, then in zip(window[-1], window[0], strict=True))
            wanted = decide(frames=frames, lost=lost)
            if wanted != current and len(window) > 1:
                lab.protect(wanted)
                rate = lost / frames if frames else 0.0
                tell(f"{lost} of {frames} frames lost ({rate:.2e}): {wanted}")
                current = wanted
            time.sleep(_POLL_SECONDS)
    except KeyboardInterrupt:
        return
