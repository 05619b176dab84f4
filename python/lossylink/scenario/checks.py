"""Checks across sections: values that are each sound and do not go together."""

from __future__ import annotations

from lossylink.errors import UserError, hint
from lossylink.scenario.models import Sections
from lossylink.scenario.profiles import check_order, thresholds_at
from lossylink.scenario.scenario import Scenario

#: Octets around an IP packet in an Ethernet frame without FCS.
ETHERNET_HEADER = 14
#: Smallest Ethernet frame without FCS.
MIN_FRAME = 60
#: IPv4 and TCP headers without options, and TCP timestamps padded.
TCP_IP_HEADERS, TCP_TIMESTAMPS = 40, 12
#: IPv4, UDP, base transport header, RDMA extended header and invariant CRC of a RoCEv2 packet.
ROCE_HEADERS = 20 + 8 + 12 + 16 + 4
#: Smallest MSS that Linux accepts by default, in bytes (net.ipv4.tcp_min_snd_mss).
MIN_MSS = 48
_HOUR_PS = 3600 * 10**12
#: Largest MTU of Ethernet hardware, in bytes.
MAX_MTU = 9216


def check_scenario(scenario: Scenario, *, strict: bool) -> None:
    """Refuse combinations that cannot be run; ``strict`` also refuses what a run would quietly change."""
    values = scenario.values
    _check_link(values)
    _check_jitter(values)
    _check_source(scenario)
    _check_live(scenario)
    _check_frame(values)
    _check_transport(scenario, strict=strict)
    _check_times(values)
    _check_load(scenario)
    _check_thresholds(scenario)
    _check_marking(scenario)
    _check_grid(scenario, strict=strict)
    _check_fabric(scenario)


def is_rdma(scenario: Scenario) -> bool:
    """Tell whether the scenario's traffic is RDMA."""
    transport = scenario.values.transport
    only_rdma = "transport.mss" not in scenario.experiment.keys
    return transport is not None and (only_rdma or transport.protocol == "rdma")


def _check_link(values: Sections) -> None:
    if not 68 <= values.link.mtu <= MAX_MTU:
        raise UserError(f"link.mtu = {values.link.mtu} is outside 68 to {MAX_MTU} bytes")


def _check_jitter(values: Sections) -> None:
    if values.path is not None and values.path.reorder and not jitters(values):
        raise UserError(
            "path.reorder: packets that all take as long never overtake; set path.jitter or path.jitter_back,"
            " or leave path.reorder out"
        )


def jitters(values: Sections) -> bool:
    """Tell whether packets take longer by jitter behind the link."""
    return values.path is not None and bool(values.path.jitter or values.path.jitter_back)


def _check_source(scenario: Scenario) -> None:
    traffic, name = scenario.values.traffic, scenario.experiment.name
    if traffic is None:
        return
    sources = scenario.experiment.sources
    if scenario.loses_on_path and traffic.source.startswith("udp"):
        raise UserError(
            f"path.loss: datagrams of {traffic.source} are counted where they leave the link; take"
            " traffic.source=tcp, or leave path.loss and path.loss_back out"
        )
    if jitters(scenario.values) and traffic.source.startswith("udp"):
        raise UserError(
            f"path.jitter: datagrams of {traffic.source} are counted where they leave the link; take"
            " traffic.source=tcp, or leave path.jitter and path.jitter_back out"
        )
    if traffic.source not in sources:
        raise UserError(
            f"traffic.source = {traffic.source}: {name} has no such source; "
            f"{hint(traffic.source, sources)}valid: {', '.join(sources)}"
        )


def _check_live(scenario: Scenario) -> None:
    """The live lab sends TCP at its own pace; it must not seem to have obeyed what it does not know."""
    values = scenario.values
    if values.run.backend != "live":
        return
    if values.run.rare:
        raise UserError("--rare steers the losses of the simulator; leave it out of a live run")
    if values.traffic is not None and values.traffic.source.startswith("udp"):
        raise UserError(f"traffic.source = {values.traffic.source}: live, fec has the source tcp only")
    if scenario.loses_on_path:
        raise UserError(
            "path.loss: the hosts of the live lab hang on the link itself, no hop lies behind it; use"
            " loss.forward and loss.reverse, or --backend kernel"
        )
    if jitters(values):
        raise UserError(
            "path.jitter: the hosts of the live lab hang on the link itself, no hop lies behind it; leave"
            " path.jitter and path.jitter_back out, or use --backend kernel"
        )
    if values.link.rate_back is not None:
        raise UserError(
            "link.rate_back: the link of the live lab has one rate for both ways; leave it out, or use"
            " --backend kernel"
        )
    if values.host is not None and values.host.nic_rate is not None:
        raise UserError("host.nic_rate is an interface of the simulator; leave it out of a live run")


def _check_frame(values: Sections) -> None:
    if values.traffic is None:
        return
    frame, largest = values.traffic.frame, values.link.mtu + ETHERNET_HEADER
    if frame > largest:
        raise UserError(
            f"traffic.frame = {frame} B is larger than the MTU allows: link.mtu {values.link.mtu} B carries"
            f" frames up to {largest} B; lower the frame or set link.mtu={frame - ETHERNET_HEADER}"
        )
    if frame < MIN_FRAME:
        raise UserError(f"traffic.frame = {frame} B is smaller than Ethernet's minimum of {MIN_FRAME} B")


