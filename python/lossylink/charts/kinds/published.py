"""Our figures as bars beside those that were published for the same set-up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

from lossylink._package.published import Published, by_protection, load, lookup
from lossylink.charts.chart import Axis, Chart, Series, Sheet, embedded
from lossylink.charts.kinds._kind import CannotDrawError, Kind
from lossylink.charts.palette import name_of, slots_of
from lossylink.charts.samples import Sample, with_table
from lossylink.declared.experiments import experiment_named
from lossylink.statistics.estimates import Estimate, percentile_interval
from lossylink.statistics.percentiles import PERCENTILES

LOSS_SLACK = 0.01
"""A loss counts as the published one when it is within this share: the artifact draws 20-bit numbers."""


@dataclass(frozen=True)
class Match:
    """A table of published figures and the runs that it may stand beside."""

    table: str
    experiment: str
    link_gbps: float
    same: tuple[str, ...]
    """Keys of the table that a row must have with the same value."""


MATCHES = (
    Match("tcp_fct", "tcp-fct", 100.0, ("flow_bytes", "congestion_control")),
    Match("rdma_fct", "rdma-fct", 100.0, ("flow_bytes",)),
    Match("throughput", "throughput", 10.0, ("congestion_control",)),
)
SHOWN = ("p50", "p99", "p99_9", "p99_99")
RATE = "average_throughput_gbps"
SPEED = "effective_link_speed_gbps"


def sheet(samples: Sequence[Sample]) -> Sheet:
    """One chart a published table: completion times by percentile, throughput by protection."""
    published = load()["linkguardian"]
    charts = []
    for match in MATCHES:
        table = published[match.table]
        fitting = [one for one in samples if _fits(one, match, table) and one.protection in _columns(table)]
        found = _by_name(fitting)
        if found:
            charts.append(_times(match, table, found) if "p50" in table else _rates(match, table, found))
    charts += _speeds(samples, published)
    if not charts:
        raise CannotDrawError(
            "nothing was published for these settings; run tcp-fct, rdma-fct, throughput or stress as it is"
        )
    return Sheet("published", tuple(charts), columns=2)


def _by_name(samples: Sequence[Sample]) -> dict[str, Sample]:
    """Return samples by protection: a published column stands beside one of ours."""
    found = {sample.protection: sample for sample in samples}
    if len(found) < len(samples):
        raise CannotDrawError("several of these fit one published column; run or name a single one")
    return found


def _columns(table: Published) -> set[str]:
    return {name.replace("_", "-") for name in table["columns"]}


def _fits(sample: Sample, match: Match, table: Published) -> bool:
    row = sample.row
    loss = sample.number("loss_rate") or 0.0
    wanted = table.get("loss_rate", 1e-3)
    return (
        sample.settings["experiment"] == match.experiment
        and sample.number("link_gbps") == match.link_gbps
        and abs(loss / wanted - 1) <= LOSS_SLACK
        and all(row.get(key) == table[key] for key in match.same)
    )


def _times(match: Match, table: Published, found: Mapping[str, Sample]) -> Chart:
    slots = slots_of(tuple(found))
    keys = [key for key in SHOWN if key in table]
    series = []
    for name, sample in found.items():
        ours = {key: _percentile(sample, key) for key in keys}
        series.append(_bars(name_of(name), slots[name], list(ours.values())))
        theirs = [Estimate.exact(by_protection(table, key)[name]) for key in keys]
        series.append(_bars(f"{name_of(name)}, published", slots[name], theirs, is_published=True))
    words = tuple(f"{PERCENTILES[key]:g} %" for key in keys)
    protocol = "RDMA" if match.experiment == "rdma-fct" else "TCP"
    return Chart(
        f"published-{match.table.replace('_', '-')}",
        f"{protocol} flows of {table['flow_bytes']:,} B",
        f"The other bars are published: {table['source']}. "
        "Ours have 95 % intervals where these have two ends.",
        Axis("percentile", categories=words),
        Axis("flow completion time", "µs", "log"),
        tuple(series),
        read="nearest",
    )


def _percentile(sample: Sample, key: str) -> Estimate:
    """Return a percentile of ours: with its interval where the run has its trials."""
    if with_table([sample], "trials", "fct_us"):
        block = experiment_named(sample.settings["experiment"]).block_trials
        times = sample.tables["trials"]["fct_us"].drop_nulls().to_numpy()
        one = percentile_interval(times, PERCENTILES[key], block=block)
        return one if isfinite(one.high) else Estimate.exact(one.value)
    value = sample.number(f"fct_us_{key}")
    return Estimate.exact(inf if value is None else value)


def _rates(match: Match, table: Published, found: Mapping[str, Sample]) -> Chart:
    theirs = by_protection(table, RATE)
    ours = {name: sample.number(RATE) or 0.0 for name, sample in found.items()}
    return _by_protection(
        f"published-{match.table}", "Throughput of one flow, 10 Gb/s", "throughput", table["source"],
        {name: (value, theirs[name]) for name, value in ours.items()},
    )  # fmt: skip


def _speeds(samples: Sequence[Sample], published: Published) -> list[Chart]:
    """Compare the effective link speed of the stress test."""
    fitting = [
        sample
        for sample in samples
        if sample.settings["experiment"] == "stress"
        and sample.number("link_gbps") == 100.0
        and abs((sample.number("loss_rate") or 0.0) / 1e-3 - 1) <= LOSS_SLACK
    ]
    pairs = {}
    for name, sample in _by_name(fitting).items():
        theirs: Any = lookup(published, "stress", name.replace("-", "_"), SPEED)
        ours = sample.number(SPEED)
        if theirs is not None and ours is not None:
            pairs[name] = (ours, float(theirs))
    if not pairs:
        return []
    source = published["stress"]["source"]
    title = "Effective speed of a link of 100 Gb/s"
    return [_by_protection("published-stress", title, "effective link speed", source, pairs)]


def _by_protection(
    identifier: str, title: str, label: str, source: str, pairs: Mapping[str, tuple[float, float]]
) -> Chart:
    """Draw pairs of ours and theirs in Gb/s, a category a protection."""
    ours = [Estimate.exact(pair[0]) for pair in pairs.values()]
    theirs = [Estimate.exact(pair[1]) for pair in pairs.values()]
    return Chart(
        identifier,
        title,
        f"The other bars are published: {source}.",
        Axis("", categories=tuple(name_of(name) for name in pairs)),
        Axis(label, "Gb/s", low=0.0),
        (_bars("here", "blue", ours), _bars("published", "black", theirs, is_published=True)),
        read="nearest",
    )


def _bars(name: str, slot: str, values: Sequence[Estimate], *, is_published: bool = False) -> Series:
    ended = {float(place): value for place, value in enumerate(values) if isfinite(value.value)}
    never = tuple(float(place) for place in range(len(values)) if place not in ended)
    is_exact = all(value.is_exact for value in ended.values())
    return Series(
        name,
        slot,
        tuple(ended),
        embedded([value.value for value in ended.values()]),
        kind="bars",
        y_low=None if is_exact else embedded([value.low for value in ended.values()]),
        y_high=None if is_exact else embedded([value.high for value in ended.values()]),
        hollow=(True,) * len(ended) if is_published else None,
        never=never or None,
    )


KIND = Kind(name="published", place=110, summary="ours beside published figures, as bars", sheet=sheet)
