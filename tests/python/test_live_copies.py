"""Guards on a link that loses frames in both directions: copies of loss notifications."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from lossylink.linux.lab import Lab
from lossylink.theory.linkguardian import effective_loss_ratio

from .live_support import PATIENCE_SECONDS, agreed, lab, needs_live_lab, run_counted, sessions, until

needs_live_lab()

_LOSS_RATIO = 0.01
_COPIES = 3
_FRAMES = 150_000
#: A machine that stalls begins sessions anew, which this is not about.
_ATTEMPTS = 3


@dataclass(frozen=True)
class _Account:
    """What became of the frames that the link lost, by the receiving guard."""

    lost: int
    unrecovered: int

    def expected(self, *, control_copies: int) -> float:
        """Unrecovered frames by the closed form, for as many losses."""
        left = effective_loss_ratio(
            loss_ratio=_LOSS_RATIO,
            copies=_COPIES,
            reverse_loss_ratio=_LOSS_RATIO,
            control_copies=control_copies,
        )
        return self.lost * float(left) / _LOSS_RATIO


def _load(up: Lab) -> _Account:
    """Send the load within one session."""
    for _ in range(_ATTEMPTS):
        until(lambda: agreed(up), seconds=PATIENCE_SECONDS, what="agreement of the guards")
        before, begun = up.guards()[1]["receiver"], sessions(up)
        tally, dropped = run_counted(up, frames=_FRAMES, frame_bytes=64, rate_bps=34_000_000)
        after = up.guards()[1]["receiver"]
        assert tally["altered"] == tally["duplicated"] == 0
        if sessions(up) != begun:
            continue
        grown = {name: after[name] - before[name] for name in ("lost", "retransmissions", "duplicates")}
        unrecovered = grown["lost"] - (grown["retransmissions"] - grown["duplicates"])
        # The hosts miss those, and what ports and queues dropped.
        assert unrecovered <= tally["sent"] - tally["delivered"] <= unrecovered + dropped
        return _Account(lost=grown["lost"], unrecovered=unrecovered)
    pytest.fail(f"none of {_ATTEMPTS} loads passed within one session")


@pytest.mark.parametrize(
    ("option", "control_copies", "fewest", "most"),
    [
        # 15 expected: less than three come in one run of 25,000, more than 45 in one of a billion.
        (",control_copies=1", 1, 3, 45),
        # The rule for a loss of one in a hundred: 0.003 expected, two or more in one run of 200,000.
        ("", 3, 0, 1),
        # 0.15 expected, five or more in one run of two million.
        (",control_copies=2", 2, 0, 4),
    ],
)
def test_lost_notifications_have_copies(option: str, control_copies: int, fewest: int, most: int) -> None:
    protection = f"lg-nb:copies={_COPIES}{option}"
    with lab(protection=protection, loss_forward="1%", loss_reverse="1%") as up:
        account = _load(up)
        near, far = up.guards()
        assert [end["receiver"]["control_copies"] for end in (near, far)] == [control_copies] * 2
        expected = account.expected(control_copies=control_copies)
        print(f"{protection}: {account}, {expected:.3g} expected")
        assert fewest <= account.unrecovered <= most
        # Copies of a notification are taken in, and cost no second retransmission.
        assert near["sender"]["retransmitted"] <= far["receiver"]["lost"]
        repeated = near["sender"]["notifications_repeated"]
        assert (repeated > 0.9 * (control_copies - 1) * far["receiver"]["notifications"]) == (
            control_copies > 1
        )


def test_copies_of_notifications_follow_the_loss_of_the_way_back() -> None:
    with lab(protection="lg:copies=2") as up:
        until(lambda: agreed(up), seconds=PATIENCE_SECONDS, what="agreement of the guards")

        def control_copies() -> list[int]:
            return [guard["receiver"]["control_copies"] for guard in up.guards()]

        assert control_copies() == [1, 1]
        up.set_loss(reverse="1e-2")
        until(lambda: control_copies() == [1, 3], seconds=PATIENCE_SECONDS, what="copies from the far guard")
        up.protect("lg:copies=2,control_copies=4")
        until(
            lambda: control_copies() == [4, 4], seconds=PATIENCE_SECONDS, what="the copies that were chosen"
        )