def _check_transport(scenario: Scenario, *, strict: bool) -> None:
    transport, mtu = scenario.values.transport, scenario.values.link.mtu
    if transport is None:
        return
    if is_rdma(scenario):
        if transport.mtu + ROCE_HEADERS > mtu:
            raise UserError(
                f"transport.mtu = {transport.mtu} B does not fit link.mtu {mtu} B; set link.mtu to at least"
                f" {transport.mtu + ROCE_HEADERS}"
            )
        return
    if transport.mss < MIN_MSS:
        raise UserError(f"transport.mss = {transport.mss} B is below Linux's minimum of {MIN_MSS} B")
    if strict:
        _refuse_capped_mss("transport.mss", transport.mss, mtu)


def _refuse_capped_mss(key: str, mss: int, mtu: int) -> None:
    needed = mss + TCP_IP_HEADERS
    if needed > mtu:
        raise UserError(
            f"{key} = {mss} B does not fit link.mtu {mtu} B and would be cut to"
            f" {mtu - TCP_IP_HEADERS} B; set link.mtu to at least {needed}"
        )


def _check_times(values: Sections) -> None:
    run, timeline = values.run, values.timeline
    if run.duration is not None and run.warmup + run.cooldown >= run.duration:
        raise UserError(
            "run.warmup and run.cooldown leave nothing of run.duration to measure; lengthen the run"
        )
    if timeline is None or run.duration is None:
        return
    if timeline.corruption_end is not None and timeline.corruption_end <= timeline.corruption:
        raise UserError(
            "timeline.corruption_end does not come after timeline.corruption; let the corruption last"
        )
    if timeline.protection is not None and timeline.protection < timeline.corruption:
        raise UserError(
            "timeline.protection comes before timeline.corruption; switch it on after the corruption"
        )
    if (timeline.protection or 0) >= run.duration:
        raise UserError("timeline.protection is not before the end of run.duration; lengthen the run")
    if timeline.bin > run.duration:
        raise UserError("timeline.bin is longer than run.duration; make it shorter")


def _check_load(scenario: Scenario) -> None:
    flow = scenario.values.flow
    if scenario.sizes is not None and flow is not None and not 0 < flow.load < 1:
        raise UserError(f"flow.load = {flow.load:g} is out of range; write a ratio above 0 and below 1")


def _check_thresholds(scenario: Scenario) -> None:
    switch, rate = scenario.values.switch, scenario.values.link.rate
    if switch.resume is None and switch.pause is None:
        return
    derived = thresholds_at(scenario.switch["threshold"], rate_bps=rate)
    check_order(switch.resume or derived["resume_bytes"], switch.pause or derived["pause_bytes"], "switch")


def _check_marking(scenario: Scenario) -> None:
    given, profile = scenario.values.switch, scenario.switch
    low = profile["red_min_bytes"] if given.marking_min is None else given.marking_min
    high = profile["red_max_bytes"] if given.marking_max is None else given.marking_max
    if low >= high:
        raise UserError(
            f"switch.marking_min {low} B is not below switch.marking_max {high} B, where every packet is"
            " marked; lower it"
        )
    if given.marking_probability == 0:
        raise UserError(
            "switch.marking_probability = 0 never marks before marking_max; write a ratio above 0"
        )


def _check_grid(scenario: Scenario, *, strict: bool) -> None:
    grid = scenario.values.grid
    if grid is None:
        return
    if not 0 < grid.loss_min <= grid.loss_max:
        raise UserError("grid.loss_min must be above 0 and not above grid.loss_max")
    small = [mss for mss in grid.mss if mss < MIN_MSS]
    if small:
        raise UserError(f"grid.mss = {small[0]} B is below Linux's minimum of {MIN_MSS} B")
    if strict and "mss" not in scenario.settings["transport"]:
        for mss in grid.mss:
            _refuse_capped_mss("grid.mss", mss, scenario.values.link.mtu)


def _check_fabric(scenario: Scenario) -> None:
    values, fabric = scenario.values, scenario.fabric
    if values.fabric is None or fabric is None:
        return
    if scenario.forward.mean != 0:
        raise UserError("loss.forward: each link of a fabric has a loss of its own; leave it out")
    for key in ("span", "repair", "second_repair"):
        unit, words = (_HOUR_PS, "hours") if key == "span" else (_HOUR_PS // 3600, "seconds")
        if getattr(values.fabric, key) % unit:
            raise UserError(f"fabric.{key} is not a whole number of {words}; round it")
    points = fabric.points
    if points is None:
        return
    if points.rate_bps != values.link.rate:
        raise UserError(
            f"fabric.points = {values.fabric.points}: they are of links at {points.rate_bps / 1e9:g} Gb/s,"
            f" not at {values.link.rate / 1e9:g}; take simulated, or set link.rate"
        )
    for protection in scenario.protections:
        if protection.family.protects and protection.label not in points.protection:
            raise UserError(
                f"fabric.points = {values.fabric.points}: they are of {', '.join(points.protection)}, not of"
                f" {protection.label}; take simulated"
            )
