"""What an experiment declares about itself, and the keys that several of them share.

A declaration imports nothing of what runs the experiment, so that the list of all is quick to make.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal

from msgspec import Struct

from lossylink.declared.column import Column

#: Keys of a scenario that every experiment takes; ``section.*`` stands for all keys of a section.
COMMON_KEYS = (
    *("link.rate", "link.propagation", "link.length", "link.phy_latency", "link.mtu"),
    *("loss.forward", "loss.reverse"),
    *("switch.profile", "switch.queue", "switch.ecn_threshold", "switch.resume", "switch.pause"),
    *("switch.marking_min", "switch.marking_max", "switch.marking_probability"),
    *("switch.rx_buffer", "switch.tx_buffer", "switch.recirculation"),
    *("run.threads", "run.backend", "run.skip"),
    "protection.*",
)
#: Keys of TCP endpoints, and of the path between them.
TCP_KEYS = (
    *("transport.congestion_control", "transport.mss", "transport.timestamps", "transport.delayed_ack"),
    *("transport.rto_min", "transport.initial_window", "transport.receive_window"),
    "transport.segmentation_offload",
    *("host.profile", "host.nic_rate", "path.rtt"),
)
#: Keys of the way back over the link, and of what happens on the hops beside it.
PATH_KEYS = (
    *("link.rate_back", "path.loss", "path.loss_back"),
    *("path.jitter", "path.jitter_back", "path.reorder"),
)
#: Keys of RDMA interfaces.
RDMA_KEYS = ("transport.recovery", "transport.mtu", "transport.dcqcn")
#: Keys of flows that last.
LONG_KEYS = ("flow.count", "run.duration", "run.warmup", "run.cooldown")

#: What every row begins with.
COMMON_ROW = ("protection", "loss_rate", "link_gbps")
#: Completion times of a row.
FCT_ROW = tuple(
    f"fct_us_{name}"
    for name in ("min", "mean", "p50", "p90", "p95", "p99", "p99_9", "p99_99", "p99_999", "max", "std")
)


class Growth(Struct, frozen=True, kw_only=True):
    """How more work of the same kind makes a figure better known.

    Attributes
    ----------
    key
        The key of a scenario that says how much work there is.
    column
        The figure that is asked for where nobody names one.
    shares
        Figures that are a share of counted events: the keys of the events, of the chances, of the design
        effect, and of the batches that it is from.
    table
        The table whose columns percentiles of a row are of; nothing if none are.
    in_blocks
        Whether more work is added to what has run; otherwise it runs anew, longer.
    """

    key: str
    column: str
    shares: Mapping[str, tuple[str, str, str, str]] = {}
    table: str = ""
    in_blocks: bool = False


class Experiment(Struct, frozen=True, kw_only=True, eq=False, dict=True):
    """An experiment: what it takes, what it gives, who can run it.

    Attributes
    ----------
    name
        As users write it.
    summary
        One line for lists.
    own_keys
        Keys of a scenario that it takes beside the common ones; ``section.*`` stands for a whole section.
    row_keys
        Keys that every row has, in the order in which they are shown; what they mean is in
        ``docs/data-dictionary.md``.
    rare_row_keys
        Keys that only the rows of ``run.rare`` have, in their order.
    headline
        What the short table shows of a row: five or six columns, with their units.
    rare_headline
        The same of the rows of ``run.rare``.
    spreads
        What is shared between threads: ``jobs``, of which each takes one thread where there are enough of
        them, or the ``trials`` inside a job, which then runs alone if it has enough of them.
    block_trials
        Trials that the simulator runs one after another on one thread.
    one_after_another
        Whether the flows of the simulator share nothing but the state of the link's losses.
    refused
        Backends that cannot run it, each with the reason in one line; every other one can.
    sources
        Values of ``traffic.source`` that it knows.
    queueless
        Whether its result means something only if no queue forms.
    growth
        How ``sweep --until`` makes a figure better known; nothing where no figure has an interval.
    is_study
        Whether it is many simulations: the package of its name in `lossylink.running` makes their jobs.
    """

    name: str
    summary: str
    own_keys: tuple[str, ...]
    row_keys: tuple[str, ...]
    headline: tuple[Column, ...]
    spreads: Literal["jobs", "trials"]
    block_trials: int = 1
    one_after_another: bool = False
    refused: Mapping[str, str] = {}
    sources: tuple[str, ...] = ()
    rare_row_keys: tuple[str, ...] = ()
    rare_headline: tuple[Column, ...] = ()
    queueless: bool = False
    growth: Growth | None = None
    is_study: bool = False

    @cached_property
    def keys(self) -> frozenset[str]:
        """All keys that it takes, as declared."""
        return frozenset(COMMON_KEYS + self.own_keys)

    @cached_property
    def sections(self) -> frozenset[str]:
        """The sections that hold its keys."""
        return frozenset(key.partition(".")[0] for key in self.keys)

    def headline_of(self, row: Mapping[str, Any]) -> tuple[Column, ...]:
        """Return the columns of the short table for rows like this one."""
        declared = self.rare_headline if "rare_verdict" in row else self.headline
        return tuple(column for column in declared if column.key in row)

    def in_order(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return a row with the documented keys first; what a newer simulator adds follows.

        Examples
        --------
        >>> from lossylink.declared.experiments import all_experiments
        >>> list(all_experiments()["throughput"].in_order({"extra": 1, "loss_rate": 0.1, "protection": "lg"}))
        ['protection', 'loss_rate', 'extra']
        """
        known = [key for key in (*self.row_keys, *self.rare_row_keys) if key in row]
        return {key: row[key] for key in (*known, *(key for key in row if key not in known))}
