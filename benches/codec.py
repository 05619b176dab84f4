"""The codec's cases: frames of 1500 B in blocks of (25, 5), as ``cargo bench`` measures them."""

from __future__ import annotations

import re
import subprocess
from functools import cache, partial
from pathlib import Path

from case import Measurement

ROOT = Path(__file__).parent.parent
#: Size and parity of the code, the work, microseconds a block, and Gb/s of data frames.
LINE = re.compile(r"^\s*25/5\s+(encode|rebuild \d+)\s+[\d.]+\s+([\d.]+)", re.MULTILINE)
FRAME_BITS = 1500 * 8
#: A frame at 10 Gb/s, and at 5 Gb/s.
ENCODE_GOAL_NS, REBUILD_GOAL_NS = 1_200.0, 2_400.0


@cache
def _gbps_by_work() -> dict[str, float]:
    command = ["cargo", "bench", "--locked", "--package", "lossylink-codec"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return {work: float(gbps) for work, gbps in LINE.findall(done.stdout)}


def _frame_ns(work: str) -> float:
    return FRAME_BITS / _gbps_by_work()[work]


CASES = {
    "codec-encode": Measurement("frame", ENCODE_GOAL_NS, partial(_frame_ns, "encode")),
    "codec-rebuild": Measurement("frame", REBUILD_GOAL_NS, partial(_frame_ns, "rebuild 1")),
}
