"""``lossylink measure`` and ``lossylink fit``: the losses of a real link, and a scenario of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lossylink.cli.exits import FAILED, INTERRUPTED, leave
from lossylink.errors import UserError

if TYPE_CHECKING:
    from lossylink.measuring.cable import Measured
    from lossylink.measuring.interface import Interface
    from lossylink.measuring.outcome import Finding

#: Probes in a second that a slow box still sends and counts.
_MOST_RATE_PER_S = 20_000
#: A rate within this share of what was asked for is what was asked for.
_REACHED_SHARE = 0.95
_Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Directory to write; one under runs/ when not given.")
]


_Replace = Annotated[
    bool,
    typer.Option("--replace", help="Take the place of another result in --output; your own files stay."),
]


def measure(
    link: Annotated[str, typer.Option(help="Interface of the link.")],
    seconds: Annotated[float, typer.Option(min=0.1, help="How long to measure.")] = 10.0,
    rate: Annotated[
        str, typer.Option(help="Probes in a second, up to 20,000.", metavar="PER_SECOND")
    ] = "1000",
    length: Annotated[str, typer.Option(help="Bytes of a probe, without check sequence.")] = "1514B",
    counters: Annotated[
        bool, typer.Option("--counters", help="Without a peer: from what the interface counts.")
    ] = False,
    wait: Annotated[float, typer.Option(min=0.1, help="Seconds to wait for the peer.")] = 10.0,
    rate_of_link: Annotated[
        str | None, typer.Option(help="Rate of the link for the scenario; the interface's when not given.")
    ] = None,
    output: _Output = None,
    replace: _Replace = False,
) -> None:
    """Measure the losses of a link, fit a loss model, and write a scenario of them.

    The same command runs on both boxes at the same time. Each sends numbered probes, counts the other's, and
    tells the other: both print both directions. Ctrl-C on either box ends the measurement and keeps it.
    With --counters one box is enough, and only the way to it is measured.

    Examples
    --------
        lossylink measure --link eth2 --seconds 60

        lossylink measure --link eth2 --rate 20000 --length 200B -o before

        lossylink measure --link eth2 --counters --seconds 60 --rate-of-link 100Gbps
    """
    from lossylink.measuring.interface import Interface
    from lossylink.run_directory import staged
    from lossylink.units import parse_count, parse_size

    interface = Interface.find(link)
    rate_bps = _link_rate(rate_of_link, interface)
    length_bytes = _read("--length", parse_size, length)
    rate_per_s = _read("--rate", parse_count, rate)
    _check(interface, length_bytes=length_bytes, rate_per_s=rate_per_s, seconds=seconds, counters=counters)
    target = output or _new_directory(f"measure-{link}")
    with staged(target, replace=replace) as stage:
        if counters:
            findings, told, is_shorter = _by_counters(interface, seconds)
        else:
            measured = _by_probes(interface, rate_per_s, length_bytes, seconds, wait)
            _tell_rate(measured, rate_per_s)
            findings, told, is_shorter = _of_peer(link, measured)
            told |= {"probe_bytes": length_bytes, "rate_per_s": rate_per_s}
        told = {"link": link, "seconds_wanted": seconds, **told}
        if is_shorter:
            stage.give_way()
        title, place = f"link {link}", stage.target
        _keep(stage.folder, place, findings, told, rate_bps=rate_bps, frame_bytes=length_bytes, title=title)
    _tell_place(stage.target)
    if not all(finding.is_valid for finding in findings):
        print("error: these boxes dropped probes: the run is invalid; lower --rate", file=sys.stderr)
        leave(FAILED)
    if is_shorter:
        print("stopped before its time: what was measured until then is kept", file=sys.stderr)
        leave(INTERRUPTED)


def fit(
    recording: Annotated[
        Path,
        typer.Argument(
            help="A capture (pcapng or pcap), a loss trace, or what iperf3 --json, ss -tin or tc -s qdisc "
            "printed; gzip and zstd too, - is standard input."
        ),
    ],
    rate_of_link: Annotated[str, typer.Option(help="Rate of the link for the scenario.")] = "100Gbps",
    frame: Annotated[
        str, typer.Option(help="Frame size for the scenario, without check sequence.")
    ] = "1514B",
    output: _Output = None,
    replace: _Replace = False,
) -> None:
    """Fit a loss model to a recording, and write a scenario of it.

    A capture holds probes of `lossylink measure`, or frames of LinkGuardian, where they arrive and one way
    (tcpdump -Q in). What is missing between two numbers was lost. A loss trace is text of 0 and 1.
    iperf3 and ss count, and tc says what netem was told; notes say what they cannot tell.

    Examples
    --------
        lossylink fit link.pcapng --rate-of-link 25Gbps

        lossylink fit runs/measure-eth2/forward.trace -o fitted

        iperf3 -c 192.0.2.18 -u -b 100M --get-server-output --json | lossylink fit -
    """
    from lossylink.cli.progress import progress_bar
    from lossylink.measuring.recordings import findings_of
    from lossylink.run_directory import staged
    from lossylink.units import parse_rate, parse_size

    rate_bps = _read("--rate-of-link", parse_rate, rate_of_link)
    frame_bytes = _read("--frame", parse_size, frame)
    stem = recording.name.partition(".")[0]
    target = output or _new_directory(f"fit-{stem if stem != '-' else 'standard-input'}")
    with staged(target, replace=replace) as stage:
        with progress_bar("read") as reading, progress_bar("fit") as fitting:
            findings = findings_of(recording, read=reading, fit=fitting)
        told = {"recording": os.fspath(recording)}
        title, place = recording.name, stage.target
        _keep(stage.folder, place, findings, told, rate_bps=rate_bps, frame_bytes=frame_bytes, title=title)
    _tell_place(stage.target)


def _tell_place(target: Path) -> None:
    print(f"written to {os.fspath(target)}/; lossylink run {target / 'scenario.toml'} simulates the link")


def _read(option: str, parse: Any, text: str) -> int:
    try:
        return int(parse(text))
    except ValueError as error:
        raise UserError(f"{option}: {error}") from None


def _link_rate(text: str | None, interface: Interface) -> int:
    from lossylink.units import parse_rate

    if text is not None:
        return _read("--rate-of-link", parse_rate, text)
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


def _new_directory(begin: str) -> Path:
    """Return a directory under ``runs`` that is not there yet."""
    name = f"{begin}-{datetime.now():%Y%m%d-%H%M%S}"
    names = (name, *(f"{name}-{number}" for number in range(2, 1000)))
    return next(path for path in (Path("runs") / one for one in names) if not path.exists())


def _by_probes(
    interface: Interface, rate_per_s: int, length_bytes: int, seconds: float, wait_seconds: float
) -> Measured:
    from lossylink.cli.progress import progress_bar
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


def _of_peer(link: str, measured: Measured) -> tuple[list[Finding], dict[str, Any], bool]:
    from lossylink.cli.progress import progress_bar
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
    told = {"seconds": measured.seconds, "is_shorter": measured.is_shorter}
    return findings, told, measured.is_shorter


def _by_counters(interface: Interface, seconds: float) -> tuple[list[Finding], dict[str, Any], bool]:
    from lossylink.cli.progress import progress_bar
    from lossylink.measuring.counters import count
    from lossylink.measuring.outcome import Finding

    with progress_bar("counters") as progress:
        counted = count(interface, seconds=seconds, report=progress)
    finding = Finding("forward", f"the peer to {interface.name}", counted.fit, "frames")
    print("\n".join(counted.lines()))
    told = {
        "seconds": counted.seconds,
        "is_shorter": counted.is_shorter,
        "fec_blocks": counted.fec_blocks,
        "errors": counted.errors,
    }
    return [finding], told, counted.is_shorter


def _keep(
    folder: Path,
    target: Path,
    findings: Sequence[Finding],
    told: dict[str, Any],
    *,
    rate_bps: int,
    frame_bytes: int,
    title: str,
) -> None:
    """Print what was found with its plan, and write it to a folder that becomes ``target``."""
    from lossylink.measuring.outcome import advise, scenario_text, write

    plans = {}
    for finding in findings:
        for line in finding.lines():
            print(line)
        advice = advise(finding, rate_bps=rate_bps, frame_bytes=frame_bytes, folder=target)
        for line in filter(None, (advice.command, advice.sentence, advice.note)):
            print(f"  {line}")
        plans[finding.key] = {"command": advice.command, "sentence": advice.sentence}
    text = scenario_text(findings, rate_bps=rate_bps, frame_bytes=frame_bytes, title=title)
    write(folder, findings, scenario=text, told=told | {"link_bps": rate_bps, "plans": plans})
