"""What a sweep costs beside its simulations: serial, on a local Dask cluster, and with workers killed.

``python benches/sweeping.py --points 10000`` runs a sweep three times, and compares the bytes of the rows.
Each worker has one thread. The efficiency is the time of the serial run over workers times that of the
cluster, and the share of the workers' time that passed inside of points. A busy machine lowers both.
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
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path

from distributed import Client, LocalCluster

import lossylink

COMPARED = ("rows.parquet", "summary.json")


def swept(folder: Path, points: int, packets: int, executor: str | Executor) -> tuple[float, float]:
    """Run the sweep; gives its time, and the time inside of its points, in seconds."""
    began = time.monotonic()
    result = lossylink.sweep(
        "stress",
        grid={"seed": range(1, points + 1)},
        protection="lg",
        settings={"traffic.packets": packets, "loss": "1e-3"},
        output=folder,
        threads=1,
        executor=executor,
    )
    took = time.monotonic() - began
    if result.finished != points:
        sys.exit(f"{points - result.finished} of {points} points are missing")
    return took, sum(run.wall_seconds for run in result.runs())


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
    empty, inside = swept(folder / "empty", chosen.points, 1, "local")
    overhead = 1e3 * (empty - inside) / chosen.points
    print(f"overhead {overhead:.2f} ms a point, of {chosen.points} points of one frame", flush=True)
    serial, inside = swept(folder / "serial", chosen.points, chosen.packets, "local")
    print(
        f"serial   {serial:.1f} s, {1e3 * inside / chosen.points:.1f} ms inside of a point, load {_load()}",
        flush=True,
    )
    with (
        LocalCluster(
            n_workers=chosen.workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            silence_logs=50,
            env={"POLARS_MAX_THREADS": "1"},
        ) as cluster,
        Client(cluster) as client,
    ):
        executor = client.get_executor(pure=False)
        took, inside = swept(folder / "cluster", chosen.points, chosen.packets, executor)
        print(
            f"cluster  {took:.1f} s, {_efficiency(serial, inside, took, chosen.workers)}, load {_load()}",
            flush=True,
        )
        with killing(cluster, chosen.kill_every) as count:
            took, inside = swept(folder / "killed", chosen.points, chosen.packets, executor)
        words = _efficiency(serial, inside, took, chosen.workers)
        print(f"killed   {took:.1f} s, {count()} workers killed, {words}, load {_load()}", flush=True)
    for other in ("cluster", "killed"):
        for name in COMPARED:
            if (folder / "serial" / name).read_bytes() != (folder / other / name).read_bytes():
                sys.exit(f"{name} of the run '{other}' differs from that of the serial run")
    print(f"the bytes of {' and '.join(COMPARED)} are the same in all three")


def _efficiency(serial: float, inside: float, took: float, workers: int) -> str:
    of_serial, of_workers = serial / (workers * took), inside / (workers * took)
    inside_words = f"{of_workers:.1%} of the workers' time inside of points"
    return f"efficiency {of_serial:.1%} by the serial run, {inside_words}"


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}"


if __name__ == "__main__":
    main()
