"""RDMA writes in the simulator beside those of the kernel (rxe): percentiles of completion times.

Where a timer decides they are known to differ, and not by little: rxe's timers tick every millisecond, and of
two gaps in a message rxe repairs the first alone at once (``docs/guides/virtual-lab.md``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lossylink.linux.guest.comparison import CLOSE, Measure
from lossylink.linux.guest.hosts import TICK_US
from lossylink.statistics.estimates import Estimate, percentile_interval

#: Losses of the link, and its protections.
LOSSES, PROTECTIONS = ("0", "1e-3", "1e-2"), ("none", "lg", "lg-nb")
PERCENTS = (50.0, 90.0, 99.0, 99.9)
_RATE, _SIZE_BYTES, _TRIALS = "100Gbps", 24_387, 5_000


@dataclass(frozen=True, kw_only=True)
class Writes:
    """One percentile of the completion times of RDMA writes on both, us."""

    loss: str
    protection: str
    percent: float
    sim_us: Estimate
    kernel_us: Estimate

    @property
    def is_of_timer(self) -> bool:
        """Whether a timer decides this percentile on either side: rxe's never waits for less than a tick.

        A write that never ends waits for no timer any more.
        """
        return TICK_US < max(self.sim_us.value, self.kernel_us.value) < math.inf

    @property
    def passes(self) -> bool:
        """Whether both all but agree, their intervals overlap, or a timer decides.

        The losses of the two are not the same, and of so many percentiles some differ by chance.
        """
        is_close = abs(self.kernel_us.value / self.sim_us.value - 1) <= CLOSE
        overlap = self.sim_us.low <= self.kernel_us.high and self.kernel_us.low <= self.sim_us.high
        return is_close or overlap or self.is_of_timer

    def __str__(self) -> str:
        sides = " and ".join(
            f"{one.value:.3f} ({one.low:.3f} to {one.high:.3f})" for one in (self.sim_us, self.kernel_us)
        )
        timer = ", a timer's" if self.is_of_timer else ""
        return f"rdma {_RATE} {self.loss} {self.protection} p{self.percent:g}: {sides} us{timer}"

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON has it."""
        sides = {"sim_us": self.sim_us.as_json(), "kernel_us": self.kernel_us.as_json()}
        return asdict(self) | sides | {"is_of_timer": self.is_of_timer, "passes": self.passes}


def writes(
    *, measure: Measure, losses: Sequence[str] = LOSSES, protections: Sequence[str] = PROTECTIONS
) -> Iterator[Writes]:
    """Run writes on both and compare percentiles of their completion times, one point after another."""
    for loss in losses:
        for protection in protections:
            settings = {
                "host.profile": "ideal",
                "link.rate": _RATE,
                "loss.forward": loss,
                "flow.size": _SIZE_BYTES,
                "flow.trials": _TRIALS,
            }
            sim, kernel = (
                measure("rdma-fct", protection, backend, settings, 1).tables["trials"]["fct_us"].to_numpy()
                for backend in ("sim", "kernel")
            )
            for percent in PERCENTS:
                yield Writes(
                    loss=loss,
                    protection=protection,
                    percent=percent,
                    sim_us=percentile_interval(sim, percent),
                    kernel_us=percentile_interval(kernel, percent),
                )
