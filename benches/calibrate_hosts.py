"""Fit the host profile ``ae-hosts`` to the published completion times without loss, all sizes at once.

``python benches/calibrate_hosts.py`` fits, then prints the lines for ``scenarios/host/ae-hosts.toml`` and
every target with the simulator's figure. With ``--check`` it holds the packaged profile against the targets
and fits nothing. Both print what the two keys would give that have one target each, with loss and without
protection: the share of missed ticks, and the moderation of a long flow.

No other figure with loss, and none of LinkGuardian's, is used here. The medians without loss were not
published, so that the shapes of the distributions are assumed: a wake-up that is exponential above a least
time, a moderation that is exponential, and nine in ten RDMA messages without a delay.
"""

from __future__ import annotations

import argparse
import math
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import least_squares

import lossylink
from lossylink.scenario.profiles import load_profile

SEED = 1
PATH_ONE_WAY_NS = 6 * 659
"""Assumed: each of the six legs between the hosts takes what the protected one does (``tofino1``)."""
PUBLISHED_ONE_WAY_NS = 14_900
"""Half of the published round trip of about 30 us, in which the least wake-up of the hosts is contained."""
WAKE_UP_LEAST_NS = PUBLISHED_ONE_WAY_NS - PATH_ONE_WAY_NS
RDMA_QUIET_SHARE = 0.9
"""Assumed: so many RDMA messages meet no delay; nothing was published of them."""
POINTS = (0.0, 0.25, 0.5, 0.75, 0.9, 0.97, 0.99, 0.997, 0.999, 0.9997, 0.9999, 0.99999, 1.0)
LAST_POINT = 1 - 1e-6
"""Stands for the point at 1, where an exponential has no value."""
MISSED_TICK_SHARES = (0.0, 0.35, 0.5, 0.65, 0.8, 1.0)
MODERATION_TIMES_US = (2, 8, 16, 32, 64)
"""Of Linux's adaptive moderation by completions (``lib/dim/net_dim.c``)."""
PUBLISHED_FLOWS, PUBLISHED_TAIL_US = 5000, 3595.3
"""The artifact's sample of 24,387 B without protection, and its 99.9th percentile."""
PUBLISHED_CUBIC_GBPS = (2.61, 3.48)
"""One CUBIC flow at 10G without protection; published runs spread between these."""

Table = list[list[float]]


@dataclass(frozen=True)
class Column:
    """Published percentiles of one kind of flow without loss, in microseconds, read from figures to 1 %."""

    name: str
    experiment: str
    size: str
    published_us: Mapping[float, float]
    trials: int
    congestion_control: str | None = None

    def settings(self, profile: Path, divisor: int) -> dict[str, Any]:
        """Return the settings of the run that gives our figures."""
        settings: dict[str, Any] = {
            "flow.size": self.size,
            "flow.trials": self.trials // divisor,
            "loss.forward": "0%",
            "host.profile": str(profile),
        }
        if self.congestion_control:
            settings["transport.congestion_control"] = self.congestion_control
        return settings


#: LinkGuardian (SIGCOMM 2023), figures 10 to 12 and table 2: the columns without loss.
TCP_COLUMNS = (
    Column("DCTCP 143 B", "tcp-fct", "143B", {99.1: 41.2, 99.9: 47.5, 99.99: 51.9}, 300_000, "dctcp"),
    Column(
        "DCTCP 24,387 B",
        "tcp-fct",
        "24387B",
        {99.0: 152.3, 99.9: 166.9, 99.99: 197.5, 99.999: 253.2},
        300_000,
        "dctcp",
    ),
    Column("BBR 24,387 B", "tcp-fct", "24387B", {99.0: 156.6, 99.9: 168.5, 99.99: 195.0}, 300_000, "bbr"),
    Column("DCTCP 2 MB", "tcp-fct", "2MB", {99.0: 1422.0, 99.9: 1497.0, 99.99: 1549.0}, 40_000, "dctcp"),
)
RDMA_COLUMNS = (
    Column("RDMA 143 B", "rdma-fct", "143B", {99.1: 10.5, 99.9: 18.7, 99.99: 31.0}, 300_000),
    Column("RDMA 24,387 B", "rdma-fct", "24387B", {99.0: 20.3, 99.9: 28.2, 99.99: 37.7}, 300_000),
)


