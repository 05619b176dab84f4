"""A scenario and one of its protections as the simulator's JSON: base units, units in key names."""

from __future__ import annotations

from typing import Any

from lossylink.declared.protections import Protection
from lossylink.scenario.checks import is_rdma
from lossylink.scenario.phy import latency_ps
from lossylink.scenario.profiles import thresholds_at
from lossylink.scenario.scenario import Scenario

_MICROSECOND_PS = 1_000_000
_SECOND_PS = 10**12
_HOUR_PS = 3600 * _SECOND_PS


def configuration(scenario: Scenario, protection: Protection) -> dict[str, Any]:
    """Return the simulator's configuration; sections that the experiment does not use are absent.

    Examples
    --------
    >>> from lossylink.scenario.resolving import resolve
    >>> scenario = resolve("stress")
    >>> configuration(scenario, scenario.protections[0])["link"]
    {'rate_bps': 100000000000, 'propagation_ps': 0, 'mtu_bytes': 1500}
    """
    values = scenario.values
    sections: dict[str, Any] = {
        "experiment": scenario.experiment.name,
        "seed": scenario.seed,
        "threads": 1,
        "skip": values.run.skip,
        "link": _link(scenario),
        "loss": _loss(scenario),
        "switch": _switch(scenario),
        "protection": protection.value,
        "host": _host(scenario),
        "traffic": _traffic(scenario),
        "transport": _transport(scenario),
        "path": _path(scenario),
        "flow": _flow(scenario),
        "workload": _workload(scenario),
        "timeline": _timeline(scenario),
        "monitor": _monitor(scenario),
        "fabric": _fabric(scenario),
        "run": _run(scenario),
        "rare": {"looks": values.run.looks, "tail": values.run.tail} if values.run.rare else None,
    }
    return {name: section for name, section in sections.items() if section is not None}


def _link(scenario: Scenario) -> dict[str, int]:
    link = scenario.values.link
    propagation = link.length if link.length is not None else link.propagation
    one_way_ps = (propagation or 0) + _phy_latency_ps(scenario)
    section = {"rate_bps": link.rate, "propagation_ps": one_way_ps, "mtu_bytes": link.mtu}
    if link.rate_back is not None:
        section["rate_back_bps"] = link.rate_back
    return section


def _phy_latency_ps(scenario: Scenario) -> int:
    """Both directions of a line have one code."""
    link = scenario.values.link
    if link.phy_latency is not None:
        return link.phy_latency
    losses = _loss(scenario)
    rates = {"forward": link.rate, "reverse": link.rate_back or link.rate}
    codes = [(loss, rates[direction]) for direction, loss in losses.items() if loss["model"] == "phy"]
    if not codes:
        return 0
    return max(latency_ps(loss, rate_bps) for loss, rate_bps in codes)


def _loss(scenario: Scenario) -> dict[str, Any]:
    link = scenario.values.link
    return {
        "forward": scenario.forward.native_at(link.rate),
        "reverse": scenario.reverse.native_at(link.rate_back or link.rate),
    }


def _switch(scenario: Scenario) -> dict[str, Any]:
    given, profile = scenario.values.switch, dict(scenario.switch)
    chosen = {
        "queue_bytes": given.queue,
        "ecn_threshold_bytes": given.ecn_threshold,
        "red_min_bytes": given.marking_min,
        "red_max_bytes": given.marking_max,
        "red_max_probability": given.marking_probability,
        "rx_buffer_max_bytes": given.rx_buffer,
        "tx_buffer_max_bytes": given.tx_buffer,
        "recirculation_bps": given.recirculation,
    }
    profile |= {key: value for key, value in chosen.items() if value is not None}
    if given.resume is not None or given.pause is not None:
        point = thresholds_at(profile["threshold"], rate_bps=scenario.values.link.rate)
        point["resume_bytes"] = given.resume or point["resume_bytes"]
        point["pause_bytes"] = given.pause or point["pause_bytes"]
        profile["threshold"] = [point]
    return profile


def _traffic(scenario: Scenario) -> dict[str, Any] | None:
    traffic = scenario.values.traffic
    if traffic is None:
        return None
    return {
        "packets": traffic.packets,
        "frame_bytes": traffic.frame,
        "source": traffic.source,
        "rate_bps": traffic.rate,
        "burst_packets": traffic.burst,
    }


