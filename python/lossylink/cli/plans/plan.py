"""``lossylink plan``: what every protection would do for a link, and which to take."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import click

from lossylink import units
from lossylink._package.progress import progress_bar
from lossylink.cli.exits import FAILED, leave
from lossylink.cli.options.declaring import Command, argument, flag, given_options, option
from lossylink.cli.options.kinds import PATH, WHOLE, whole
from lossylink.cli.plans.code import loss_of_gauge, plan_code
from lossylink.cli.plans.shown import loss_text, show
from lossylink.errors import UserError
from lossylink.planning import Comparison, Link, Plan, Workload, plan, verify
from lossylink.planning.links_file import Defaults
from lossylink.scenario.loss import Loss, parse_loss
from lossylink.units import parse_ratio

Value = TypeVar("Value")
Transport = Literal["tcp", "rdma"]


@click.command("plan", cls=Command)
@argument(
    "links",
    PATH,
    default=None,
    help="A CSV file with a row for each of many links (name, rate, length, loss or counters, transport): "
    "leave, protect or drain each. Options then say what a row leaves out. - is standard input.",
)
@option("--link", default="100Gbps", metavar="RATE", help="Line rate.")
@option(
    "--loss",
    default="1e-3",
    help="Loss: a ratio such as 1e-3 or 0.1%, or any loss model: quantised, bit-error-rate, "
    "gilbert-elliott, at, trace, netem.",
)
@option(
    "--loss-from",
    kind=PATH,
    metavar="FILE",
    help="Take the loss from a file that `lossylink fit` reads: iperf3, ss, tc, capture, trace.",
)
@option(
    "--pre-fec-ber",
    metavar="RATIO",
    help="Instead of --loss: the bit error ratio before the line's own code.",
)
@option(
    "--code",
    help="With --pre-fec-ber: the line's code, as in phy: rs544 (the default), rs528, rs272, rsN/K/m, "
    "firecode or none, and behind it burst=0.5, lanes=4, precoding=on. Without a loss: the bit error "
    "ratio for the target.",
)
@option("--target", default="1e-8", help="Effective loss ratio to reach.")
@option("--length", help="Length of the cable, e.g. 100m.")
@option("--propagation", help="Its one-way delay instead, e.g. 500ns.")
@option("--latency-budget", help="Longest wait that recovery may add, e.g. 20us.")
@option("--frame", default="1514B", help="Frame size without check sequence.")
@option("--switch", default="tofino1", help="Switch profile, or a TOML file.")
@option(
    "--transport",
    kind=click.Choice(get_args(Transport)),
    help="tcp or rdma: choose by the completion times of its flows, simulated just now. Of many links "
    "nothing is simulated; those of RDMA take what keeps the order.",
)
@option("--flow", default="2MB", help="Size of such a flow.")
@option(
    "--workload",
    metavar="SIZES",
    help="With --transport: web-search, rpc, or a file of flow sizes. Choose by the slowdowns of such "
    "flows that share the link.",
)
@flag("--verify", "check", help="Run the simulator for each and compare.")
@option("--packets", default="1M", help="Frames of each run with --verify.")
@option("--seed", kind=WHOLE, default=1, help="Decides every random draw.")
@option(
    "--fabric",
    metavar="TOPOLOGY",
    help="Plan a whole fabric of such links instead: fb-fabric:pods=P,tors=T or fat-tree:k=K.",
)
@option("--constraint", default="75%", help="With --fabric: share of its paths that every ToR switch keeps.")
@option(
    "--capacity",
    default="90%",
    help="Share of its capacity to keep: with --fabric the least pod's, of many links each one's, which "
    "is drained if no protection leaves so much.",
)
@option(
    "--load",
    default="50%",
    help="Bytes of flows over the rate: with --workload, and of many links where a file does not say.",
)
@option("--csv", kind=PATH, help="Of many links: write the verdicts as CSV; - prints them.")
@option("--years", kind=whole(least=1), default=5, help="With --fabric: random years for each policy.")
@option("--plot", kind=PATH, help="Draw the plan: FILE.png, .svg or .pdf.")
@flag("--json", "as_json", help="Print one JSON object.")
@click.pass_context
def command(
    context: click.Context,
    links: Path | None,
    link: str,
    loss: str,
    loss_from: Path | None,
    pre_fec_ber: str | None,
    code: str | None,
    target: str,
    length: str | None,
    propagation: str | None,
    latency_budget: str | None,
    frame: str,
    switch: str,
    transport: Transport | None,
    flow: str,
    workload: str | None,
    check: bool,
    packets: str,
    seed: int,
    fabric: str | None,
    constraint: str,
    capacity: str,
    load: str,
    csv: Path | None,
    years: int,
    plot: Path | None,
    as_json: bool,
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
    from lossylink.cli.plans.fabric import plan_whole_fabric

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
        from lossylink.cli.plans.links import plan_links

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
    if code is not None and not given_options(context) & _LOSSES:
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


def _kind(context: click.Context, *, fabric: str | None, links: Path | None) -> str:
    """Return which plan is asked for."""
    if fabric is not None or links is not None:
        return "fabric" if fabric is not None else "file"
    given = given_options(context)
    return "code" if "code" in given and not given & _LOSSES else "link"


def _refuse_mixed(context: click.Context, kind: str) -> None:
    """Refuse an option that the plan which is asked for would not heed."""
    given = given_options(context)
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
    context: click.Context,
    text: str,
    recording: Path | None,
    *,
    gauge: str | None,
    code: str | None,
    rate_bps: int,
) -> Loss:
    """Read the loss from its spelling, from a file, or from a bit error ratio before FEC."""
    given = sorted(f"--{name.replace('_', '-')}" for name in given_options(context) & _LOSSES)
    if len(given) > 1:
        raise UserError(f"{given[0]} and {given[1]} say the same; give one of them")
    if gauge is not None:
        ratio = _read("--pre-fec-ber", parse_ratio, gauge)
        return loss_of_gauge(ratio, code or "rs544", rate_bps=rate_bps)
    if code is not None:
        raise UserError("--code is of a bit error ratio before FEC; add --pre-fec-ber, or leave out the loss")
    if recording is None:
        return _read("--loss", parse_loss, text)
    from lossylink.cli.plans.recorded_loss import loss_of

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
