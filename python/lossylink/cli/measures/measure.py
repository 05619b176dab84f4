"""``lossylink measure``: the losses of a real link, and a scenario of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lossylink._package.progress import progress_bar
from lossylink.cli.exits import FAILED, INTERRUPTED, leave
from lossylink.cli.measures.gauges import (
    Reading,
    before_option,
    code_option,
    keep_gauges,
    live_lines,
    port_option,
)
from lossylink.cli.measures.kept import Place, output_option, read_option, replace_option
from lossylink.cli.options.declaring import Command, flag, given_options, option
from lossylink.cli.options.kinds import PATH, real
from lossylink.errors import UserError
from lossylink.units import parse_count, parse_rate, parse_size

if TYPE_CHECKING:
    from lossylink.measuring.cable import Measured
    from lossylink.measuring.interface import Interface
    from lossylink.measuring.outcome import Finding

#: Probes in a second that a slow box still sends and counts.
_MOST_RATE_PER_S = 20_000
#: A rate within this share of what was asked for is what was asked for.
_REACHED_SHARE = 0.95


@click.command("measure", cls=Command)
@option("--link", help="Interface of the link.")
@option("--seconds", kind=real(least=0.1), default=10.0, help="How long to measure.")
@option("--rate", default="1000", metavar="PER_SECOND", help="Probes in a second, up to 20,000.")
@option("--length", default="1514B", help="Bytes of a probe, without check sequence.")
@flag("--counters", help="Without a peer: from what the interface counts.")
@option(
    "--from",
    "recorded",
    kind=PATH,
    metavar="FILE",
    help="Instead of --link: gauges that ethtool -S, ethtool -I --show-fec, mlxlink -c or SONiC's "
    "fec-stats printed, or CSV; --seconds is then for how long they counted.",
)
@before_option
@port_option
@code_option
@option("--wait", kind=real(least=0.1), default=10.0, help="Seconds to wait for the peer.")
@option("--rate-of-link", help="Rate of the link for the scenario; the interface's when not given.")
@output_option
@replace_option
@click.pass_context
def measure(
    context: click.Context,
    link: str | None,
    seconds: float,
    rate: str,
    length: str,
    counters: bool,
    recorded: Path | None,
    before: Path | None,
    port: str | None,
    code: str,
    wait: float,
    rate_of_link: str | None,
    output: Path | None,
    replace: bool,
) -> None:
    """Measure the losses of a link, fit a loss model, and write a scenario of them.

    The same command runs on both boxes at the same time. Each sends numbered probes, counts the other's, and
    tells the other: both print both directions. Ctrl-C on either box ends the measurement and keeps it.
    With --counters one box is enough, and only the way to it is measured. Gauges of the line's own code (FEC)
    are read as well, those of an interface or, with --from, those that another tool printed.

    Examples
    --------
        lossylink measure --link eth2 --seconds 60

        lossylink measure --link eth2 --rate 20000 --length 200B -o before

        lossylink measure --link eth2 --counters --seconds 60 --rate-of-link 100Gbps

        lossylink measure --counters --from fec-stats.txt --port Ethernet8 --seconds 3600 --rate-of-link 100G
    """
    length_bytes = read_option("--length", parse_size, length)
    if (link is None) == (recorded is None):
        raise UserError("give one of the two: --link INTERFACE, or --from FILE with what a tool printed")
    if recorded is not None:
        rate_bps = _rate_of_recording(rate_of_link)
        place = Place(output=output, replace=replace, rate_bps=rate_bps, frame_bytes=length_bytes)
        counted_s = seconds if "seconds" in given_options(context) else None
        reading = Reading(path=recorded, before=before, port=port, code=code, seconds=counted_s)
        keep_gauges(reading, place, needs_histogram=False, begin="measure")
        return
    assert link is not None
    if before is not None or port is not None:
        raise UserError("--before and --port are of recorded gauges; add --from FILE")
    _measure(
        link,
        rate_of_link=rate_of_link,
        length_bytes=length_bytes,
        rate_per_s=read_option("--rate", parse_count, rate),
        seconds=seconds,
        counters=counters,
        code=code,
        wait=wait,
        output=output,
        replace=replace,
    )


def _rate_of_recording(text: str | None) -> int:
    if text is None:
        raise UserError("a text does not tell the rate of its line: add --rate-of-link 100Gbps")
    return read_option("--rate-of-link", parse_rate, text)


def _measure(
    link: str,
    *,
    rate_of_link: str | None,
    length_bytes: int,
    rate_per_s: int,
    seconds: float,
    counters: bool,
    code: str,
    wait: float,
    output: Path | None,
    replace: bool,
) -> None:
    """Measure an interface and write what was found."""
    from lossylink.measuring.interface import Interface

    interface = Interface.find(link)
    rate_bps = _link_rate(rate_of_link, interface)
    _check(interface, length_bytes=length_bytes, rate_per_s=rate_per_s, seconds=seconds, counters=counters)
    place = Place(output=output, replace=replace, rate_bps=rate_bps, frame_bytes=length_bytes)
    with place.staged(f"measure-{link}") as stage:
        if counters:
            findings, told = _by_counters(interface, place, seconds, code=code)
        else:
            measured = _by_probes(interface, rate_per_s, length_bytes, seconds, wait)
            _tell_rate(measured, rate_per_s)
            findings, told = _of_peer(link, measured)
            told |= {"probe_bytes": length_bytes, "rate_per_s": rate_per_s}
        told = {"link": link, "seconds_wanted": seconds, **told}
        if told["is_shorter"]:
            stage.give_way()
        place.keep(stage, findings, told, title=f"link {link}")
    if not all(finding.is_valid for finding in findings):
        print("error: these boxes dropped probes: the run is invalid; lower --rate", file=sys.stderr)
        leave(FAILED)
    if told["is_shorter"]:
        print("stopped before its time: what was measured until then is kept", file=sys.stderr)
        leave(INTERRUPTED)


def _link_rate(text: str | None, interface: Interface) -> int:
    if text is not None:
        return read_option("--rate-of-link", parse_rate, text)
    speed_bps = interface.speed_bps
    if speed_bps is None:
        raise UserError(f"{interface.name} does not tell its speed: add --rate-of-link 1Gbps")
    return speed_bps


def _check(
    interface: Interface, *, length_bytes: int, rate_per_s: int, seconds: float, counters: bool
) -> None:
    """Refuse what cannot be measured before anything is sent."""
    from lossylink.measuring.probes import MOST_PROBES, SHORTEST_BYTES

    most_bytes = interface.mtu_bytes + 14
    if not SHORTEST_BYTES <= length_bytes <= most_bytes:
        bounds = f"{SHORTEST_BYTES} to {most_bytes} B"
        raise UserError(f"--length {length_bytes} B does not fit {interface.name}; give {bounds}")
    if rate_per_s > _MOST_RATE_PER_S:
        raise UserError(f"--rate {rate_per_s} is more than probes can count; give up to {_MOST_RATE_PER_S}")
    if not counters and rate_per_s * seconds > MOST_PROBES:
        raise UserError(f"a measurement has up to {MOST_PROBES:,} probes; lower --rate or --seconds")
    if not interface.is_up:
        raise UserError(f"{interface.name} is down: ip link set {interface.name} up, on both boxes")


def _by_probes(
    interface: Interface, rate_per_s: int, length_bytes: int, seconds: float, wait_seconds: float
) -> Measured:
    from lossylink.measuring import cable

    with progress_bar("probes") as progress:
        return cable.measure(
            interface,
            rate_per_s=rate_per_s,
            length_bytes=length_bytes,
            seconds=seconds,
            wait_seconds=wait_seconds,
            report=progress,
        )


def _tell_rate(measured: Measured, rate_per_s: int) -> None:
    """Say so if this box was too slow for the rate that was asked for."""
    if measured.ours is None or not measured.seconds:
        return
    reached_per_s = measured.ours.record.frames / measured.seconds
    if reached_per_s < _REACHED_SHARE * rate_per_s:
        print(f"this box sent {reached_per_s:,.0f} probes a second, not {rate_per_s:,}", file=sys.stderr)


def _of_peer(link: str, measured: Measured) -> tuple[list[Finding], dict[str, Any]]:
    from lossylink.measuring.outcome import Finding

    if measured.ours is None:
        print("the peer fell silent: the loss on the way to it is unknown", file=sys.stderr)
    ways = (
        ("forward", f"{link} to the peer", measured.ours),
        ("reverse", f"the peer to {link}", measured.theirs),
    )
    with progress_bar("fit") as progress:
        findings = [
            Finding.of(key, title, one, report=progress)
            for key, title, one in ways
            if one is not None and one.record.frames
        ]
    return findings, {"seconds": measured.seconds, "is_shorter": measured.is_shorter}


def _by_counters(
    interface: Interface, place: Place, seconds: float, *, code: str
) -> tuple[list[Finding], dict[str, Any]]:
    from lossylink.measuring.counters import count
    from lossylink.measuring.outcome import Finding

    with progress_bar("counters") as progress:
        counted = count(interface, seconds=seconds, report=progress)
    finding = Finding("forward", f"the peer to {interface.name}", counted.fit, "frames")
    print("\n".join(counted.lines()))
    for line in live_lines(counted, code=code, rate_bps=place.rate_bps, frame_bytes=place.frame_bytes):
        print(line)
    told = {
        "seconds": counted.seconds,
        "is_shorter": counted.is_shorter,
        "fec_blocks": counted.fec_blocks,
        "errors": counted.errors,
    }
    return [finding], told
