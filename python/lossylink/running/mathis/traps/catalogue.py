"""The six methodological traps of the reproduction study: what goes wrong, who catches it, the correction.

Each is a trial that can be set up twice, naively and correctly. The mistakes and the figures are those of
the study (its values are facts about one testbed); the words are ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from lossylink.errors import unknown
from lossylink.running.mathis.design import PICOSECONDS_PER_MILLISECOND, PICOSECONDS_PER_SECOND

MEGABIT: Final = 10**6

STUDY_DURATION_PS: Final = 240 * PICOSECONDS_PER_SECOND
"""The study runs every flow for 240 s."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """One way to set a trap's trial up."""

    name: str
    commands: tuple[str, ...]
    """What a student types on the testbed: a teacher's handle on the simulated setting."""
    overrides: Mapping[str, Any] = field(default_factory=dict)
    """Dotted keys of the simulator's configuration that differ from the planned trial."""


@dataclass(frozen=True, kw_only=True)
class Trap:
    """A mistake, told so that it can be walked into, noticed and mended."""

    name: str
    number: int
    title: str
    mss_bytes: int
    rtt_ms: float
    loss_ratio: float
    setups: tuple[Setup, ...]
    """Naive ones first, the corrected one last."""
    caught_by: str
    """The check that fails on every naive set-up and passes on the corrected one."""
    mistake: str
    symptom: str
    correction: str
    published: Mapping[str, str] = field(default_factory=dict)
    duration_ps: int | None = None
    """Length of every run, or `None` to plan each from its loss events."""


def _netem(loss_percent: float, delay_ms: float, rate: str = "3Gbit") -> str:
    return (
        f"router# tc class add dev ens8 parent 1: classid 1:3 htb rate {rate}; "
        f"tc qdisc add dev ens8 parent 1:3 netem delay {delay_ms:g}ms loss {loss_percent:.10g}% limit 100MB"
    )


PERCENT = Trap(
    name="percent",
    number=1,
    title="a ratio where a percentage is meant",
    mss_bytes=1460,
    rtt_ms=6.0,
    loss_ratio=0.1566283969,
    duration_ps=STUDY_DURATION_PS,
    setups=(
        Setup(
            name="naive",
            commands=(_netem(0.1566283969, 3),),
            overrides={"loss.forward": {"model": "bernoulli", "p": 0.001566283969}},
        ),
        Setup(
            name="naive, offloads on",
            commands=(_netem(0.1566283969, 3), "hosts# ethtool -K ens7 gso on tso on gro on"),
            overrides={
                "loss.forward": {"model": "bernoulli", "p": 0.001566283969},
                "transport.segmentation_offload": True,
            },
        ),
        Setup(name="corrected", commands=(_netem(15.66283969, 3),)),
    ),
    caught_by="loss_ratio",
    mistake=(
        "The model's p is a ratio, netem's loss a percentage. Typing the ratio makes the link lose a "
        "hundredth of what was meant, and nothing complains."
    ),
    symptom="Far more bandwidth than the model allows; a ping of 1000 probes loses one instead of 157.",
    correction="Multiply by 100 and write the sign: lossylink takes 0.1566 or 15.66% and echoes both.",
    published=MappingProxyType(
        {
            "model": "4.92 Mb/s",
            "naive, offloads on": "207 Mb/s (the study's offloads were still on)",
            "corrected": "1.68 Mb/s",
        }
    ),
)

DURATION = Trap(
    name="duration",
    number=2,
    title="a run too short for rare losses",
    mss_bytes=1460,
    rtt_ms=77.25,
    loss_ratio=3e-5,
    setups=(
        Setup(
            name="naive",
            commands=("romeo$ iperf3 -c juliet -t 10 -C reno -M 1460",),
            overrides={"run.duration_ps": 10 * PICOSECONDS_PER_SECOND, "run.warmup_ps": 0},
        ),
        Setup(
            name="corrected",
            commands=("romeo$ iperf3 -c juliet -t {duration_s:.0f} -O {warmup_s:.0f} -C reno -M 1460",),
        ),
    ),
    caught_by="duration",
    mistake=(
        "A loss ratio of 3e-5 is one loss in 33,333 segments. In ten seconds, iperf3's default, the flow "
        "meets a handful of them and most of what is measured is its slow start."
    ),
    symptom="Bandwidth and loss ratio change from run to run; a repetition does not agree with itself.",
    correction="Run until at least 30 losses are expected, better 100, and leave the start-up out.",
)

