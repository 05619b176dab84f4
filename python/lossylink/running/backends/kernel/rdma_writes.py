"""Completion times of RDMA writes in a guest, over the kernel's own RDMA in software (rxe)."""

from __future__ import annotations

import bisect
import math
import random
import shlex
from collections.abc import Callable, Iterator
from typing import Any

from lossylink.errors import RunError, UserError
from lossylink.linux.guest import Plan, rdma
from lossylink.linux.guest.compiling import compiled
from lossylink.linux.guest.hosts import HOSTS, round_trip_seconds
from lossylink.linux.kernel.cache import cache_folder
from lossylink.running.backends._completion_times import completion_times
from lossylink.running.backends.kernel.rdma_record import Write, writes_in
from lossylink.running.backends.kernel.running import PROGRAMS, Measured, carried_out, path_of

#: The program inside of the guest.
_SOURCE = PROGRAMS / "rdma_writes.c"
#: Its name, and files that it reads and writes, in the directory that host and guest share.
_PROGRAM, _PLAN, _RESULTS = "rdma-writes", "writes", "results"
#: What the program says of a write that did not succeed.
_FAILED = "failed"
_COUNTERS = "counters"
#: The largest message of InfiniBand.
_LARGEST_BYTES = 2**31
#: Both ends have a copy of the message, beside what the guest needs for itself.
_KERNEL_BYTES, _COPIES = 2**30, 3
#: Between two writes the path falls silent for a round trip and this at least, and for up to so much longer
#: that writes begin anywhere between two ticks.
_LEAST_REST_NS, _SPREAD_NS = 10**6, 4 * 10**6


def measure(config: dict[str, Any], report: Callable[[float, float], None]) -> dict[str, Any]:
    """Run the writes that a configuration asks for."""
    trials = config["flow"]["trials"]

    def tell(word: str, rest: str) -> None:
        if word == "done":
            report(float(rest), trials)

    with carried_out(plan_of(config), tell) as seen:
        results = (seen.finished.work / _RESULTS).read_text().split()
        writes = writes_in(seen.record, writes=trials, packets_each=_packets(config))
        if len(results) != trials:
            raise RunError(f"the guest tells of {len(results)} of {trials} writes")
        times = [math.inf if result == _FAILED else int(result) / 1e3 for result in results]
        row = _row(config, seen, times, writes)
    columns = {
        "fct_us": times,
        "retransmissions": [float(write.sent_again) for write in writes],
        "timeouts": [float(write.timeouts) for write in writes],
    }
    return {"row": row, "columns": {"trials": columns}, "interrupted": False}


def plan_of(config: dict[str, Any]) -> Plan:
    """Return what the guest is to do.

    Raises
    ------
    UserError
        The kernel's RDMA is not what the configuration asks for, or the machine lacks what its programs need.
    RunError
        The compiler refuses the program.
    """
    rdma.check(config)
    size, transport, host = config["flow"]["size_bytes"], config["transport"], config["host"]
    if size > _LARGEST_BYTES:
        raise UserError(f"flow.size = {size} B: a message has {_LARGEST_BYTES} B at the most; lower it")
    rdma.require_verbs()
    program = compiled(
        _SOURCE.read_text(), _PROGRAM, cache_folder(), ["-O2", "-std=gnu11", "-Wall", "-libverbs"]
    )
    timer = rdma.timer_exponent(host["rdma_timeout_us"])
    shape = [size, transport["mtu_bytes"], timer, host["rdma_retry_count"]]
    words = [*rdma.INTERFACES, *(host.address for host in HOSTS), *map(str, shape)]
    return Plan(
        script="\n".join(
            [
                rdma.setup_script(config),
                'cd "$LOSSYLINK_WORK"',
                f"./{_PROGRAM} {shlex.join(words)} {_PLAN} {_RESULTS}",
                rdma.counters_script(_COUNTERS),
            ]
        ),
        path=path_of(rdma.between_interfaces(config)),
        seed=config["seed"],
        records=True,
        memory_bytes=_KERNEL_BYTES + _COPIES * size,
        files={_PLAN: "".join(_lines(config)), _RESULTS: ""},
        programs={_PROGRAM: program},
    )


def _lines(config: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each write: how long to rest before it and what the interface adds to it, ns."""
    draws = random.Random(config["seed"])
    least = _LEAST_REST_NS + round_trip_seconds(rdma.between_interfaces(config)) * 1e9
    for _ in range(config["flow"]["trials"]):
        rest = least + draws.random() * _SPREAD_NS
        adds = latency_ns(config["host"], draws.random(), config["flow"]["size_bytes"])
        yield f"{rest:.0f} {adds:.0f}\n"


def latency_ns(host: dict[str, Any], quantile: float, size_bytes: int) -> float:
    """Return what the interface of a host adds to a message, as the simulator does.

    Examples
    --------
    >>> host = {"rdma_latency": [[0, 0], [0.9, 0], [1, 500]], "rdma_inline_bytes": 220, "rdma_fetch_ns": 7000}
    >>> [round(latency_ns(host, *one)) for one in ((0.5, 220), (0.5, 221), (0.95, 220))]
    [0, 7000, 250]
    """
    fetch = host["rdma_fetch_ns"] if size_bytes > host["rdma_inline_bytes"] else 0.0
    shares, delays = zip(*host["rdma_latency"], strict=True)
    after = min(max(bisect.bisect_left(shares, quantile), 1), len(shares) - 1)
    share = (quantile - shares[after - 1]) / (shares[after] - shares[after - 1])
    return float(delays[after - 1] + share * (delays[after] - delays[after - 1]) + fetch)


def _packets(config: dict[str, Any]) -> int:
    """Return the packets of a message, of which an empty one has one, too."""
    size, mtu = int(config["flow"]["size_bytes"]), int(config["transport"]["mtu_bytes"])
    return max(1, -(-size // mtu))


def _row(
    config: dict[str, Any], seen: Measured, times_us: list[float], writes: list[Write]
) -> dict[str, Any]:
    responder = _counters(seen, rdma.INTERFACES[1])
    timer = rdma.timer_exponent(config["host"]["rdma_timeout_us"])
    return {
        **seen.report,
        "recovery": config["transport"]["recovery"],
        "flow_bytes": config["flow"]["size_bytes"],
        **completion_times(times_us),
        "flows_hit": sum(write.sent_again > 0 for write in writes),
        "flows_unfinished": sum(map(math.isinf, times_us)),
        "repaired_nak": sum(write.repairs > 0 and not write.timeouts for write in writes),
        "repaired_timeout": sum(write.timeouts > 0 for write in writes),
        "retransmissions": sum(write.sent_again for write in writes),
        "timeouts": sum(write.timeouts for write in writes),
        "naks": responder["out_of_seq_request"],
        "duplicates": responder["duplicate_request"],
        "rdma_mtu_bytes": config["transport"]["mtu_bytes"],
        "rdma_timer_us": rdma.timer_us(timer),
        "guest_kernel": seen.kernel,
    }


def _counters(seen: Measured, interface: str) -> dict[str, int]:
    """Return what rxe has counted at an interface."""
    told = [line.split() for line in seen.lines[_COUNTERS]]
    return {name: int(value) for of, name, value in told if of == interface}


#: The experiments that are measured here.
MEASURES = {"rdma-fct": measure}
