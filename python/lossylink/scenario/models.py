"""The sections of a scenario as frozen models: what each key means and which values it takes."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

# Pydantic reads annotations as they stand: postponed ones would be compiled once more.
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

from lossylink import backends
from lossylink.modelling import built
from lossylink.protections import Option, common_options, read_common, usages
from lossylink.units import Count, Length, OnOff, PositiveTime, Rate, Ratio, Size, Time, parse_time

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


def _as_list(value: object) -> object:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _as_axis(value: object) -> object:
    """Take a list, one value, or values separated by commas as ``--set`` brings them."""
    if value is None:
        return None
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else _as_list(value)


def _time_or_auto(value: object) -> int | None:
    return None if value is None or str(value).strip().lower() == "auto" else parse_time(value)


class Section(BaseModel):
    """Base of all sections: immutable, and a key that it does not know is an error."""

    # A section is built as a part of `Sections`; by itself only for who asks it to check something.
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, defer_build=True)


class Link(Section):
    """The protected link."""

    rate: Rate = Field(description="bits per second on the wire")
    propagation: Time | None = Field(None, description="one-way delay of the cable")
    length: Length | None = Field(None, description="cable length instead of its delay, at 5 ns a metre")
    mtu: Size = Field(1500, description="largest IP packet in bytes; the Ethernet frame is 14 B longer")


class LossSection(Section):
    """What the link corrupts, in each direction; the spellings are those of `lossylink.scenario.loss`."""

    forward: str | float = Field("0", description="loss of the direction that the data takes")
    reverse: str | float = Field("0", description="loss of the direction that the ACKs take")


class SwitchSection(Section):
    """The switches at both ends of the protected link."""

    profile: str = Field("tofino1", description="a profile's name (tofino1, ideal) or a TOML file")
    queue: Size | None = Field(None, description="limit of the sender's normal queue")
    ecn_threshold: Size | None = Field(None, description="queue from which on packets are ECN-marked")
    marking_min: Size | None = Field(
        None, description="queue from which on DCQCN's random marking begins (Kmin)"
    )
    marking_max: Size | None = Field(
        None, description="queue beyond which every packet is marked for DCQCN (Kmax)"
    )
    marking_probability: Ratio | None = Field(
        None, description="share of packets marked for DCQCN just below that (Pmax)"
    )
    resume: Size | None = Field(None, description="reorder buffer at which a paused sender is resumed")
    pause: Size | None = Field(None, description="reorder buffer at which the sender is paused")
    rx_buffer: Size | None = Field(
        None, description="bound of the reorder buffer; a frame beyond it is dropped"
    )
    tx_buffer: Size | None = Field(
        None, description="bound of the buffer of sent copies; a copy beyond it is not kept"
    )
    recirculation: Rate | None = Field(
        None, description="rate of a recirculation port; never below the link's"
    )


class HostSection(Section):
    """The end hosts."""

    profile: str = Field("ae-hosts", description="a profile's name (ideal, lab, ae-hosts) or a TOML file")
    nic_rate: Rate | None = Field(None, description="rate of the sending host's interface; unset: the link's")


class Schemes(Section):
    """The protections to run, one row each, and options common to those that take them."""

    schemes: Annotated[list[str], BeforeValidator(_as_list)] = Field(description=usages())

    def options(self) -> dict[str, Any]:
        """Return the options that were given, without the schemes."""
        return {key: getattr(self, key) for key in self.model_fields_set - {"schemes"}}


def _option_field(option: Option) -> Any:
    read = BeforeValidator(lambda value: read_common(option.name, value))
    return Annotated[Any, read], Field(option.default, description=option.description)


if TYPE_CHECKING:
    ProtectionSection = Schemes
else:
    #: The options are those of the families, so that a new family brings its own.
    ProtectionSection = create_model(
        "ProtectionSection",
        __base__=Schemes,
        __doc__=Schemes.__doc__,
        **{name: _option_field(option) for name, option in common_options().items()},
    )


class Traffic(Section):
    """What is sent: frames of the stress test, or the TCP flow or the datagrams of the fec experiment."""

    packets: Count | None = Field(None, description="frames to send")
    frame: Size = Field(1514, description="Ethernet frame without FCS, in bytes")
    source: TrafficSource = Field(
        "saturated",
        description="stress: saturated (a frame always waits) or generator (of the switch, at its own pace); "
        "fec: tcp, udp-smooth or udp-bursty",
    )
    rate: Rate = Field(100_000_000, description="mean rate of a UDP source, in bits of frames without FCS")
    burst: Count = Field(74, description="frames of a bursty UDP source that leave back to back")


class Transport(Section):
    """The transport protocol of the hosts; TCP uses the first group of keys, RDMA the second."""

    congestion_control: CongestionControl = Field("dctcp", description="TCP's algorithm")
    mss: Size = Field(1460, description="TCP's maximum segment size in bytes")
    timestamps: OnOff = Field(False, description="TCP timestamps, which take 12 bytes of each segment")
    delayed_ack: Count = Field(2, description="segments acknowledged by one ACK")
    rto_min: PositiveTime | None = Field(None, description="minimum retransmission timeout")
    initial_window: Count | None = Field(None, description="segments sent before the first ACK")
    receive_window: Size | None = Field(
        None, description="most bytes that a receiver offers; unset: 3 MiB, as Linux's buffer gives"
    )
    segmentation_offload: OnOff | None = Field(
        None, description="hand bursts to the interface, which cuts them; in mathis they cross whole"
    )
    protocol: Literal["tcp", "rdma"] = Field(
        "tcp", description="what carries the flows of a workload, or long flows"
    )
    recovery: Recovery = Field("go-back-n", description="what an RDMA interface does at a gap")
    mtu: Annotated[int, BeforeValidator(_rdma_mtu)] = Field(1024, description="RDMA packet payload in bytes")
    dcqcn: OnOff | None = Field(None, description="RDMA senders slow down when packets are marked")


class PathSection(Section):
    """The path between the hosts."""

    rtt: PositiveTime | None = Field(None, description="network round trip; unset: the artifact's path")


class Flow(Section):
    """The flows of one experiment."""

    size: Size = Field(24_387, description="bytes of each flow")
    trials: Count = Field(1, description="flows one after another, or runs of a long flow")
    precision: Ratio | None = Field(
        None, description="fewer runs when their standard errors are within this share; unset: all runs"
    )
    count: Count = Field(1, description="long flows at the same time")
    distribution: str = Field(
        "web-search", description="sizes of the flows of a workload: web-search, rpc or a TOML or CSV file"
    )
    load: Ratio = Field(0.5, description="bytes of a workload's flows over the rate of the link")


class Timeline(Section):
    """When things happen on the time line; without ``protection`` a monitor of the link decides."""

    corruption: Time = Field(description="the link starts to corrupt")
    corruption_end: Time | None = Field(None, description="the link is clean again; unset: it never is")
    protection: Annotated[int | None, BeforeValidator(_time_or_auto)] = Field(
        description="the protection is switched on; auto: when a monitor of the link asks for it"
    )
    poll: PositiveTime = Field(10**12, description="time between two readings of the monitor")
    bin: PositiveTime = Field(description="width of one row of the time line")


class MonitorSection(Section):
    """When the monitor of ``timeline.protection = "auto"`` protects the link, and when it stops."""

    window: Count = Field(10**9, description="frames that the decision to do less looks back on")
    on_loss: Ratio = Field(1e-8, description="loss ratio from which on the link is protected")
    off_loss: Ratio = Field(5e-9, description="loss ratio below which it needs no protection any more")
    confidence: float = Field(0.99, gt=0.5, lt=1.0, description="how sure a decision must be")
    hold: Time = Field(10 * 10**12, description="least time before a decision that does less")


class Grid(Section):
    """The trials of the Mathis study: every MSS with every RTT, each with its own loss ratios."""

    mss: Annotated[list[Size], BeforeValidator(_as_axis)] = Field(description="segment sizes")
    rtt: Annotated[list[PositiveTime], BeforeValidator(_as_axis)] = Field(description="round-trip times")
    loss: Annotated[list[Ratio] | None, BeforeValidator(_as_axis)] = Field(
        None, description="loss ratios for every pair, instead of drawn ones"
    )
    loss_min: Ratio = Field(description="smallest loss ratio")
    loss_max: Ratio = Field(description="largest loss ratio")
    loss_count: Count = Field(description="loss ratios for each pair, drawn uniformly in log(p)")
    loss_events: Count = Field(description="loss events that a trial lasts for")


class FabricSection(Section):
    """A whole fabric of switches, and how its links fail and are repaired."""

    topology: str = Field(
        description="fb-fabric:pods=P,tors=T,oversubscription=O, with T ToR switches a pod, or fat-tree:k=K"
    )
    constraint: Ratio = Field(
        0.5, description="share of its paths that every ToR switch keeps; 0 drains all, 1 none"
    )
    deployment: Ratio = Field(
        1.0,
        description="share of the pods that are protected; below 1, only up to the aggregation switches",
    )
    years: Count = Field(1, description="independent runs, each with its own failures and repairs")
    mttf: PositiveTime = Field(description="mean time between two failures of a link")
    span: PositiveTime = Field(description="from the first failure to the last possible one, whole hours")
    repair: PositiveTime = Field(description="a repair whose first attempt succeeds takes this long")
    second_repair: PositiveTime = Field(description="a repair that needs a second attempt takes this long")
    first_attempt: Ratio = Field(description="share of repairs whose first attempt succeeds")
    trace: str = Field("drawn", description="failures: drawn from the seed, or a JSON or CSV file")
    points: str = Field(
        "simulated",
        description="what a protection makes of a link: simulated, linkguardian-100g or a TOML file",
    )


class RunSection(Section):
    """How the experiment is carried out."""

    duration: PositiveTime | None = Field(None, description="simulated time")
    warmup: Time = Field(0, description="start of the run that is not counted")
    cooldown: Time = Field(0, description="end of the run that is not counted")
    threads: Count | None = Field(None, description="threads to use; unset: all cores")
    backend: Annotated[str, BeforeValidator(_backend)] = Field(
        "sim",
        description="sim, the live lab, or kernel: real hosts over the simulated path, in virtual time",
    )
    skip: OnOff = Field(True, description="skip what cannot change the result")
    rare: OnOff = Field(False, description="find losses that are too rare to count, by importance sampling")
    looks: Count = Field(20_000, description="with `run.rare`: copies of the link in which a loss is steered")
    tail: OnOff = Field(
        True, description="with `run.rare`: also the tail of the latency, for most of the time"
    )


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


@built
class Sections(Section):
    """The sections that one experiment uses, in base units."""

    experiment: str
    title: str = ""
    seed: Annotated[int, Field(ge=0, lt=2**64)] = 1
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
