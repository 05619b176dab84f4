"""What a build with profile-guided optimisation learns from: each case of the simulator and each protection.

maturin calls it with an instrumented module (``pgo-command`` in ``pyproject.toml``); by itself it does
nothing useful. A case that is left out is compiled as if it never ran, so that all are in.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import lossylink
from simulator import CASES

#: The instrumented module is some five times slower, so that a twentieth of a case takes a quarter as long.
DIVISOR = 20
#: What no case of the benchmark is: the other protections, transports and experiments.
OTHERS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("stress", "fec:25/5", {"traffic.packets": 500_000}),
    ("stress", "fec-model:25/5", {"traffic.packets": 500_000}),
    ("stress", "llr", {"traffic.packets": 1_000_000}),
    ("throughput", "none", {"congestion_control": "bbr", "run.duration": "1s"}),
    ("throughput", "lg", {"congestion_control": "dctcp", "run.duration": "1s", "flow.count": 8}),
    ("throughput", "lg", {"transport.protocol": "rdma", "run.duration": "0.1s"}),
    ("workload", "lg", {"transport.protocol": "rdma", "flow.trials": 200, "flow.distribution": "rpc"}),
    ("timeline", "lg", {}),
    ("fec", "fec:25/5", {"run.duration": "0.2s"}),
)


def main() -> int:
    """Run everything once, and say how long each took."""
    cases = [(case.experiment, list(case.protection), case.settings_at(DIVISOR)) for case in CASES.values()]
    cases += [(experiment, [protection], settings) for experiment, protection, settings in OTHERS]
    for experiment, protections, settings in cases:
        started = time.perf_counter()
        lossylink.run(experiment, protection=protections, settings=settings, threads=1)
        words = f"{experiment} {' '.join(protections)}: {time.perf_counter() - started:.1f} s"
        print(words, file=sys.stderr, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
