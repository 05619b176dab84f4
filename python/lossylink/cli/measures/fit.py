"""``lossylink fit``: a loss model of a recording or of a line's gauges, and a scenario of it."""

from __future__ import annotations

import os
from pathlib import Path

import click

from lossylink._package.progress import progress_bar
from lossylink.cli.measures.gauges import CODE, Reading, before_option, code_option, keep_gauges, port_option
from lossylink.cli.measures.history import keep_history
from lossylink.cli.measures.kept import Place, begin_of, output_option, read_option, replace_option
from lossylink.cli.options.declaring import Command, argument, option
from lossylink.cli.options.kinds import PATH, real
from lossylink.errors import UserError
from lossylink.units import parse_rate, parse_ratio, parse_size


@click.command("fit", cls=Command)
@argument(
    "recording",
    PATH,
    default=None,
    help="A capture (pcapng or pcap), a loss trace, or what iperf3 --json, ss -tin or tc -s qdisc "
    "printed; gzip and zstd too, - is standard input.",
)
@option(
    "--fec-histogram",
    kind=PATH,
    metavar="FILE",
    help="Instead of a recording: wrong symbols a codeword, as ethtool -I --show-fec, mlxlink "
    "--show_histogram or SONiC's fec-histogram print them, or CSV with the headers bin,count.",
)
@option(
    "--fec-history",
    kind=PATH,
    metavar="FILE",
    help="Instead of a recording: CSV of counters or gauges over time, with a column time_s. Has the line "
    "changed, and when will it cross --target?",
)
@option("--target", default="1e-8", help="With --fec-history: the loss ratio to stay below.")
@code_option
@option("--seconds", kind=real(least=1e-09), help="For how long the gauges counted, if they do not tell.")
@before_option
@port_option
@option("--rate-of-link", default="100Gbps", help="Rate of the link for the scenario.")
@option("--frame", default="1514B", help="Frame size for the scenario, without check sequence.")
@output_option
@replace_option
def command(
    recording: Path | None,
    fec_histogram: Path | None,
    fec_history: Path | None,
    target: str,
    code: str,
    seconds: float | None,
    before: Path | None,
    port: str | None,
    rate_of_link: str,
    frame: str,
    output: Path | None,
    replace: bool,
) -> None:
    """Fit a loss model to a recording, and write a scenario of it.

    A capture holds probes of `lossylink measure`, or frames of LinkGuardian, where they arrive and one way
    (tcpdump -Q in). What is missing between two numbers was lost. A loss trace is text of 0 and 1.
    iperf3 and ss count, and tc says what netem was told; notes say what they cannot tell.
    A histogram of wrong symbols (--fec-histogram) tells how the line errs before its own code corrects it,
    whether errors come in bursts, and how many codewords will fail.

    Examples
    --------
        lossylink fit link.pcapng --rate-of-link 25Gbps

        lossylink fit runs/measure-eth2/forward.trace -o fitted

        iperf3 -c 192.0.2.18 -u -b 100M --get-server-output --json | lossylink fit -

        lossylink fit --fec-histogram histogram.csv --code rs544 --rate-of-link 100G

        lossylink fit --fec-history month.csv --code rs544 --target 1e-10 --rate-of-link 400G
    """
    place = Place(
        output=output,
        replace=replace,
        rate_bps=read_option("--rate-of-link", parse_rate, rate_of_link),
        frame_bytes=read_option("--frame", parse_size, frame),
    )
    if sum(one is not None for one in (recording, fec_histogram, fec_history)) != 1:
        raise UserError("give one of the three: a recording, --fec-histogram FILE or --fec-history FILE")
    if fec_history is not None:
        keep_history(fec_history, place, code=code, target=_ratio(target))
        return
    if fec_histogram is not None:
        reading = Reading(path=fec_histogram, before=before, port=port, code=code, seconds=seconds)
        keep_gauges(reading, place, needs_histogram=True, begin="fit")
        return
    if before is not None or port is not None or seconds is not None or code != CODE:
        raise UserError("--code, --seconds, --before and --port are of gauges; add --fec-histogram FILE")
    assert recording is not None
    _fit(recording, place)


def _ratio(text: str) -> float:
    try:
        return parse_ratio(text)
    except ValueError as error:
        raise UserError(f"--target: {error}") from None


def _fit(recording: Path, place: Place) -> None:
    """Fit a recording and write what was found."""
    from lossylink.measuring.recordings import findings_of

    with place.staged(begin_of("fit", recording)) as stage:
        with progress_bar("read") as reading, progress_bar("fit") as fitting:
            findings = findings_of(recording, read=reading, fit=fitting)
        place.keep(stage, findings, {"recording": os.fspath(recording)}, title=recording.name)
