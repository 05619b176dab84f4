"""What is run: four lines from a loss of 1e-8 to one of 1e-2, under flows of TCP and RDMA, and at full load.

The bit error ratios follow from theory, so that the cliff of every code lies inside of its grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from lossylink.reproduce.framework.model import Job, Scale
from lossylink.reproduce.framework.quantity import power_text
from lossylink.theory.phy import bit_error_ratio_for, code_named, mean_frame_loss_ratio

LOSS_RATES: Final = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
FRAME_BYTES: Final = 1_514
FCS_BYTES: Final = 4
BLOCK_CODE: Final = "fec:32/4"
"""A failed codeword takes at most two full frames of a busy line, so a block outlives any two of them."""
PROTECTIONS: Final = ("none", "lg", "llr", BLOCK_CODE)
FLOWS: Final = 100_000
"""A hundred flows are slower than the 99.9th percentile."""
PACKETS: Final = 20_000_000
"""Frames at full load: 20 are lost at 1e-6."""
TCP, RDMA, STRESS = "tcp-fct", "rdma-fct", "stress"
EXPERIMENTS: Final = (TCP, RDMA, STRESS)


@dataclass(frozen=True, order=True)
class Line:
    """A line by its code and its rate."""

    code: str
    gbps: int

    @property
    def name(self) -> str:
        """As tables and charts call it."""
        return f"{'no code' if self.code == 'none' else self.code}, {self.gbps}G"

    @property
    def symbol_bits(self) -> int:
        """Bits of a line symbol: lanes of 25G and below are NRZ."""
        return 1 if self.gbps < 50 else 2


KP4: Final = Line("rs544", 100)
LINES: Final = (Line("none", 25), Line("rs528", 25), Line("rs272", 100), KP4)


@cache
def bits(line: Line, loss: float) -> float:
    """Return the bit error ratio, to four digits, at which a line loses such a share of full frames.

    Examples
    --------
    >>> bits(Line("rs544", 100), 1e-8), bits(Line("rs544", 100), 1e-3)
    (0.0004244, 0.001062)
    """
    found = bit_error_ratio_for(
        loss, code_named(line.code), frame_bytes=FRAME_BYTES + FCS_BYTES, line_bits=line.symbol_bits
    )
    return float(f"{found:.4g}")


def expected_loss(line: Line, loss: float) -> float:
    """Return the loss of full frames at the bit error ratio that was run.

    Examples
    --------
    >>> f"{expected_loss(Line('rs272', 100), 1e-4):.2e}"
    '1.00e-04'
    """
    return mean_frame_loss_ratio(
        code_named(line.code),
        bit_error_ratio=bits(line, loss),
        frame_bytes=FRAME_BYTES + FCS_BYTES,
        line_bits=line.symbol_bits,
    )


def key(experiment: str, line: Line, loss: float) -> str:
    """The job of a point."""
    return f"{experiment}, {line.name}, loss {power_text(loss)}"


def jobs(scale: Scale) -> tuple[Job, ...]:
    """Every point of every line, each kind of traffic in turn."""
    flows, packets = scale.of(FLOWS, at_least=5_000), scale.of(PACKETS, at_least=1_000_000)
    amounts: dict[str, tuple[dict[str, Any], float]] = {
        TCP: ({"flow.trials": flows}, flows / 2.5e4),
        RDMA: ({"flow.trials": flows}, flows / 5e4),
        STRESS: (
            {"traffic.packets": packets, "traffic.frame": FRAME_BYTES, "traffic.source": "saturated"},
            packets / 5e6,
        ),
    }
    return tuple(
        Job(key(name, line, loss), name, PROTECTIONS, {**_line(line, loss), **settings}, weight)
        for name, (settings, weight) in amounts.items()
        for line in LINES
        for loss in LOSS_RATES
    )


def _line(line: Line, loss: float) -> dict[str, Any]:
    forward = f"phy:code={line.code},ber={bits(line, loss):g}"
    return {"link.rate": f"{line.gbps}Gbps", "loss.forward": forward}