def exponential(mean_ns: float, least_ns: float = 0.0) -> Table:
    """Return the quantile function of a least time plus an exponential one."""

    def latency_ns(probability: float) -> float:
        return least_ns - mean_ns * math.log1p(-min(probability, LAST_POINT))

    return [[probability, float(round(latency_ns(probability)))] for probability in POINTS]


def tcp_keys(parameters: Sequence[float]) -> dict[str, Any]:
    """Return the keys for a mean wake-up above the least, a mean moderation (ns) and a rate (Gb/s)."""
    mean_ns, moderation_ns, rate_gbps = parameters
    return {
        "network_one_way_ns": PATH_ONE_WAY_NS,
        "receive_latency": exponential(mean_ns, WAKE_UP_LEAST_NS),
        "moderation_latency": exponential(moderation_ns),
        "flow_rate_bps": round(rate_gbps, 2) * 1e9,
    }


def rdma_keys(parameters: Sequence[float]) -> dict[str, Any]:
    """Return the keys of a profile with a fetch and the delays at 99, 99.9 and 99.99 % (ns)."""
    fetch_ns, *delays_ns = (float(round(value)) for value in parameters)
    last = 2 * delays_ns[2] - delays_ns[1]
    shares = (0.0, RDMA_QUIET_SHARE, 0.99, 0.999, 0.9999, 1.0)
    values = (0.0, 0.0, *delays_ns, last)
    return {
        "rdma_one_way_ns": PATH_ONE_WAY_NS,
        "rdma_latency": [[share, value] for share, value in zip(shares, values, strict=True)],
        "rdma_fetch_ns": fetch_ns,
    }


@contextmanager
def hosts_with(keys: Mapping[str, Any]) -> Iterator[Path]:
    """Give the profile of the packaged hosts with ``keys`` changed."""
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder) / "hosts.toml"
        profile.write_text(as_toml({**load_profile("host", "ae-hosts"), **keys}))
        yield profile


def simulated_us(
    columns: Sequence[Column], keys: Mapping[str, Any], divisor: int = 1
) -> dict[tuple[str, float], float]:
    """Simulate ``columns`` between the packaged hosts with ``keys`` changed; returns their percentiles."""
    figures = {}
    with hosts_with(keys) as profile:
        for column in columns:
            settings = column.settings(profile, divisor)
            run = lossylink.run(
                column.experiment, protection=["none"], settings=settings, seed=SEED, threads=os.cpu_count()
            )
            times_us = run.tables["trials"]["fct_us"].to_numpy()
            for percentile in column.published_us:
                figures[column.name, percentile] = float(np.percentile(times_us, percentile))
    return figures


def as_toml(table: Mapping[str, Any]) -> str:
    """Return the lines of a profile."""

    def word(value: Any) -> str:
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, str):
            return f'"{value}"'
        return repr(int(value)) if isinstance(value, float) and value.is_integer() else repr(value)

    return "".join(f"{key} = {word(value)}\n" for key, value in table.items())


def misses(columns: Sequence[Column], figures: Mapping[tuple[str, float], float]) -> list[float]:
    """Return the logarithm of ours over the published figure for every target."""
    return [
        math.log(figures[column.name, percentile] / published_us)
        for column in columns
        for percentile, published_us in column.published_us.items()
    ]


def fit_tcp(start: Sequence[float], divisor: int) -> dict[str, Any]:
    """Fit all TCP columns at once, with the same random numbers for every trial value."""

    def residuals(logarithms: np.ndarray) -> list[float]:
        parameters = np.exp(logarithms)
        result = misses(TCP_COLUMNS, simulated_us(TCP_COLUMNS, tcp_keys(parameters), divisor))
        print(f"  {np.round(parameters, 2)}: rms {np.sqrt(np.mean(np.square(result))):.4f}", flush=True)
        return result

    steps = [0.01] * len(start)
    found = least_squares(residuals, np.log(start), diff_step=steps, xtol=2e-3, ftol=1e-3, max_nfev=6)
    return tcp_keys(np.exp(found.x).tolist())