QUEUE = Trap(
    name="queue",
    number=3,
    title="a queue in a queueless experiment",
    mss_bytes=4312,
    rtt_ms=6.0,
    loss_ratio=3e-5,
    setups=(
        Setup(
            name="naive",
            commands=(_netem(3e-3, 3, "1Gbit"),),
            overrides={"link.rate_bps": 1000 * MEGABIT},
        ),
        Setup(name="corrected", commands=(_netem(3e-3, 3, "{link_gbps:.2g}Gbit"),)),
    ),
    caught_by="queue",
    mistake=(
        "A bottleneck of 1 Gb/s looks ample because the model's largest value is lower. The flow reaches it "
        "all the same, and the 100 MB buffer, there to avoid drops, fills instead."
    ),
    symptom="The mean RTT rises above the minimum: the formula's RTT is no longer the one that was set.",
    correction=(
        "Raise the bottleneck well above what the flow reaches (the study: 3 Gb/s; here four times the "
        "expected mean, because a window under random loss swings), and compare mean and minimum RTT."
    ),
)

TIMESTAMPS = Trap(
    name="timestamps",
    number=4,
    title="TCP timestamps shrink the segment",
    mss_bytes=1460,
    rtt_ms=77.25,
    loss_ratio=1e-3,
    setups=(
        Setup(
            name="naive",
            commands=("romeo# sysctl -w net.ipv4.tcp_timestamps=1",),
            overrides={"transport.timestamps": True},
        ),
        Setup(name="corrected", commands=("romeo# sysctl -w net.ipv4.tcp_timestamps=0",)),
    ),
    caught_by="mss",
    mistake=(
        "Linux sends timestamps by default, and their 12 B come out of the segment's payload: an MSS of "
        "1460 B was asked for, 1448 B are sent."
    ),
    symptom="Everything looks right; bandwidth is 0.8 % low, and ss shows mss:1448.",
    correction="Turn timestamps off, or put the effective MSS into the model.",
    published=MappingProxyType({"MSS asked for and seen": "1460 B and 1448 B"}),
)

MTU = Trap(
    name="mtu",
    number=5,
    title="the MTU caps the segment",
    mss_bytes=4312,
    rtt_ms=77.25,
    loss_ratio=1e-3,
    setups=(
        Setup(
            name="naive",
            commands=("hosts and router# ip link set dev ens7 mtu 1500",),
            overrides={"link.mtu_bytes": 1500},
        ),
        Setup(
            name="corrected",
            commands=("hosts and router# ip link set dev ens7 mtu 4352",),
            overrides={"link.mtu_bytes": 4352},
        ),
    ),
    caught_by="mtu",
    mistake=(
        "An MSS of 4312 B was asked for on interfaces whose MTU is 1500 B. TCP takes the smaller of the two "
        "without a word: 1460 B."
    ),
    symptom="A third of the expected bandwidth, in every trial of that segment size; ss shows mss:1460.",
    correction="Set the MTU to MSS + 40 = 4352 on the hosts and on both sides of the router.",
    published=MappingProxyType({"MSS asked for and seen": "4312 B and 1460 B", "MTU needed": "4352 B"}),
)

OFFLOAD = Trap(
    name="offload",
    number=6,
    title="offloads join segments into larger ones",
    mss_bytes=536,
    rtt_ms=6.0,
    loss_ratio=1e-3,
    setups=(
        Setup(
            name="naive",
            commands=("hosts# ethtool -K ens7 gso on tso on gro on lro on",),
            overrides={"transport.segmentation_offload": True},
        ),
        Setup(name="corrected", commands=("hosts# ethtool -K ens7 gso off tso off gro off lro off",)),
    ),
    caught_by="offload",
    mistake=(
        "The interface hands the emulated link frames of many segments, up to 64 KB. One draw then decides "
        "over all of them, so that losses come rarer for each byte and in bursts."
    ),
    symptom="The smaller the segments, the further above the model; tcpdump shows frames above the MSS.",
    correction="Turn segmentation and receive offloads off on every interface of the path.",
    published=MappingProxyType({"ratio to the model at 536 B": "5.81 with offloads, 1.17 without"}),
)

TRAPS: Final[Mapping[str, Trap]] = MappingProxyType(
    {trap.name: trap for trap in (PERCENT, DURATION, QUEUE, TIMESTAMPS, MTU, OFFLOAD)}
)
"""Every trap by its name, in the order of the study."""


def trap_named(name: str) -> Trap:
    """Return the trap, or refuse with the names that exist.

    Examples
    --------
    >>> trap_named("mtu").caught_by
    'mtu'
    >>> trap_named("mtus")
    Traceback (most recent call last):
    lossylink.errors.UserError: unknown trap 'mtus'; did you mean 'mtu'? Valid: duration, mtu, ...
    """
    if name not in TRAPS:
        raise unknown("trap", name, TRAPS)
    return TRAPS[name]


def rtt_ps(trap: Trap) -> int:
    """Return the trap's whole round trip in picoseconds."""
    return round(trap.rtt_ms * PICOSECONDS_PER_MILLISECOND)
