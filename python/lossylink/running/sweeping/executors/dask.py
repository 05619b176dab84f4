"""Workers of Dask: of a scheduler that runs, or processes on this machine for as long as the sweep."""

from __future__ import annotations

import logging
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import resource_tracker
from typing import Any

from lossylink.errors import UserError
from lossylink.running.sweeping.executors._declaration import Asked, ExecutorKind, Workers, missing
from lossylink.running.sweeping.task import do

#: How long a scheduler has to answer, in seconds.
CONNECT_SECONDS = 10
#: Taken for the number of workers where none has come yet.
EXPECTED_WORKERS = 16


@contextmanager
def _open(asked: Asked) -> Iterator[Workers]:
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise missing("dask", error) from None
    with ExitStack() as stack:
        if asked.scheduler is None:
            with _deaf_children():
                # Each process has one thread; its tables are written by one thread, too.
                cluster = LocalCluster(
                    n_workers=asked.threads,
                    threads_per_worker=1,
                    host="127.0.0.1",
                    # Any free port: that of the default may be another cluster's.
                    dashboard_address="127.0.0.1:0",
                    silence_logs=logging.CRITICAL,
                    env={"POLARS_MAX_THREADS": "1"},
                )
                stack.enter_context(cluster)
            client, count = stack.enter_context(Client(cluster)), asked.threads
            client.register_plugin(_heedless())
        else:
            client = stack.enter_context(_connected(Client, asked.scheduler))
            count = sum(client.nthreads().values()) or EXPECTED_WORKERS
        # Impure: a task that is asked for again, because its worker died, is to be done again.
        executor = client.get_executor(pure=False)
        yield Workers(submit=lambda tasks: [executor.submit(do, task) for task in tasks], count=count)


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Let no process hear Ctrl-C that is begun in here, or later by a thread that was begun in here.

    A worker that has not loaded its plugin yet would print where it was. A Ctrl-C that comes meanwhile is
    heard at the end.
    """
    resource_tracker.ensure_running()  # beginning it would open the mask again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _heedless() -> Any:
    """Return a plugin that leaves Ctrl-C to the client, also in workers that come in place of others.

    A terminal sends it to all processes, and each would print where it was.
    """
    from distributed import WorkerPlugin

    class Heedless(WorkerPlugin):
        def setup(self, worker: Any) -> None:
            del worker
            signal.signal(signal.SIGINT, signal.SIG_IGN)

    return Heedless()


def _connected(client: Any, address: str) -> Any:
    try:
        return client(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        words = f"no Dask scheduler answers at {address} ({type(error).__name__})"
        raise UserError(f"--scheduler: {words}; start one with dask scheduler") from None


EXECUTOR = ExecutorKind(options=frozenset({"scheduler"}), open=_open)
