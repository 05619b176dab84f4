"""``lossylink plan``: what every protection would do for a link, and which to take."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import typer

from lossylink import units
from lossylink._package.progress import progress_bar
from lossylink.cli.exits import FAILED, leave
from lossylink.cli.plan_code import loss_of_gauge, plan_code
from lossylink.cli.plan_shown import loss_text, show
from lossylink.errors import UserError
from lossylink.planning import Comparison, Link, Plan, Workload, plan, verify
from lossylink.planning.links_file import Defaults
from lossylink.scenario.loss import Loss, parse_loss
from lossylink.units import parse_ratio

Value = TypeVar("Value")
Transport = Literal["tcp", "rdma"]


def command(
    context: typer.Context,
    links: Annotated[
        Path | None,
        typer.Argument(
            help="A CSV file with a row for each of many links (name, rate, length, loss or counters, "
            "transport): leave, protect or drain each. Options then say what a row leaves out. - is standard "
            "input.",
            show_default=False,
        ),
    ] = None,
    link: Annotated[str, typer.Option(help="Line rate.", metavar="RATE")] = "100Gbps",
    loss: Annotated[
        str,
        typer.Option(
            help="Loss: a ratio such as 1e-3 or 0.1%, or any loss model: quantised, bit-error-rate, "
            "gilbert-elliott, at, trace, netem."
        ),
    ] = "1e-3",
    loss_from: Annotated[
        Path | None,
        typer.Option(
            help="Take the loss from a file that `lossylink fit` reads: iperf3, ss, tc, capture, trace.",
            metavar="FILE",
        ),
    ] = None,
    pre_fec_ber: Annotated[
        str | None,
        typer.Option(
            help="Instead of --loss: the bit error ratio before the line's own code.", metavar="RATIO"
        ),
    ] = None,
    code: Annotated[
        str | None,
        typer.Option(
            help="With --pre-fec-ber: the line's code, as in phy: rs544 (the default), rs528, rs272, "
            "rsN/K/m, firecode or none, and behind it burst=0.5, lanes=4, precoding=on. Without a loss: the "
            "bit error ratio for the target.",
        ),
    ] = None,
    target: Annotated[str, typer.Option(help="Effective loss ratio to reach.")] = "1e-8",
    length: Annotated[str | None, typer.Option(help="Length of the cable, e.g. 100m.")] = None,
    propagation: Annotated[str | None, typer.Option(help="Its one-way delay instead, e.g. 500ns.")] = None,
    latency_budget: Annotated[
        str | None, typer.Option(help="Longest wait that recovery may add, e.g. 20us.")
    ] = None,
    frame: Annotated[str, typer.Option(help="Frame size without check sequence.")] = "1514B",
    switch: Annotated[str, typer.Option(help="Switch profile, or a TOML file.")] = "tofino1",
    transport: Annotated[
        Transport | None,
        typer.Option(
            help="tcp or rdma: choose by the completion times of its flows, simulated just now. Of many "
            "links nothing is simulated; those of RDMA take what keeps the order."
        ),
    ] = None,
    flow: Annotated[str, typer.Option(help="Size of such a flow.")] = "2MB",
    workload: Annotated[
        str | None,
        typer.Option(
            help="With --transport: web-search, rpc, or a file of flow sizes. Choose by the slowdowns of "
            "such flows that share the link.",
            metavar="SIZES",
        ),
    ] = None,
    check: Annotated[bool, typer.Option("--verify", help="Run the simulator for each and compare.")] = False,
    packets: Annotated[str, typer.Option(help="Frames of each run with --verify.")] = "1M",
    seed: Annotated[int, typer.Option(help="Decides every random draw.")] = 1,
    fabric: Annotated[
        str | None,
        typer.Option(
            help="Plan a whole fabric of such links instead: fb-fabric:pods=P,tors=T or fat-tree:k=K.",
            metavar="TOPOLOGY",
        ),
    ] = None,
    constraint: Annotated[
        str, typer.Option(help="With --fabric: share of its paths that every ToR switch keeps.")
    ] = "75%",
    capacity: Annotated[
        str,
        typer.Option(
            help="Share of its capacity to keep: with --fabric the least pod's, of many links each one's, "
            "which is drained if no protection leaves so much."
        ),
    ] = "90%",
    load: Annotated[
        str,
        typer.Option(
            help="Bytes of flows over the rate: with --workload, and of many links where a file does not say."
        ),
    ] = "50%",
    csv: Annotated[
        Path | None, typer.Option(help="Of many links: write the verdicts as CSV; - prints them.")
    ] = None,
    years: Annotated[int, typer.Option(help="With --fabric: random years for each policy.", min=1)] = 5,
    plot: Annotated[Path | None, typer.Option(help="Draw the plan: FILE.png, .svg or .pdf.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Predict effective loss, speed, added latency and buffers of every protection on a link.

    Examples
    --------
        lossylink plan --link 100Gbps --length 100m --loss 1e-3 --target 1e-8

        lossylink plan --link 100Gbps --loss 1e-3 --target 1e-8 --transport tcp --flow 2MB

        lossylink plan --link 100Gbps --loss 1e-3 --transport tcp --workload web-search --load 50%

        lossylink plan --link 10G --loss 1% --target 1e-6 --latency-budget 50us --verify

        lossylink plan --link 100G --loss gilbert-elliott:mean=1e-3,burst=1.5 --target 1e-6

        lossylink plan --link 10G --loss "netem:loss gemodel 1% 10% 70% 0.1%" --target 1e-6

        lossylink plan --link 10G --loss-from iperf3.json --target 1e-6

        lossylink plan --link 100G --pre-fec-ber 4e-4 --code rs544 --target 1e-10

        lossylink plan --link 100G --code rs544,burst=0.5 --target 1e-8

        lossylink plan links.csv --target 1e-8 --capacity 90% --csv verdicts.csv

        lossylink plan --fabric fb-fabric:pods=261,tors=48 --constraint 75% --capacity 92%
    """
    from lossylink.cli.plan_fabric import plan_whole_fabric

    _refuse_mixed(context, _kind(context, fabric=fabric, links=links))
    if fabric is not None:
        plan_whole_fabric(
            fabric,
            constraint=_read("--constraint", units.parse_ratio, constraint),
            capacity=_read("--capacity", units.parse_ratio, capacity),
            years=years,
            rate=link,
            switch=switch,
            seed=seed,
            as_json=as_json,
        )
        return
    delay = _delay(length, propagation)
    if links is not None:
        from lossylink.cli.plan_links import plan_links

        defaults = Defaults(
            rate_bps=_read("--link", units.parse_rate, link),
            propagation_ps=delay,
            frame_bytes=_read("--frame", units.parse_size, frame),
            flow_bytes=_read("--flow", units.parse_size, flow),
            load=_read("--load", units.parse_ratio, load),
            transport=transport,
        )
        plan_links(
            links,
            defaults=defaults,
            target=_read("--target", units.parse_ratio, target),
            keep=_read("--capacity", units.parse_ratio, capacity),
            switch=switch,
            table=csv,
            as_json=as_json,
        )
        return
    rate_bps, frame_bytes = _read("--link", units.parse_rate, link), _read("--frame", units.parse_size, frame)
    if code is not None and not _given(context) & _LOSSES:
        wanted = _read("--target", units.parse_ratio, target)
        plan_code(code, target=wanted, rate_bps=rate_bps, frame_bytes=frame_bytes, as_json=as_json)
        return
    planned_link = Link.losing(
        _loss(context, loss, loss_from, gauge=pre_fec_ber, code=code, rate_bps=rate_bps),
        rate_bps=rate_bps,
        propagation_ps=delay,
        frame_bytes=frame_bytes,
        switch=switch,
    )
    budget = None
    if latency_budget is not None:
        budget = _read("--latency-budget", units.parse_positive_time, latency_budget) / 1e6
    frames = _read("--packets", units.parse_count, packets)
    suffix = _suffix(plot)
    flow_bytes = _read("--flow", units.parse_size, flow)
    shared = _read("--load", units.parse_ratio, load)
    with progress_bar("plan") as progress:
        planned = plan(
            planned_link,
            target=_read("--target", units.parse_ratio, target),
            budget_us=budget,
            transport=transport,
            flow_bytes=flow_bytes,
            workload=None if workload is None else Workload(workload, shared),
            seed=seed,
            progress=progress,
        )
    comparisons = _verify(planned, frames, seed) if check else None
    if plot is not None:
        _draw(planned, plot, suffix)
    if as_json:
        print(json.dumps(_summary(planned, comparisons), allow_nan=False))
    else:
        show(planned, comparisons)
    if comparisons is not None and not all(comparison.agrees for comparison in comparisons):
        print("error: the simulator does not agree with every prediction", file=sys.stderr)
        leave(FAILED)
    if planned.recommended is None:
        print("error: nothing shows that a protection meets the target", file=sys.stderr)
        leave(FAILED)


