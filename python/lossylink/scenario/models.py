"""The sections of a scenario as frozen models: what each key means and which values it takes."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

# Annotations are read as they stand: postponed ones would be compiled once more.
from msgspec import UNSET, defstruct

from lossylink.declared.protections import Option, common_options, read_common, usages
from lossylink.scenario.readers import (
    Count,
    Length,
    OnOff,
    PositiveTime,
    Rate,
    Ratio,
    Size,
    Time,
    axis_of,
    one_of,
    read_backend,
    read_confidence,
    read_list,
    read_rdma_mtu,
    read_seed,
    read_time_or_auto,
)
from lossylink.scenario.section import Section, says
from lossylink.units import parse_positive_time, parse_ratio, parse_size

CongestionControl = Literal["reno", "cubic", "dctcp", "bbr", "bbr3"]
TrafficSource = Literal["generator", "saturated", "tcp", "udp-smooth", "udp-bursty"]
Recovery = Literal["go-back-n", "selective-repeat"]
Protocol = Literal["tcp", "rdma"]


class Link(Section, frozen=True, kw_only=True):
    """The protected link."""

    rate: Annotated[Rate, says("bits per second on the wire")]
    rate_back: Annotated[Rate | None, says("bits per second on the way back; unset: link.rate")] = None
    propagation: Annotated[Time | None, says("one-way delay of the cable")] = None
    length: Annotated[Length | None, says("cable length instead of its delay, at 5 ns a metre")] = None
    phy_latency: Annotated[
        Time | None, says("delay of the line's code in each direction; unset: that of phy's code, or none")
    ] = None
    mtu: Annotated[Size, says("largest IP packet in bytes; the Ethernet frame is 14 B longer")] = 1500


class LossSection(Section, frozen=True, kw_only=True):
    """What the link corrupts, in each direction; the spellings are those of `lossylink.scenario.loss`."""

    forward: Annotated[str, str, says("loss of the direction that the data takes")] = "0"
    reverse: Annotated[str, str, says("loss of the direction that the ACKs take")] = "0"


class SwitchSection(Section, frozen=True, kw_only=True):
    """The switches at both ends of the protected link."""

    profile: Annotated[str, says("a profile's name (tofino1, ideal, reorder-memory) or a TOML file")] = (
        "tofino1"
    )
    queue: Annotated[Size | None, says("limit of the sender's normal queue")] = None
    ecn_threshold: Annotated[Size | None, says("queue from which on packets are ECN-marked")] = None
    marking_min: Annotated[Size | None, says("queue from which on DCQCN's random marking begins (Kmin)")] = (
        None
    )
    marking_max: Annotated[
        Size | None, says("queue beyond which every packet is marked for DCQCN (Kmax)")
    ] = None
    marking_probability: Annotated[
        Ratio | None, says("share of packets marked for DCQCN at a queue just below Kmax (Pmax)")
    ] = None
    resume: Annotated[Size | None, says("reorder buffer at which a paused sender is resumed")] = None
    pause: Annotated[Size | None, says("reorder buffer at which the sender is paused")] = None
    rx_buffer: Annotated[Size | None, says("bound of the reorder buffer; a frame beyond it is dropped")] = (
        None
    )
    tx_buffer: Annotated[
        Size | None, says("bound of the buffer of sent copies; a copy beyond it is not kept")
    ] = None
    recirculation: Annotated[Rate | None, says("rate of a recirculation port; never below the link's")] = None


class HostSection(Section, frozen=True, kw_only=True):
    """The end hosts."""

    profile: Annotated[str, says("a profile's name (ideal, lab, ae-hosts) or a TOML file")] = "ae-hosts"
    nic_rate: Annotated[Rate | None, says("rate of the sending host's interface; unset: the link's")] = None


class Schemes(Section, frozen=True, kw_only=True):
    """The protections to run, one row each, and options common to those that take them."""

    schemes: Annotated[list[str], read_list, says(usages())]

    def options(self) -> dict[str, Any]:
        """Return the options that were given, without the schemes."""
        options = {name: getattr(self, name) for name in self.__struct_fields__ if name != "schemes"}
        return {name: value for name, value in options.items() if value is not UNSET}


def _option_key(option: Option) -> tuple[str, Any, Any]:
    """Return the name, the type and the default of an option: unset, since not every protection has it."""
    read = partial(read_common, option.name)
    return option.name, Annotated[Any, read, says(option.description)], UNSET


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

    packets: Annotated[Count | None, says("frames to send")] = None
    frame: Annotated[Size, says("Ethernet frame without FCS, in bytes")] = 1514
    source: Annotated[
        TrafficSource,
        one_of(TrafficSource),
        says(
            "stress: saturated (a frame always waits) or generator (of the switch, at its own pace); "
            "fec: tcp, udp-smooth or udp-bursty"
        ),
    ] = "saturated"
    rate: Annotated[Rate, says("mean rate of a UDP source, in bits of frames without FCS")] = 100_000_000
    burst: Annotated[Count, says("frames of a bursty UDP source that leave back to back")] = 74


class Transport(Section, frozen=True, kw_only=True):
    """The transport protocol of the hosts; TCP uses the first group of keys, RDMA the second."""

    congestion_control: Annotated[CongestionControl, one_of(CongestionControl), says("TCP's algorithm")] = (
        "dctcp"
    )
    mss: Annotated[Size, says("TCP's maximum segment size in bytes")] = 1460
    timestamps: Annotated[OnOff, says("TCP timestamps, which take 12 bytes of each segment")] = False
    delayed_ack: Annotated[Count, says("segments acknowledged by one ACK")] = 2
    rto_min: Annotated[PositiveTime | None, says("minimum retransmission timeout")] = None
    initial_window: Annotated[Count | None, says("segments sent before the first ACK")] = None
    receive_window: Annotated[
        Size | None, says("most bytes that a receiver offers; unset: 3 MiB, as Linux's buffer gives")
    ] = None
    segmentation_offload: Annotated[
        OnOff | None, says("hand bursts to the interface, which cuts them; in mathis they cross whole")
    ] = None
    protocol: Annotated[
        Protocol, one_of(Protocol), says("transport of a workload's flows, or of long flows")
    ] = "tcp"
    recovery: Annotated[Recovery, one_of(Recovery), says("an RDMA interface's answer to a gap")] = "go-back-n"
    mtu: Annotated[int, read_rdma_mtu, says("RDMA packet payload in bytes")] = 1024
    dcqcn: Annotated[OnOff | None, says("RDMA senders slow down when packets are marked")] = None


class PathSection(Section, frozen=True, kw_only=True):
    """The path between the hosts."""

    rtt: Annotated[PositiveTime | None, says("network round trip; unset: the artifact's path")] = None
    loss: Annotated[str, str, says("loss behind the link, toward the receiver, which nothing protects")] = "0"
    loss_back: Annotated[str, str, says("loss behind the link on the way back, which nothing protects")] = "0"
    jitter: Annotated[
        Time, says("extra delay of each packet behind the link, toward the receiver: uniform from 0 to this")
    ] = 0
    jitter_back: Annotated[
        Time, says("extra delay of each packet on the way back, toward the sender: uniform from 0 to this")
    ] = 0
    reorder: Annotated[OnOff, says("whether packets overtake each other by their jitter")] = False


class Flow(Section, frozen=True, kw_only=True):
    """The flows of one experiment."""

    size: Annotated[Size, says("bytes of each flow")] = 24_387
    trials: Annotated[Count, says("flows one after another, or runs of a long flow")] = 1
    precision: Annotated[
        Ratio | None, says("fewer runs when their standard errors are within this share; unset: all runs")
    ] = None
    count: Annotated[Count, says("long flows at the same time")] = 1
    distribution: Annotated[
        str, says("sizes of the flows of a workload: web-search, rpc or a TOML or CSV file")
    ] = "web-search"
    load: Annotated[Ratio, says("bytes of a workload's flows over the rate of the link")] = 0.5


class Timeline(Section, frozen=True, kw_only=True):
    """When things happen on the time line; without ``protection`` a monitor of the link decides."""

    corruption: Annotated[Time, says("the link starts to corrupt")]
    corruption_end: Annotated[Time | None, says("the link is clean again; unset: it never is")] = None
    protection: Annotated[
        int | None,
        read_time_or_auto,
        says("the protection is switched on; auto: when a monitor of the link asks for it"),
    ]
    poll: Annotated[PositiveTime, says("time between two readings of the monitor")] = 10**12
    bin: Annotated[PositiveTime, says("width of one row of the time line")]


class MonitorSection(Section, frozen=True, kw_only=True):
    """When the monitor of ``timeline.protection = "auto"`` protects the link, and when it stops."""

    window: Annotated[Count, says("frames that the decision to do less looks back on")] = 10**9
    on_loss: Annotated[Ratio, says("loss ratio from which on the link is protected")] = 1e-8
    off_loss: Annotated[Ratio, says("loss ratio below which the link needs no protection any more")] = 5e-9
    confidence: Annotated[float, read_confidence, says("how sure a decision must be")] = 0.99
    hold: Annotated[Time, says("least time before a decision that does less")] = 10 * 10**12


class Grid(Section, frozen=True, kw_only=True):
    """The trials of the Mathis study: every MSS with every RTT, each with its own loss ratios."""

    mss: Annotated[list[int], axis_of(parse_size), says("segment sizes")]
    rtt: Annotated[list[int], axis_of(parse_positive_time), says("round-trip times")]
    loss: Annotated[
        list[float] | None,
        axis_of(parse_ratio),
        says("loss ratios for every pair, instead of drawn ones"),
    ] = None
    loss_min: Annotated[Ratio, says("smallest loss ratio")]
    loss_max: Annotated[Ratio, says("largest loss ratio")]
    loss_count: Annotated[Count, says("loss ratios for each pair, drawn uniformly in log(p)")]
    loss_events: Annotated[Count, says("loss events that a trial lasts for")]


class FabricSection(Section, frozen=True, kw_only=True):
    """A whole fabric of switches, and how its links fail and are repaired."""

    topology: Annotated[
        str, says("fb-fabric:pods=P,tors=T,oversubscription=O, with T ToR switches a pod, or fat-tree:k=K")
    ]
    constraint: Annotated[
        Ratio, says("share of its paths that every ToR switch keeps; 0 drains all, 1 none")
    ] = 0.5
    deployment: Annotated[
        Ratio, says("share of the pods that are protected; below 1, only up to the aggregation switches")
    ] = 1.0
    years: Annotated[Count, says("independent runs, each with its own failures and repairs")] = 1
    mttf: Annotated[PositiveTime, says("mean time between two failures of a link")]
    span: Annotated[PositiveTime, says("from the first failure to the last possible one, whole hours")]
    repair: Annotated[PositiveTime, says("a repair whose first attempt succeeds takes this long")]
    second_repair: Annotated[PositiveTime, says("a repair that needs a second attempt takes this long")]
    first_attempt: Annotated[Ratio, says("share of repairs whose first attempt succeeds")]
    trace: Annotated[str, says("failures: drawn from the seed, or a JSON or CSV file")] = "drawn"
    points: Annotated[
        str, says("loss and speed of a protected link: simulated, linkguardian-100g or a TOML file")
    ] = "simulated"


class RunSection(Section, frozen=True, kw_only=True):
    """How the experiment is carried out."""

    duration: Annotated[PositiveTime | None, says("simulated time")] = None
    warmup: Annotated[Time, says("start of the run that is not counted")] = 0
    cooldown: Annotated[Time, says("end of the run that is not counted")] = 0
    threads: Annotated[Count | None, says("threads to use; unset: all cores")] = None
    backend: Annotated[
        str,
        read_backend,
        says("sim, the live lab, or kernel: real hosts over the simulated path, in virtual time"),
    ] = "sim"
    skip: Annotated[OnOff, says("skip work that cannot change the result; off: event by event")] = True
    rare: Annotated[OnOff, says("find losses that are too rare to count, by importance sampling")] = False
    looks: Annotated[Count, says("with `run.rare`: copies of the link in which a loss is steered")] = 20_000
    tail: Annotated[OnOff, says("with `run.rare`: also the tail of the latency, for most of the time")] = True


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

    experiment: Annotated[str, says("its name")]
    title: Annotated[str, says("one line for people")] = ""
    seed: Annotated[int, read_seed, says("decides every random draw")] = 1


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
