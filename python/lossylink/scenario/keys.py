"""Which experiment takes which keys, and how a key that was typed is matched to one that exists."""

from __future__ import annotations

from dataclasses import dataclass

from lossylink.errors import UserError, nearest, unknown
from lossylink.scenario.models import SECTIONS

_COMMON = (
    *("link.rate", "link.propagation", "link.length", "link.mtu", "loss.forward", "loss.reverse"),
    *("switch.profile", "switch.queue", "switch.ecn_threshold", "switch.resume", "switch.pause"),
    *("switch.marking_min", "switch.marking_max", "switch.marking_probability"),
    *("run.threads", "run.backend", "run.skip"),
    *(f"protection.{key}" for key in SECTIONS["protection"].model_fields),
)
_TCP = (
    *("transport.congestion_control", "transport.mss", "transport.timestamps", "transport.delayed_ack"),
    *("transport.rto_min", "transport.initial_window", "transport.segmentation_offload"),
    *("host.profile", "host.nic_rate", "path.rtt"),
)
_RDMA = ("transport.recovery", "transport.mtu", "transport.dcqcn")
_LONG = ("flow.count", "run.duration", "run.warmup", "run.cooldown")

#: Other names of keys, where the short one is what people type.
_ALIASES = {"loss": "loss.forward", "protection": "protection.schemes"}


@dataclass(frozen=True)
class Experiment:
    """What an experiment is, which keys it takes, and what it can spread over threads."""

    name: str
    summary: str
    keys: frozenset[str]
    spreads: str
    """``trials``: the simulator spreads one run; ``protections``: one run is one thread's."""

    @property
    def sections(self) -> frozenset[str]:
        """The sections that hold its keys."""
        return frozenset(key.partition(".")[0] for key in self.keys)


def _experiment(name: str, summary: str, spreads: str, *keys: str) -> Experiment:
    return Experiment(name, summary, frozenset(_COMMON + keys), spreads)


EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        _experiment(
            "stress",
            "frames at line rate over the protected link",
            "protections",
            *("traffic.packets", "traffic.frame", "traffic.source"),
        ),
        _experiment(
            "tcp-fct",
            "completion times of short TCP flows, one after another",
            "trials",
            *(*_TCP, "flow.size", "flow.trials"),
        ),
        _experiment(
            "rdma-fct",
            "completion times of RDMA writes, one after another",
            "trials",
            *(*_RDMA, "host.profile", "host.nic_rate", "path.rtt"),
            *("flow.size", "flow.trials"),
        ),
        _experiment(
            "throughput",
            "long flows over the protected link, of TCP or of RDMA writes",
            "protections",
            *(*_TCP, *_LONG, "transport.protocol", *_RDMA),
        ),
        _experiment(
            "workload",
            "flows of many sizes that begin at random and share the link",
            "trials",
            *(*_TCP, "transport.protocol", *_RDMA),
            *("flow.distribution", "flow.load", "flow.trials"),
        ),
        _experiment(
            "timeline",
            "a long flow while corruption starts and protection is switched on",
            "protections",
            *(*_TCP, *_LONG, *(f"timeline.{key}" for key in SECTIONS["timeline"].model_fields)),
            *(f"monitor.{key}" for key in SECTIONS["monitor"].model_fields),
        ),
        _experiment(
            "fec",
            "TCP or UDP over forward error correction",
            "trials",
            *(*_TCP, *_LONG, "flow.trials"),
            *("traffic.source", "traffic.rate", "traffic.burst", "traffic.frame"),
        ),
        _experiment(
            "mathis",
            "TCP under random loss against the Mathis law",
            "trials",
            *(*_TCP, *_LONG, *(f"grid.{key}" for key in SECTIONS["grid"].model_fields)),
        ),
    )
}

ALL_KEYS = frozenset(key for experiment in EXPERIMENTS.values() for key in experiment.keys)


def experiment_named(name: str) -> Experiment:
    """Return the experiment, or raise the one-line error that lists them all."""
    if name not in EXPERIMENTS:
        raise unknown("experiment", name, EXPERIMENTS)
    return EXPERIMENTS[name]


def resolve_key(typed: str, experiment: Experiment, *, where: str = "") -> str:
    """Return the dotted key that was meant by a full, short or aliased one.

    Examples
    --------
    >>> resolve_key("congestion_control", EXPERIMENTS["tcp-fct"])
    'transport.congestion_control'
    >>> resolve_key("flow.size", EXPERIMENTS["stress"])
    Traceback (most recent call last):
    lossylink.errors.UserError: stress does not use 'flow.size'; ...
    """
    key = _ALIASES.get(typed, typed)
    if key in experiment.keys:
        return key
    matches = sorted(full for full in experiment.keys if full.partition(".")[2] == key)
    if len(matches) == 1:
        return matches[0]
    prefix = f"{where}: " if where else ""
    if matches:
        raise UserError(f"{prefix}'{typed}' could be {' or '.join(matches)}; write one of them")
    if key in ALL_KEYS or any(full.partition(".")[2] == key for full in ALL_KEYS):
        own = sorted(experiment.keys - set(_COMMON))
        raise UserError(
            f"{prefix}{experiment.name} does not use '{typed}'; beside the common keys it takes"
            f" {', '.join(own)}"
        )
    guess = nearest(key, experiment.keys) or _nearest_leaf(key, experiment)
    hint = f"did you mean '{guess}'? " if guess else ""
    section = key.partition(".")[0]
    near = sorted(full for full in experiment.keys if full.startswith(f"{section}."))
    valid = near or sorted(f"{name}.*" for name in experiment.sections)
    raise UserError(f"{prefix}unknown key '{typed}'; {hint}Valid: {', '.join(valid)}")


def _nearest_leaf(key: str, experiment: Experiment) -> str | None:
    leaves = {full.partition(".")[2]: full for full in experiment.keys}
    guess = nearest(key.rpartition(".")[2], leaves)
    return leaves[guess] if guess else None
