"""``lossylink lab``: two real hosts and a link that corrupts, on this machine."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from pathlib import Path

from lossylink.cli.options.declaring import Group, argument, flag, option
from lossylink.cli.options.kinds import PATH, WHOLE, real, whole
from lossylink.declared.protections import usages
from lossylink.errors import UserError
from lossylink.linux.lab import Lab
from lossylink.linux.lab import status as show
from lossylink.linux.lab.monitor import Policy, run_monitor
from lossylink.units import parse_positive_time, parse_rate, parse_ratio, parse_size, parse_time

app = Group("lab", help="A live lab: two real hosts and a link that corrupts.", no_args_is_help=True)

_PS_PER_SECOND = 10**12
_lab_name = option("--name", default="", help="Which lab; the unnamed one when not given.")


def _lab(name: str) -> Lab:
    return Lab.find(name)


@app.command("up")
@option("--link", help="Rate of the link; 1Gbps when not given, 6Mbps with bmv2.")
@option("--rtt", help="Round trip of the link, both directions' propagation; 200us usually.")
@option("--mtu", kind=WHOLE, default=1500, help="Largest IP packet.")
@option("--queue", default="560KB", help="Queue in front of the link, drop-tail.")
@option("--ecn-threshold", help="Mark CE from this much waiting on.")
@option("--loss", default="none", help="Loss from h4 to h8; see `lab loss`.")
@option("--loss-reverse", default="none", help="Loss from h8 to h4.")
@option("--protection", "-p", default="none", help=f"{usages(live=True)}, with options.")
@option("--cc", "congestion_control", default="cubic", help="TCP's algorithm.")
@option("--rto-min", help="TCP's least retransmission timeout.")
@flag("--split", help="Guards and wire as separate processes.")
@flag("--fifo/--no-fifo", default=None, help="Real-time priority, which is usual.")
@option("--port", help="How frames cross: tap, packet, or xdp (root); tap usually.")
@option("--dataplane", default="native", help="native, or bmv2: software switches that run the P4 programs.")
@option("--window", help="Most that one connection has under way; below the queue, none drops.")
@flag(
    "--offloads/--no-offloads",
    default=None,
    help="Hosts send and receive bursts whole, as with TSO and GRO. Usual beyond 2 Gb/s.",
)
@option("--key-file", kind=PATH, help="Secret of both guards, which seals their frames; mode 600.")
@option("--seed", kind=WHOLE, default=1, help="Decides every random draw.")
@flag("--replace", help="Take down a lab that is up.")
@_lab_name
def up(
    link: str | None,
    rtt: str | None,
    mtu: int,
    queue: str,
    ecn_threshold: str | None,
    loss: str,
    loss_reverse: str,
    protection: str,
    congestion_control: str,
    rto_min: str | None,
    split: bool,
    fifo: bool | None,
    port: str | None,
    dataplane: str,
    window: str | None,
    offloads: bool | None,
    key_file: Path | None,
    seed: int,
    replace: bool,
    name: str,
) -> None:
    """Build the hosts h4 (10.2.2.1) and h8 (10.2.2.2) and the link between them, and ping across.

    h4 ---- sw2 ==== sw6 ---- h8, of which the link between the guards sw2 and sw6 corrupts.

    Examples
    --------
        lossylink lab up

        lossylink lab up --link 100Mbps --rtt 6ms --loss 1e-3 --protection lg

        lossylink lab up --link 10Gbps --window 500KB --loss 1e-3 --protection lg

        lossylink lab up --dataplane bmv2 --loss 1e-2 --protection lg:copies=2
    """
    from lossylink.linux.lab.settings import lab_settings

    usual = {
        "rate_bps": None if link is None else _read(parse_rate, link),
        "rtt_ps": None if rtt is None else _read(parse_time, rtt),
        "fifo": fifo,
        "port": port,
    }
    settings = lab_settings(
        **{name: value for name, value in usual.items() if value is not None},
        dataplane=dataplane,
        mtu_bytes=mtu,
        queue_bytes=_read(parse_size, queue),
        ecn_bytes=None if ecn_threshold is None else _read(parse_size, ecn_threshold),
        ecn=ecn_threshold is not None,
        loss_forward=loss,
        loss_reverse=loss_reverse,
        protection=protection,
        congestion_control=congestion_control,
        rto_min_ps=None if rto_min is None else _read(parse_positive_time, rto_min),
        split=split,
        offloads=offloads,
        window_bytes=None if window is None else _read(parse_size, window),
        key_file=key_file,
        seed=seed,
    )
    lab = Lab.up(settings, name=name, replace=replace)
    print("Checking connectivity via ping...")
    print(lab.ping_check(), end="")
    named = lab.directory.option
    print(f"the lab stays up: lossylink lab exec{named} h4 -- COMMAND runs in it, lab down{named} removes it")


def _read(parse: Callable[[object], int], text: str) -> int:
    """Read a quantity; a mistake is one line."""
    try:
        return parse(text)
    except ValueError as error:
        raise UserError(str(error)) from None


@app.command("down")
@_lab_name
def down(name: str) -> None:
    """Remove everything that the lab has made, whatever became of it.

    Examples
    --------
        lossylink lab down
    """
    from lossylink.linux.lab.lab import sweep_orphans, take_down

    sweep_orphans()
    print("the lab is down" if take_down(name) else "no lab was up")


@app.command("status")
@flag("--json", "as_json", help="Print every counter as one JSON object.")
@flag("--prometheus", help="Print Prometheus text.")
@_lab_name
def status(as_json: bool, prometheus: bool, name: str) -> None:
    """Show the sender's and the receiver's state, the link and how punctual it was.

    Examples
    --------
        lossylink lab status

        lossylink lab status --prometheus
    """
    lab = _lab(name)
    if as_json:
        print(json.dumps({plane: client.counters() for plane, client in lab.planes().items()}))
    elif prometheus:
        for client in lab.planes().values():
            print(client.prometheus(), end="")
    else:
        print(show.describe(lab))


@app.command("watch")
@option("--interval", kind=real(least=0.1), default=1.0, help="Seconds between two looks.")
@option("--rounds", kind=whole(least=1), help="Stop after this many looks.")
@_lab_name
def watch(interval: float, rounds: int | None, name: str) -> None:
    """Show rates and counters live, until Ctrl-C.

    Examples
    --------
        lossylink lab watch --interval 0.5
    """
    from lossylink.linux.lab import watch as view

    view.watch(_lab(name), interval_seconds=interval, rounds=rounds)


@app.command("loss")
@argument("forward", help="Loss from h4 to h8: 1e-3, 0.1%, gilbert-elliott:..., at:17,18.")
@option("--reverse", help="Loss from h8 to h4; unchanged when not given.")
@_lab_name
def loss(forward: str, reverse: str | None, name: str) -> None:
    """Corrupt frames by another loss model from now on.

    LinkGuardian without `copies=N` chooses its copies by the loss, so that their number may change, too.
    Guards that are processes of their own (`lab up --split`) do not know the loss of the wire, and switches
    (`lab up --dataplane bmv2`) send two unless told otherwise.

    Examples
    --------
        lossylink lab loss 1e-2
    """
    lab = _lab(name)
    lab.set_loss(forward=forward, reverse=reverse)
    print(f"h4 -> h8: {forward}" + (f", h8 -> h4: {reverse}" if reverse is not None else ""))
    _tell_copies(lab)


@app.command("protect")
@argument("protection", help=f"{usages(live=True)}, with options; or off.")
@_lab_name
def protect(protection: str, name: str) -> None:
    """Protect the link by another protection from now on.

    Examples
    --------
        lossylink lab protect lg

        lossylink lab protect fec:25/5

        lossylink lab protect off
    """
    lab = _lab(name)
    lab.protect(protection)
    print(f"protection: {protection}")
    _tell_copies(lab)


def _tell_copies(lab: Lab) -> None:
    """Say how often a lost frame and a control frame are sent, where the protection in force does so."""
    copies = lab.copies()
    if copies is not None:
        near, far = copies
        why = "; these guards do not know the loss of the wire" if lab.settings.split else ""
        why = "; switches keep the number that they are told" if lab.settings.dataplane == "bmv2" else why
        print(f"copies of each retransmission: {near.frames} from h4, {far.frames} from h8{why}")
        print(f"copies of each loss notification: {near.control} from h4, {far.control} from h8{why}")


@app.command("auto")
@option("--seconds", kind=real(least=0.1), help="Stop after this long; Ctrl-C stops any time.")
@option("--on", default="1e-5", help="Protect from this loss on.")
@option("--off", help="Stop below this loss; half of --on when not given.")
@option("--confidence", kind=real(), default=0.99, help="How sure a decision must be.")
@option("--hold", default="5s", help="Least time from a change to one that does less.")
@_lab_name
def auto(seconds: float | None, on: str, off: str | None, confidence: float, hold: str, name: str) -> None:
    """Watch the link, protect it while it corrupts frames, and stop when it surely does no longer.

    Decisions are those of docs/protocols/monitor.md; to switch off takes about 4.6 / OFF frames without loss.

    Examples
    --------
        lossylink lab auto --on 1e-4
    """
    policy = Policy(
        on_loss=_ratio(on),
        off_loss=None if off is None else _ratio(off),
        confidence=confidence,
        hold_seconds=_read(parse_time, hold) / _PS_PER_SECOND,
    )
    limit = math.inf if seconds is None else seconds
    run_monitor(_lab(name), policy=policy, seconds=limit, tell=lambda line: print(line, flush=True))


def _ratio(text: str) -> float:
    """Read a loss ratio or percentage; a mistake is one line."""
    try:
        return parse_ratio(text)
    except ValueError as error:
        raise UserError(str(error)) from None


@app.command("exec", context_settings={"ignore_unknown_options": True})
@argument("host", help="h4 or h8.")
@argument("command", nargs=-1, required=True, help="The command, after --.")
@_lab_name
def execute(host: str, command: tuple[str, ...], name: str) -> None:
    """Run a command on a host.

    Examples
    --------
        lossylink lab exec h4 -- iperf3 -c 10.2.2.2
    """
    words = _lab(name).command(host, command)
    os.execvp(words[0], words)


@app.command("ping", context_settings={"ignore_unknown_options": True})
@argument("options", nargs=-1, help="Options of ping, after --.")
@_lab_name
def ping(options: tuple[str, ...], name: str) -> None:
    """Ping h8 from h4; five times when no options are given.

    Examples
    --------
        lossylink lab ping

        lossylink lab ping -- -c 100 -i 0.01
    """
    from lossylink.linux.lab.hosts import H8
    from lossylink.linux.lab.lab import PING_CHECK

    words = _lab(name).command("h4", ["ping", *(options or PING_CHECK), H8.address])
    os.execvp(words[0], words)


@app.command("pcap")
@argument("hop", help="h4 or h8; with --split also sw2-wire or wire-sw6, with bmv2 sw2-sw6.")
@argument("file", default="-", help="Where to write the capture.")
@option("--count", kind=whole(least=1), help="Stop after this many frames.")
@_lab_name
def pcap(hop: str, file: str, count: int | None, name: str) -> None:
    """Capture a hop, until Ctrl-C.

    Examples
    --------
        lossylink lab pcap h8 h8.pcap --count 1000
    """
    from lossylink.linux.lab.capture import capture_command

    words = capture_command(_lab(name), hop, file, count=count)
    os.execvp(words[0], words)