#: Options that say how a link loses.
_LOSSES = frozenset({"loss", "loss_from", "pre_fec_ber"})
#: What each kind of plan heeds, where not all of them do.
_HEEDED: dict[str, frozenset[str]] = {
    "fabric": frozenset({"fabric", "constraint", "capacity", "years", "link", "switch", "seed", "as_json"}),
    "file": frozenset(
        {"links", "link", "length", "propagation", "frame", "flow", "load", "transport", "target", "capacity"}
        | {"switch", "csv", "as_json"}
    ),
    "code": frozenset({"link", "code", "frame", "target", "as_json"}),
}
_FOREIGN_TO_A_LINK = {
    "constraint": "is of a fabric; add --fabric TOPOLOGY",
    "years": "is of a fabric; add --fabric TOPOLOGY",
    "capacity": "is of a fabric or of many links; add --fabric TOPOLOGY or a file of links",
    "load": "is of flows that share links; add --workload SIZES, or give a file of many links",
    "csv": "is of many links; give a file of them",
}


def _given(context: typer.Context) -> set[str]:
    """Return the options that the user gave."""
    return {
        name
        for name in context.params
        if (source := context.get_parameter_source(name)) is not None and source.name == "COMMANDLINE"
    }


def _kind(context: typer.Context, *, fabric: str | None, links: Path | None) -> str:
    """Return which plan is asked for."""
    if fabric is not None or links is not None:
        return "fabric" if fabric is not None else "file"
    given = _given(context)
    return "code" if "code" in given and not given & _LOSSES else "link"


