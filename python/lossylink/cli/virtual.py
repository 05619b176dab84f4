"""``lossylink virtual``: any program of the user's between two hosts in virtual time."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import click

from lossylink._package.progress import LINE_SECONDS
from lossylink.cli.exits import INTERRUPTED, leave
from lossylink.cli.options.declaring import Command, argument, flag, option
from lossylink.cli.options.kinds import WHOLE
from lossylink.cli.runs.running import parse_settings
from lossylink.declared.protections import usages
from lossylink.linux.guest import Finished
from lossylink.linux.kernel import require_kernel
from lossylink.scenario.resolving import resolve
from lossylink.scenario.scenario import Scenario


@click.command("virtual", cls=Command, context_settings={"allow_interspersed_args": False})
@argument("words", nargs=-1, required=True, metavar="COMMAND", help="A command or a shell script, after --.")
@option("--link", default="100Gbps", help="Rate of the link, 10G to 800G and below.")
@option("--rtt", help="Round trip; the artifact's path of 30 us when not given.")
@option("--loss", default="0", help="What the link corrupts from h4 to h8.")
@option("--loss-reverse", default="0", help="What it corrupts from h8 to h4.")
@option("--protection", "-p", multiple=True, help=f"{usages()}; repeat to run once under each.")
@option("--control", default="cubic", help="Congestion control of both hosts.")
@option("--set", "-s", "settings", multiple=True, metavar="KEY=VALUE", help="Set a key; repeat for more.")
@option("--seed", kind=WHOLE, default=1, help="Decides every random draw.")
@flag("--json", "as_json", help="Print what the path counted as one JSON object, and send output to stderr.")
def command(
    words: tuple[str, ...],
    link: str,
    rtt: str | None,
    loss: str,
    loss_reverse: str,
    protection: tuple[str, ...],
    control: str,
    settings: tuple[str, ...],
    seed: int,
    as_json: bool,
) -> None:
    """Run a command where two real Linux hosts are connected by a simulated link, in virtual time.

    `h4 PROGRAM` and `h8 PROGRAM` run a program on either host; the hosts know each other by these names. The
    machine's own programs and files are there. Time passes only while everybody sleeps.

    Examples
    --------
        lossylink virtual --link 100Gbps --loss 1e-3 -- h4 ping -c 3 h8

        lossylink virtual --loss 1e-3 -p none -p lg -- sh -c 'h8 iperf3 -s -1 -D; h4 iperf3 -c h8 -n 10M'

        lossylink virtual --rtt 1ms --loss 1% -p lg ./my-store-benchmark.sh
    """
    chosen: dict[str, Any] = {
        "host.profile": "ideal",
        "link.rate": link,
        "loss.forward": loss,
        "loss.reverse": loss_reverse,
        "transport.congestion_control": control,
    }
    # An interface between the host and a path that is nothing but the link: its bursts leave as frames.
    chosen |= {"path.rtt": rtt, "host.nic_rate": link} if rtt is not None else {}
    chosen |= parse_settings(settings)
    scenario = resolve("throughput", settings=chosen, protection=protection or ["none"], seed=seed)
    kernel = require_kernel()
    from lossylink.linux.guest.session import run_session

    reports: list[dict[str, Any]] = []
    status = 0
    for one, setup in scenario.runs:
        if len(scenario.protections) > 1:
            print(f"== {one.label}", file=sys.stderr, flush=True)
        watch = _Watch(one.label)
        try:
            finished = run_session(
                kernel,
                setup.configuration,
                words,
                here=Path.cwd(),
                to=sys.stderr if as_json else sys.stdout,
                on_time=watch.tell,
            )
        except KeyboardInterrupt:
            if as_json:
                print(json.dumps(reports, allow_nan=False))
            print(watch.stopped(done=len(reports), of=len(scenario.protections)), file=sys.stderr)
            leave(INTERRUPTED)
        reports.append({"protection": one.label, **finished.report, "wall_seconds": finished.wall_seconds})
        print(_summary(one.label, finished, scenario), file=sys.stderr, flush=True)
        status = status or finished.status
    if as_json:
        print(json.dumps(reports, allow_nan=False))
    leave(status)


class _Watch:
    """Says now and then how far a guest is: nobody knows how long a command takes."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._started = time.monotonic()
        self._next = self._started + LINE_SECONDS
        self._passed_seconds = 0.0

    def tell(self, passed_seconds: float, running: str) -> None:
        """Take the virtual time that has passed and who runs; prints a line each `LINE_SECONDS`."""
        self._passed_seconds = passed_seconds
        now = time.monotonic()
        if now >= self._next:
            self._next = now + LINE_SECONDS
            words = f"{self._label}: {self._times()}, {running} runs"
            print(words, file=sys.stderr, flush=True)

    def stopped(self, *, done: int, of: int) -> str:
        """Return what is said on Ctrl-C."""
        others = f"; {done} of {of} protections had ended" if of > 1 else ""
        return f"interrupted: {self._label} after {self._times()}; its output is above{others}"

    def _times(self) -> str:
        wall_seconds = time.monotonic() - self._started
        return f"{self._passed_seconds:.6g} s of virtual time in {wall_seconds:.3g} s"


def _summary(label: str, finished: Finished, scenario: Scenario) -> str:
    report = finished.report
    return (
        f"{label}: {finished.virtual_seconds:.6g} s of virtual time in {finished.wall_seconds:.3g} s; "
        f"h4 to h8 ({scenario.forward.describe()}): {report['frames_offered']:,} frames over the link, "
        f"{report['frames_lost']:,} corrupted, {report['frames_unrecovered']:,} lost for good; "
        f"h8 to h4 ({scenario.reverse.describe()}): {report['frames_offered_back']:,} frames, "
        f"{report['frames_lost_back']:,} corrupted"
    )