def fit_rdma(divisor: int) -> dict[str, Any]:
    """Fit both RDMA columns at once."""

    def residuals(logarithms: np.ndarray) -> list[float]:
        return misses(
            RDMA_COLUMNS, simulated_us(RDMA_COLUMNS, rdma_keys(np.exp(logarithms).tolist()), divisor)
        )

    start = np.log([6_000.0, 2_500.0, 10_500.0, 21_000.0])
    found = least_squares(residuals, start, diff_step=[0.01] * len(start), xtol=1e-4)
    return rdma_keys(np.exp(found.x).tolist())


def report(columns: Sequence[Column], figures: Mapping[tuple[str, float], float]) -> None:
    """Print target, figure and residual for each point."""
    print(f"{'column':<16}{'percentile':>10}{'published us':>14}{'ours us':>10}{'residual':>10}")
    for column in columns:
        for percentile, published_us in column.published_us.items():
            ours_us = figures[column.name, percentile]
            residual = f"{ours_us / published_us - 1:+.1%}"
            print(f"{column.name:<16}{percentile:>10}{published_us:>14.1f}{ours_us:>10.1f}{residual:>10}")
    print(f"root of the mean square: {np.sqrt(np.mean(np.square(misses(columns, figures)))):.1%}")


def report_missed_ticks(keys: Mapping[str, Any], samples: int = 200) -> None:
    """Print the tail of samples as large as the published one, by the share of missed ticks."""
    print(f"99.9th percentile of {PUBLISHED_FLOWS} flows of 24,387 B, loss 1e-3: {PUBLISHED_TAIL_US} us")
    print(f"{'missed_tick_share':<20}{'median of samples us':>22}{'samples below the published':>30}")
    for share in MISSED_TICK_SHARES:
        with hosts_with({**keys, "missed_tick_share": share}) as profile:
            settings = {"flow.trials": samples * PUBLISHED_FLOWS, "host.profile": str(profile)}
            run = lossylink.run("tcp-fct", protection=["none"], settings=settings, seed=SEED)
        times_us = run.tables["trials"]["fct_us"].to_numpy().reshape(samples, PUBLISHED_FLOWS)
        tails_us = np.percentile(times_us, 99.9, axis=1)
        below = np.mean(tails_us < PUBLISHED_TAIL_US)
        print(f"{share:<20g}{np.median(tails_us):>22.0f}{below:>30.1%}", flush=True)


def report_moderation(keys: Mapping[str, Any]) -> None:
    """Print the throughput without protection by the moderation of a long flow."""
    low, high = PUBLISHED_CUBIC_GBPS
    print(f"one CUBIC flow at 10G at a loss of 1e-3: {low} to {high} Gb/s")
    print(f"{'moderation us':<20}{'ours Gb/s':>12}")
    for time_us in MODERATION_TIMES_US:
        with hosts_with({**keys, "sustained_moderation_ns": 1000 * time_us}) as profile:
            settings = {"host.profile": str(profile)}
            run = lossylink.run("throughput", protection=["none"], settings=settings, seed=SEED)
        print(f"{time_us:<20}{run.rows['average_throughput_gbps'][0]:>12.2f}", flush=True)


def main() -> None:
    """Fit or check, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true", help="hold the packaged profile against the targets")
    parser.add_argument(
        "--divisor", type=int, default=4, help="divides the flows of a trial value (default 4)"
    )
    parser.add_argument(
        "--start", type=float, nargs=3, default=(1_800.0, 12_000.0, 12.5), metavar=("NS", "NS", "GBPS")
    )
    options = parser.parse_args()
    keys: dict[str, Any] = {}
    if not options.check:
        keys = {**fit_tcp(options.start, options.divisor), **fit_rdma(options.divisor)}
        print(as_toml(keys))
    columns = (*TCP_COLUMNS, *RDMA_COLUMNS)
    report(columns, simulated_us(columns, keys))
    report_missed_ticks(keys)
    report_moderation(keys)


if __name__ == "__main__":
    main()
