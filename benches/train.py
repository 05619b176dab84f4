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

#: How much smaller than in the benchmark the cases of an experiment are, so that each takes about as long:
#: what takes long is what a build is made fast for.
DIVISORS = {"stress": 5, "throughput": 20, "tcp-fct": 0.25, "rdma-fct": 1, "workload": 2, "fabric": 1}
_WHOLE = {"run.warmup": "0s", "run.cooldown": "0s"}
#: What no case of the benchmark is: the other protections, transports and experiments.
OTHERS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("stress", "fec:25/5", {"traffic.packets": 2_000_000}),
    ("stress", "fec-model:25/5", {"traffic.packets": 2_000_000}),
    ("stress", "llr", {"traffic.packets": 3_000_000}),
    ("throughput", "none", {"congestion_control": "bbr", "run.duration": "1s", **_WHOLE}),
    ("throughput", "lg", {"congestion_control": "dctcp", "run.duration": "1s", "flow.count": 8, **_WHOLE}),
    ("throughput", "lg", {"transport.protocol": "rdma", "run.duration": "0.1s", **_WHOLE}),
    ("workload", "lg", {"transport.protocol": "rdma", "flow.trials": 2_000, "flow.distribution": "rpc"}),
    ("timeline", "lg", {}),
    ("fec", "fec:25/5", {"run.duration": "0.2s", **_WHOLE}),
)


def main() -> int:
    """Run everything once, and say how long each took."""
    cases = [
        (case.experiment, list(case.protection), case.settings_at(DIVISORS[case.experiment]))
        for case in CASES.values()
    ]
    cases += [(experiment, [protection], settings) for experiment, protection, settings in OTHERS]
    for experiment, protections, settings in cases:
        started = time.perf_counter()
        lossylink.run(experiment, protection=protections, settings=settings, threads=1)
        words = f"{experiment} {' '.join(protections)}: {time.perf_counter() - started:.1f} s"
        print(words, file=sys.stderr, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