def _host(scenario: Scenario) -> dict[str, Any] | None:
    given, profile = scenario.values.host, scenario.host
    if given is None or profile is None or given.nic_rate is None:
        return profile
    return {**profile, "nic_rate_bps": given.nic_rate}


def _transport(scenario: Scenario) -> dict[str, Any] | None:
    """What is not set falls back to the host profile: a host decides its timers, window and offloads."""
    transport, host = scenario.values.transport, scenario.host
    if transport is None or host is None:
        return None
    offload, dcqcn = transport.segmentation_offload, transport.dcqcn
    return {
        "congestion_control": transport.congestion_control,
        "mss_bytes": transport.mss,
        "timestamps": transport.timestamps,
        "delayed_ack": transport.delayed_ack,
        "rto_min_ps": transport.rto_min or host["rto_min_us"] * _MICROSECOND_PS,
        "initial_window": transport.initial_window or host["initial_window"],
        "receive_window_bytes": transport.receive_window,
        "segmentation_offload": host["segmentation_offload"] if offload is None else offload,
        "recovery": transport.recovery,
        "mtu_bytes": transport.mtu,
        "dcqcn": is_rdma(scenario) and (host["rdma_dcqcn"] if dcqcn is None else dcqcn),
        "protocol": transport.protocol,
    }


def _path(scenario: Scenario) -> dict[str, Any] | None:
    path = scenario.values.path
    if path is None:
        return None
    section: dict[str, Any] = {"rtt_ps": path.rtt}
    if scenario.loses_on_path:
        forward, back = scenario.path_losses
        rate_bps = scenario.values.link.rate
        section["loss"] = {"forward": forward.native_at(rate_bps), "reverse": back.native_at(rate_bps)}
    if path.jitter or path.jitter_back:
        section["jitter"] = {
            "forward_ps": path.jitter,
            "back_ps": path.jitter_back,
            "reorders": path.reorder,
        }
    return section


def _flow(scenario: Scenario) -> dict[str, float | None] | None:
    flow = scenario.values.flow
    if flow is None:
        return None
    return {
        "size_bytes": flow.size,
        "trials": flow.trials,
        "count": flow.count,
        "precision": flow.precision,
    }


def _workload(scenario: Scenario) -> dict[str, Any] | None:
    values = scenario.values
    if scenario.sizes is None or values.flow is None or values.transport is None:
        return None
    return {
        "protocol": values.transport.protocol,
        "distribution": scenario.sizes.name,
        "points": scenario.sizes.points,
        "load": values.flow.load,
    }


def _timeline(scenario: Scenario) -> dict[str, int | None] | None:
    timeline = scenario.values.timeline
    if timeline is None:
        return None
    return {
        "corruption_ps": timeline.corruption,
        "corruption_end_ps": timeline.corruption_end,
        "protection_ps": timeline.protection,
        "poll_ps": timeline.poll,
        "bin_ps": timeline.bin,
    }


def _monitor(scenario: Scenario) -> dict[str, int | float] | None:
    monitor = scenario.values.monitor
    if monitor is None:
        return None
    return {
        "window_frames": monitor.window,
        "on_loss": monitor.on_loss,
        "off_loss": monitor.off_loss,
        "confidence": monitor.confidence,
        "hold_ps": monitor.hold,
    }


def _fabric(scenario: Scenario) -> dict[str, Any] | None:
    section, fabric = scenario.values.fabric, scenario.fabric
    if section is None or fabric is None:
        return None
    points: dict[str, Any] = {"from": "simulation", "looks": scenario.values.run.looks}
    if fabric.points is not None:
        points = {"from": "table", "points": fabric.points.points, "nearest": fabric.points.is_nearest}
    return {
        "topology": fabric.topology.native,
        "constraint_ppm": round(section.constraint * 1e6),
        "deployment_ppm": round(section.deployment * 1e6),
        "years": section.years,
        "mttf_h": section.mttf / _HOUR_PS,
        "span_h": section.span // _HOUR_PS,
        "repair_s": section.repair // _SECOND_PS,
        "second_repair_s": section.second_repair // _SECOND_PS,
        "first_attempt": section.first_attempt,
        "failures": fabric.failures,
        "points": points,
    }


def _run(scenario: Scenario) -> dict[str, int] | None:
    run = scenario.values.run
    if run.duration is None:
        return None
    return {"duration_ps": run.duration, "warmup_ps": run.warmup, "cooldown_ps": run.cooldown}
