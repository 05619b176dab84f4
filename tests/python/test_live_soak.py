"""A long run in short: guards that go on and on keep no frame, no descriptor and no memory."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from lossylink.linux.lab import Lab

from .live_support import PATIENCE_SECONDS, agreed, lab, needs_live_lab, run_counted, until

needs_live_lab()

_PROTECTIONS = ("fec:10/3", "llr", "lg:copies=3,control_copies=3")
#: Rounds in which all is taken into use once: pools and arenas grow to what the load needs.
_WARM_ROUNDS = 1
_ROUNDS = 4
_FRAMES = 15_000
#: What a process may grow by in its best round. Seven bytes kept of each frame are as much,
#: every round. A pool that a stalled machine has filled once grows in that round alone.
_GROWTH_BYTES = 300_000


def _sizes(up: Lab) -> list[tuple[int, int]]:
    """Return the descriptors and the resident bytes of each guard."""
    sizes = []
    for box in ("sw2", "sw6"):
        socket = str(up.directory.control(box)).encode()
        processes = up.enclave.processes(up.directory.prefix + box)
        folder = next(
            Path(f"/proc/{one.pid}")
            for one in processes
            if socket in Path(f"/proc/{one.pid}/cmdline").read_bytes()
        )
        resident = int((folder / "statm").read_text().split()[1]) * 4096
        sizes.append((len(list((folder / "fd").iterdir())), resident))
    return sizes


def _round(up: Lab) -> None:
    """Go through all protections, each with a load over a link that corrupts both ways."""
    for protection in _PROTECTIONS:
        up.protect(protection)
        until(lambda: agreed(up), seconds=PATIENCE_SECONDS, what=f"agreement on {protection}")
        tally, _ = run_counted(up, frames=_FRAMES, frame_bytes=1000, rate_bps=200_000_000)
        assert tally["altered"] == 0


def test_guards_keep_nothing() -> None:
    with lab(split=True, protection="lg", loss_forward="1%", loss_reverse="1%") as up:
        for _ in range(_WARM_ROUNDS):
            _round(up)
        sizes = [_sizes(up)]
        for _ in range(_ROUNDS):
            _round(up)
            sizes.append(_sizes(up))
        for guard in zip(*sizes, strict=True):
            descriptors, resident = zip(*guard, strict=True)
            assert descriptors[-1] <= descriptors[0]
            assert min(after - before for before, after in pairwise(resident)) <= _GROWTH_BYTES, resident
        # Corrupted frames no longer come: all that is held is acknowledged or given up.
        up.set_loss(forward="none", reverse="none")
        until(
            lambda: all(guard["frames_held"] == 0 for guard in up.guards()),
            seconds=PATIENCE_SECONDS,
            what="the return of every frame to its pool",
        )
