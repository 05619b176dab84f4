"""The sections of a scenario as frozen models: what each key means and which values it takes."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

# Annotations are read as they stand: postponed ones would be compiled once more.
from msgspec import UNSET, defstruct

from lossylink import backends
from lossylink.protections import Option, common_options, read_common, usages
from lossylink.scenario.section import Section, key
from lossylink.units import (
    parse_count,
    parse_length,
    parse_positive_time,
    parse_rate,
    parse_ratio,
    parse_size,
    parse_switch,
    parse_time,
)

CongestionControl = Literal["reno", "cubic", "dctcp", "bbr", "bbr3"]
TrafficSource = Literal["generator", "saturated", "tcp", "udp-smooth", "udp-bursty"]
Recovery = Literal["go-back-n", "selective-repeat"]

#: Packet payloads that a RoCE interface offers, in bytes (InfiniBand specification, path MTU).
RDMA_MTUS = (256, 512, 1024, 2048, 4096)


def _rdma_mtu(value: object) -> int:
    if str(value).strip().upper().removesuffix("B") not in {str(mtu) for mtu in RDMA_MTUS}:
        raise ValueError(f"RDMA has no MTU '{value}'; valid: {', '.join(map(str, RDMA_MTUS))}")
    return int(str(value).strip().upper().removesuffix("B"))


def _backend(value: object) -> str:
    if value not in backends.names():
        raise ValueError(f"no such backend; valid: {', '.join(backends.names())}")
    return str(value)


def _as_list(value: object) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _axis(read: Callable[[object], Any]) -> Callable[[object], list[Any]]:
    """Read a list, one value, or values separated by commas as ``--set`` brings them."""

    def read_all(value: object) -> list[Any]:
        parts = value.split(",") if isinstance(value, str) else _as_list(value)
        return [read(part.strip() if isinstance(part, str) else part) for part in parts]

    return read_all


def _one_of(choice: Any) -> Callable[[object], object]:
    """Read one of the words of a `Literal`."""
    words = get_args(choice)

    def read(value: object) -> object:
        if value not in words:
            raise ValueError(f"no such choice; valid: {', '.join(map(repr, words))}")
        return value

    return read


def _time_or_auto(value: object) -> int | None:
    return None if value is None or str(value).strip().lower() == "auto" else parse_time(value)


def _seed(value: object) -> int:
    word = str(value)
    if not word.isdecimal() or int(word) >= 2**64:
        raise ValueError("a seed is a whole number from 0 up to 2^64 - 1")
    return int(word)


class Link(Section, frozen=True, kw_only=True):
    """The protected link."""

    rate: Annotated[int, key("bits per second on the wire", parse_rate)]
    propagation: Annotated[int | None, key("one-way delay of the cable", parse_time)] = None
    length: Annotated[int | None, key("cable length instead of its delay, at 5 ns a metre", parse_length)] = (
        None
    )
    mtu: Annotated[int, key("largest IP packet in bytes; the Ethernet frame is 14 B longer", parse_size)] = (
        1500
    )


class LossSection(Section, frozen=True, kw_only=True):
    """What the link corrupts, in each direction; the spellings are those of `lossylink.scenario.loss`."""

    forward: Annotated[str, key("loss of the direction that the data takes", str)] = "0"
    reverse: Annotated[str, key("loss of the direction that the ACKs take", str)] = "0"


class SwitchSection(Section, frozen=True, kw_only=True):
    """The switches at both ends of the protected link."""

    profile: Annotated[str, key("a profile's name (tofino1, ideal) or a TOML file")] = "tofino1"
    queue: Annotated[int | None, key("limit of the sender's normal queue", parse_size)] = None
    ecn_threshold: Annotated[int | None, key("queue from which on packets are ECN-marked", parse_size)] = None
    marking_min: Annotated[
        int | None, key("queue from which on DCQCN's random marking begins (Kmin)", parse_size)
    ] = None
    marking_max: Annotated[
        int | None, key("queue beyond which every packet is marked for DCQCN (Kmax)", parse_size)
    ] = None
    marking_probability: Annotated[
        float | None, key("share of packets marked for DCQCN just below that (Pmax)", parse_ratio)
    ] = None
    resume: Annotated[int | None, key("reorder buffer at which a paused sender is resumed", parse_size)] = (
        None
    )
    pause: Annotated[int | None, key("reorder buffer at which the sender is paused", parse_size)] = None
    rx_buffer: Annotated[
        int | None, key("bound of the reorder buffer; a frame beyond it is dropped", parse_size)
    ] = None
    tx_buffer: Annotated[
        int | None, key("bound of the buffer of sent copies; a copy beyond it is not kept", parse_size)
    ] = None
    recirculation: Annotated[
        int | None, key("rate of a recirculation port; never below the link's", parse_rate)
    ] = None


class HostSection(Section, frozen=True, kw_only=True):
    """The end hosts."""

    profile: Annotated[str, key("a profile's name (ideal, lab, ae-hosts) or a TOML file")] = "ae-hosts"
    nic_rate: Annotated[
        int | None, key("rate of the sending host's interface; unset: the link's", parse_rate)
    ] = None


class Schemes(Section, frozen=True, kw_only=True):
    """The protections to run, one row each, and options common to those that take them."""

    schemes: Annotated[list[str], key(usages(), _as_list)]

    def options(self) -> dict[str, Any]:
        """Return the options that were given, without the schemes."""
        options = {name: getattr(self, name) for name in self.__struct_fields__ if name != "schemes"}
        return {name: value for name, value in options.items() if value is not UNSET}


def _option_key(option: Option) -> tuple[str, Any, Any]:
    """Return the name, the type and the default of an option: unset, since not every protection has it."""
    about = key(option.description, partial(read_common, option.name))
    return option.name, Annotated[Any, about], UNSET


if TYPE_CHECKING:
    ProtectionSection = Schemes
else:
    #: The options are those of the families, so that a new family brings its own.
    ProtectionSection = defstruct(
        "ProtectionSection",
        [_option_key(option) for option in common_options().values()],
        bases=(Schemes,),
        namespace={"__doc__": Schemes.__doc__},
        frozen=True,
        kw_only=True,
    )


class Traffic(Section, frozen=True, kw_only=True):
    """What is sent: frames of the stress test, or the TCP flow or the datagrams of the fec experiment."""

    packets: Annotated[int | None, key("frames to send", parse_count)] = None
    frame: Annotated[int, key("Ethernet frame without FCS, in bytes", parse_size)] = 1514
    source: Annotated[
        TrafficSource,
        key(
            "stress: saturated (a frame always waits) or generator (of the switch, at its own pace); "
            "fec: tcp, udp-smooth or udp-bursty",
            _one_of(TrafficSource),
        ),
    ] = "saturated"
    rate: Annotated[int, key("mean rate of a UDP source, in bits of frames without FCS", parse_rate)] = (
        100_000_000
    )
    burst: Annotated[int, key("frames of a bursty UDP source that leave back to back", parse_count)] = 74


class Transport(Section, frozen=True, kw_only=True):
    """The transport protocol of the hosts; TCP uses the first group of keys, RDMA the second."""

    congestion_control: Annotated[CongestionControl, key("TCP's algorithm", _one_of(CongestionControl))] = (
        "dctcp"
    )
    mss: Annotated[int, key("TCP's maximum segment size in bytes", parse_size)] = 1460
    timestamps: Annotated[bool, key("TCP timestamps, which take 12 bytes of each segment", parse_switch)] = (
        False
    )
    delayed_ack: Annotated[int, key("segments acknowledged by one ACK", parse_count)] = 2
    rto_min: Annotated[int | None, key("minimum retransmission timeout", parse_positive_time)] = None
    initial_window: Annotated[int | None, key("segments sent before the first ACK", parse_count)] = None
    receive_window: Annotated[
        int | None,
        key("most bytes that a receiver offers; unset: 3 MiB, as Linux's buffer gives", parse_size),
    ] = None
    segmentation_offload: Annotated[
        bool | None,
        key("hand bursts to the interface, which cuts them; in mathis they cross whole", parse_switch),
    ] = None
    protocol: Annotated[
        Literal["tcp", "rdma"],
        key("what carries the flows of a workload, or long flows", _one_of(Literal["tcp", "rdma"])),
    ] = "tcp"
    recovery: Annotated[Recovery, key("what an RDMA interface does at a gap", _one_of(Recovery))] = (
        "go-back-n"
    )
    mtu: Annotated[int, key("RDMA packet payload in bytes", _rdma_mtu)] = 1024
    dcqcn: Annotated[bool | None, key("RDMA senders slow down when packets are marked", parse_switch)] = None


class PathSection(Section, frozen=True, kw_only=True):
    """The path between the hosts."""

    rtt: Annotated[int | None, key("network round trip; unset: the artifact's path", parse_positive_time)] = (
        None
    )


class Flow(Section, frozen=True, kw_only=True):
    """The flows of one experiment."""

    size: Annotated[int, key("bytes of each flow", parse_size)] = 24_387
    trials: Annotated[int, key("flows one after another, or runs of a long flow", parse_count)] = 1
    precision: Annotated[
        float | None,
        key("fewer runs when their standard errors are within this share; unset: all runs", parse_ratio),
    ] = None
    count: Annotated[int, key("long flows at the same time", parse_count)] = 1
    distribution: Annotated[
        str, key("sizes of the flows of a workload: web-search, rpc or a TOML or CSV file")
    ] = "web-search"
    load: Annotated[float, key("bytes of a workload's flows over the rate of the link", parse_ratio)] = 0.5


class Timeline(Section, frozen=True, kw_only=True):
    """When things happen on the time line; without ``protection`` a monitor of the link decides."""

    corruption: Annotated[int, key("the link starts to corrupt", parse_time)]
    corruption_end: Annotated[int | None, key("the link is clean again; unset: it never is", parse_time)] = (
        None
    )
    protection: Annotated[
        int | None,
        key("the protection is switched on; auto: when a monitor of the link asks for it", _time_or_auto),
    ]
    poll: Annotated[int, key("time between two readings of the monitor", parse_positive_time)] = 10**12
    bin: Annotated[int, key("width of one row of the time line", parse_positive_time)]


class MonitorSection(Section, frozen=True, kw_only=True):
    """When the monitor of ``timeline.protection = "auto"`` protects the link, and when it stops."""

    window: Annotated[int, key("frames that the decision to do less looks back on", parse_count)] = 10**9
    on_loss: Annotated[float, key("loss ratio from which on the link is protected", parse_ratio)] = 1e-8
    off_loss: Annotated[float, key("loss ratio below which it needs no protection any more", parse_ratio)] = (
        5e-9
    )
    confidence: Annotated[float, key("how sure a decision must be", float, above=0.5, below=1.0)] = 0.99
    hold: Annotated[int, key("least time before a decision that does less", parse_time)] = 10 * 10**12


class Grid(Section, frozen=True, kw_only=True):
    """The trials of the Mathis study: every MSS with every RTT, each with its own loss ratios."""

    mss: Annotated[list[int], key("segment sizes", _axis(parse_size))]
    rtt: Annotated[list[int], key("round-trip times", _axis(parse_positive_time))]
    loss: Annotated[
        list[float] | None, key("loss ratios for every pair, instead of drawn ones", _axis(parse_ratio))
    ] = None
    loss_min: Annotated[float, key("smallest loss ratio", parse_ratio)]
    loss_max: Annotated[float, key("largest loss ratio", parse_ratio)]
    loss_count: Annotated[int, key("loss ratios for each pair, drawn uniformly in log(p)", parse_count)]
    loss_events: Annotated[int, key("loss events that a trial lasts for", parse_count)]


class FabricSection(Section, frozen=True, kw_only=True):
    """A whole fabric of switches, and how its links fail and are repaired."""

    topology: Annotated[
        str, key("fb-fabric:pods=P,tors=T,oversubscription=O, with T ToR switches a pod, or fat-tree:k=K")
    ]
    constraint: Annotated[
        float, key("share of its paths that every ToR switch keeps; 0 drains all, 1 none", parse_ratio)
    ] = 0.5
    deployment: Annotated[
        float,
        key(
            "share of the pods that are protected; below 1, only up to the aggregation switches", parse_ratio
        ),
    ] = 1.0
    years: Annotated[int, key("independent runs, each with its own failures and repairs", parse_count)] = 1
    mttf: Annotated[int, key("mean time between two failures of a link", parse_positive_time)]
    span: Annotated[
        int, key("from the first failure to the last possible one, whole hours", parse_positive_time)
    ]
    repair: Annotated[int, key("a repair whose first attempt succeeds takes this long", parse_positive_time)]
    second_repair: Annotated[
        int, key("a repair that needs a second attempt takes this long", parse_positive_time)
    ]
    first_attempt: Annotated[float, key("share of repairs whose first attempt succeeds", parse_ratio)]
    trace: Annotated[str, key("failures: drawn from the seed, or a JSON or CSV file")] = "drawn"
    points: Annotated[
        str, key("what a protection makes of a link: simulated, linkguardian-100g or a TOML file")
    ] = "simulated"


class RunSection(Section, frozen=True, kw_only=True):
    """How the experiment is carried out."""

    duration: Annotated[int | None, key("simulated time", parse_positive_time)] = None
    warmup: Annotated[int, key("start of the run that is not counted", parse_time)] = 0
    cooldown: Annotated[int, key("end of the run that is not counted", parse_time)] = 0
    threads: Annotated[int | None, key("threads to use; unset: all cores", parse_count)] = None
    backend: Annotated[
        str,
        key("sim, the live lab, or kernel: real hosts over the simulated path, in virtual time", _backend),
    ] = "sim"
    skip: Annotated[bool, key("skip what cannot change the result", parse_switch)] = True
    rare: Annotated[
        bool, key("find losses that are too rare to count, by importance sampling", parse_switch)
    ] = False
    looks: Annotated[
        int, key("with `run.rare`: copies of the link in which a loss is steered", parse_count)
    ] = 20_000
    tail: Annotated[
        bool, key("with `run.rare`: also the tail of the latency, for most of the time", parse_switch)
    ] = True


SECTIONS: dict[str, type[Section]] = {
    "link": Link,
    "loss": LossSection,
    "switch": SwitchSection,
    "host": HostSection,
    "protection": ProtectionSection,
    "traffic": Traffic,
    "transport": Transport,
    "path": PathSection,
    "flow": Flow,
    "timeline": Timeline,
    "monitor": MonitorSection,
    "grid": Grid,
    "fabric": FabricSection,
    "run": RunSection,
}


class Heading(Section, frozen=True, kw_only=True):
    """What stands above the sections."""

    experiment: Annotated[str, key("its name")]
    title: Annotated[str, key("one line for people")] = ""
    seed: Annotated[int, key("decides every random draw", _seed)] = 1


class Sections(Heading, frozen=True, kw_only=True):
    """The sections that one experiment uses, in base units."""

    link: Link
    loss: LossSection
    switch: SwitchSection
    protection: ProtectionSection
    run: RunSection
    host: HostSection | None = None
    traffic: Traffic | None = None
    transport: Transport | None = None
    path: PathSection | None = None
    flow: Flow | None = None
    timeline: Timeline | None = None
    monitor: MonitorSection | None = None
    grid: Grid | None = None
    fabric: FabricSection | None = None
