"""What a sweep costs beside its simulations: serial, on a local Dask cluster, and with workers killed.

``python benches/sweeping.py --points 10000`` runs the same points in serial sweeps side by side, one a
worker, then on the cluster, then side by side once more, then on the cluster while its workers are killed.
The rows of all must be the same bytes. The efficiency is the mean time of the sweeps side by side over that
of the cluster: a machine that others use slows both down. Beside it stands the share of the workers' time
inside of points.
"""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

from distributed import Client, LocalCluster

import lossylink

COMPARED = ("rows.parquet", "summary.json")


def swept(
    folder: Path, seeds: range, packets: int, executor: str | Executor = "local"
) -> tuple[float, float]:
    """Run the sweep; gives its time, and the time inside of its points, in seconds."""
    began = time.monotonic()
    result = lossylink.sweep(
        "stress",
        grid={"seed": seeds},
        protection="lg",
        settings={"traffic.packets": packets, "loss": "1e-3"},
        output=folder,
        threads=1,
        executor=executor,
    )
    took = time.monotonic() - began
    if result.finished != len(seeds):
        sys.exit(f"{len(seeds) - result.finished} of {len(seeds)} points are missing")
    return took, sum(run.wall_seconds for run in result.runs())


def side_by_side(folder: Path, chosen: argparse.Namespace) -> float:
    """Run a serial sweep of a share of the points for each worker; gives the time of the slowest."""
    shares = [range(first, chosen.points + 1, chosen.workers) for first in range(1, chosen.workers + 1)]
    with ProcessPoolExecutor(chosen.workers, mp_context=get_context("spawn")) as pool:
        folders = [folder / f"share-{number}" for number in range(chosen.workers)]
        times = [one for one, _ in pool.map(swept, folders, shares, [chosen.packets] * chosen.workers)]
    (folder / "points").mkdir()
    for one in folders:
        for shard in (one / "points").iterdir():
            shutil.copy(shard, folder / "points")
    swept(folder, range(1, chosen.points + 1), chosen.packets)
    return max(times)


@contextmanager
def killing(cluster: LocalCluster, every: float) -> Iterator[Callable[[], int]]:
    """Kill one worker after the other by SIGKILL, so many seconds apart; gives a count of them."""
    ended, killed = threading.Event(), itertools.count()
    count = 0

    def kill() -> None:
        nonlocal count
        while not ended.wait(every):
            nannies = list(cluster.workers.values())
            pid = nannies[next(killed) % len(nannies)].pid
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
                count += 1

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    try:
        yield lambda: count
    finally:
        ended.set()
        thread.join()


def main() -> None:
    """Measure, and print a line for each run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--packets", type=int, default=80_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kill-every", type=float, default=10.0, metavar="SECONDS")
    chosen = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="sweeping-"))
    try:
        _measure(folder, chosen)
    finally:
        shutil.rmtree(folder)


def _measure(folder: Path, chosen: argparse.Namespace) -> None:
    every = range(1, chosen.points + 1)
    empty, inside = swept(folder / "empty", every, 1)
    overhead = 1e3 * (empty - inside) / chosen.points
    print(f"overhead {overhead:.2f} ms a point, of {chosen.points} points of one frame", flush=True)
    serial = [side_by_side(folder / "serial", chosen)]
    print(f"serial   {serial[0]:.1f} s, {chosen.workers} side by side, {_load()}", flush=True)
    with (
        LocalCluster(
            n_workers=chosen.workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
            env={"POLARS_MAX_THREADS": "1"},
        ) as cluster,
        Client(cluster) as client,
    ):
        executor = client.get_executor(pure=False)
        took, inside = swept(folder / "cluster", every, chosen.packets, executor)
        print(f"cluster  {took:.1f} s, {_share(inside, took, chosen)}, {_load()}", flush=True)
        serial.append(side_by_side(folder / "again", chosen))
        print(f"serial   {serial[1]:.1f} s, {chosen.workers} side by side, {_load()}", flush=True)
        print(f"efficiency without kills: {sum(serial) / 2 / took:.1%}", flush=True)
        with killing(cluster, chosen.kill_every) as count:
            took, inside = swept(folder / "killed", every, chosen.packets, executor)
        print(f"killed   {took:.1f} s, {count()} workers killed, {_share(inside, took, chosen)}, {_load()}")
    for other in ("cluster", "again", "killed"):
        for name in COMPARED:
            if (folder / "serial" / name).read_bytes() != (folder / other / name).read_bytes():
                sys.exit(f"{name} of the run '{other}' differs from that of the serial run")
    print(f"the bytes of {' and '.join(COMPARED)} are the same in all runs")


def _share(inside: float, took: float, chosen: argparse.Namespace) -> str:
    return f"{inside / (chosen.workers * took):.1%} of the workers' time inside of points"


def _load() -> str:
    return f"load {os.getloadavg()[0]:.1f}"


if __name__ == "__main__":
    main()