def _refuse_mixed(context: typer.Context, kind: str) -> None:
    """Refuse an option that the plan which is asked for would not heed."""
    given = _given(context)
    if kind == "link":
        foreign = given & _FOREIGN_TO_A_LINK.keys()
        if "workload" in given:
            foreign -= {"load"}
            if "transport" not in given:
                raise UserError(
                    "--workload has flows of a transport; add --transport tcp or --transport rdma"
                )
            if "flow" in given:
                raise UserError("--workload has flows of many sizes; leave --flow out")
        for name in sorted(foreign):
            raise UserError(f"--{name} {_FOREIGN_TO_A_LINK[name]}")
        return
    for name in sorted(given - _HEEDED[kind]):
        if name == "links":
            raise UserError("a file of links and --fabric are two plans; give one of them")
        option = name.replace("_", "-").replace("check", "verify")
        where = {"fabric": "with --fabric", "file": "of many links", "code": "of a code without a loss"}[kind]
        raise UserError(f"--{option} is of one link; leave it out of a plan {where}")


def _delay(length: str | None, propagation: str | None) -> int:
    """Read the one-way delay of the cable, in picoseconds."""
    if length is not None and propagation is not None:
        raise UserError("--length and --propagation say the same; give one of them")
    if propagation is not None:
        return _read("--propagation", units.parse_time, propagation)
    return _read("--length", units.parse_length, length) if length is not None else 0


def _read(option: str, parse: Callable[[object], Value], text: str) -> Value:
    try:
        return parse(text)
    except ValueError as error:
        raise UserError(f"{option}: {error}") from None


def _loss(
    context: typer.Context,
    text: str,
    recording: Path | None,
    *,
    gauge: str | None,
    code: str | None,
    rate_bps: int,
) -> Loss:
    """Read the loss from its spelling, from a file, or from a bit error ratio before FEC."""
    given = sorted(f"--{name.replace('_', '-')}" for name in _given(context) & _LOSSES)
    if len(given) > 1:
        raise UserError(f"{given[0]} and {given[1]} say the same; give one of them")
    if gauge is not None:
        ratio = _read("--pre-fec-ber", parse_ratio, gauge)
        return loss_of_gauge(ratio, code or "rs544", rate_bps=rate_bps)
    if code is not None:
        raise UserError("--code is of a bit error ratio before FEC; add --pre-fec-ber, or leave out the loss")
    if recording is None:
        return _read("--loss", parse_loss, text)
    from lossylink.cli.recorded_loss import loss_of

    return loss_of(recording)


def _suffix(plot: Path | None) -> str:
    """Refuse a figure that could not be written before anything is computed."""
    if plot is None:
        return ""
    suffix = plot.suffix.removeprefix(".")
    if suffix not in {"png", "svg", "pdf"}:
        raise UserError(f"--plot {plot}: end the name with .png, .svg or .pdf")
    return suffix


def _verify(plan: Plan, packets: int, seed: int) -> list[Comparison]:
    with progress_bar("verify") as progress:
        return verify(plan, packets=packets, seed=seed, progress=progress)


def _draw(plan: Plan, path: Path, suffix: str) -> None:
    from lossylink.charts.drawing import save
    from lossylink.planning.figure import plan_sheet

    try:
        save(plan_sheet(plan), path.parent, name=path.stem, formats=[suffix])
    except OSError as error:
        raise UserError(f"--plot: cannot write {path}: {error.strerror}") from None


def _summary(plan: Plan, comparisons: list[Comparison] | None) -> dict[str, Any]:
    link = plan.link
    summary: dict[str, Any] = {
        "link": {
            "rate_gbps": link.rate_bps / 1e9,
            "propagation_ns": link.propagation_ps / 1e3,
            "loss": loss_text(link),
            "loss_ratio": link.loss_ratio,
            "frame_bytes": link.frame_bytes,
            "switch": link.switch,
        },
        "target_loss_ratio": plan.target,
        "latency_budget_us": plan.budget_us,
        "recommended": plan.recommended,
        "reason": plan.reason,
        "model": plan.model.row if plan.model is not None else None,
        "covers": plan.covers,
        "notes": plan.notes,
        "transport": plan.transport,
        "rows": plan.rows(),
    }
    if comparisons is not None:
        summary["verification"] = [comparison.row() for comparison in comparisons]
    return summary
