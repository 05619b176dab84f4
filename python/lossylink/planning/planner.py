"""Plans a link: every protection with its best parameters, side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lossylink.declared.protections import keeps_order, parse_protection
from lossylink.errors import UserError
from lossylink.planning.families import plans
from lossylink.planning.link import Link
from lossylink.planning.prediction import Prediction, is_within
from lossylink.planning.recording import Model, model_of
from lossylink.planning.stress import by_simulation
from lossylink.planning.transport import FLOW_BYTES, NAMES, Carried, Transport, best_carried, carry
from lossylink.planning.workload import UnderLoad, Workload, under_load
from lossylink.scenario.profiles import beyond_measurement

LEAST_LOSS_RATIO: Final = 1e-15
"""A frame in 180 days at 800 Gb/s with frames of 1,514 octets: nothing below it is planned for."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Predictions for a link, and which protection to take."""

    link: Link
    target: float
    budget_us: float | None
    predictions: tuple[Prediction, ...]
    recommended: str | None
    """The protection to take: it meets target and budget. Nothing where nothing shows that one does."""
    reason: str
    """Why, in a sentence."""
    model: Model | None = None
    """What was fitted to a recording too short to show the target."""
    transport: Transport | None = None
    carried: tuple[Carried, ...] = ()
    """What flows of the transport make of each protection, one after another."""
    loaded: UnderLoad | None = None
    """What flows that share the link make of each protection."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What the figures rest on that was not measured."""
        beyond = beyond_measurement(self.link.profile, rate_bps=self.link.rate_bps)
        tags = {parse_protection(one.protection).value["family"] for one in self.predictions}
        notes = (beyond,) if beyond is not None and "linkguardian" in tags else ()
        if not self.link.is_coded:
            return notes
        return (
            *notes,
            f"a codeword that fails takes {self.link.mean_burst():.3g} frames in a row on average; "
            "retransmissions lie in codewords of their own",
        )

    @property
    def covers(self) -> str:
        """What the verdict covers, and what plans for more."""
        if self.loaded is not None:
            return "flows of many hosts that share the link; those of one host also wait in its interface"
        if self.carried:
            return (
                "flows of one size, one after another; --workload web-search plans for flows that share links"
            )
        return "the link alone; --transport tcp or rdma plans for flows over it"

    @property
    def sentence(self) -> str:
        """What to take and why."""
        return f"take {self.recommended}: {self.reason}" if self.recommended else self.reason

    def rows(self) -> list[dict[str, Any]]:
        """One row of plain values a protection."""
        rows = [
            prediction.row(target=self.target, budget_us=self.budget_us) for prediction in self.predictions
        ]
        flows: dict[str, Mapping[str, float | None]] = {one.protection: one.row() for one in self.carried}
        if self.loaded is not None:
            flows = {protection: self.loaded.row(protection) for protection in self.loaded.slowdowns}
        return [
            row
            | dict(flows.get(row["protection"], {}))
            | {"recommended": row["protection"] == self.recommended}
            for row in rows
        ]


def plan(
    link: Link,
    *,
    target: float,
    budget_us: float | None = None,
    transport: Transport | None = None,
    flow_bytes: int = FLOW_BYTES,
    workload: Workload | None = None,
    seed: int = 1,
    progress: Callable[[float, float], None] | None = None,
) -> Plan:
    """Predict what every protection does for a link, each with the parameters that suit it best.

    Parameters
    ----------
    link
        The link, its loss and its switches.
    target
        Effective loss ratio to reach, above 0 and below 1.
    budget_us
        Longest wait that recovery may add, in microseconds; none when not given.
    transport
        Whose flows the link carries. They are simulated over each protection, which takes seconds, and their
        completion times choose; without it the speed of the link does.
    flow_bytes
        Payload of such a flow.
    workload
        Flows that share the link, instead of one after another: the tail of their slowdowns chooses.
    seed
        Decides the random draws of the flows.
    progress
        Called with the work done and the whole work.

    Raises
    ------
    UserError
        When no protection meets what is asked for: the message names the best.

    Notes
    -----
    A protection is recommended only where a closed form or the whole interval of a run says that it meets the
    target. Of a recording too short for that, the model that fits it decides, and the reason says so.

    Examples
    --------
    >>> link = Link(rate_bps=10**11, propagation_ps=500_000, loss_ratio=1e-3)
    >>> plan(link, target=1e-8).recommended
    'lg-nb:copies=2'
    """
    if not 0 < target < 1:
        raise UserError(f"a target of {target:g} is not a loss ratio between 0 and 1")
    if link.is_coded and link.loss_ratio < LEAST_LOSS_RATIO:
        raise UserError(
            f"the line loses {link.loss_ratio:.3g} of frames, less than one in months: "
            "nothing to plan, leave it"
        )
    if budget_us is not None and budget_us <= 0:
        raise UserError(f"a latency budget of {budget_us:g} us allows nothing; give more than 0")
    if workload is not None and transport is None:
        raise UserError("a workload has flows of a transport; name it, tcp or rdma")
    predictions, model = _predicted(link, target, budget_us, progress)
    meeting = _meeting(predictions, target, budget_us)
    if not meeting:
        if not _untold(predictions, target, budget_us):
            raise _unreached(link, predictions, target, budget_us)
        return Plan(
            link=link,
            target=target,
            budget_us=budget_us,
            predictions=predictions,
            model=model,
            recommended=None,
            reason=_reason_for_none(predictions, model, target, budget_us),
            transport=transport,
        )
    loaded: UnderLoad | None = None
    if transport is None:
        fastest = max(meeting, key=lambda one: one.effective_speed_gbps.value or 0.0)
        carried: tuple[Carried, ...] = ()
        chosen, reason = fastest, _reason_by_speed(fastest, meeting)
    elif workload is not None:
        carried = ()
        loaded = under_load(link, predictions, transport, workload, seed=seed, progress=progress)
        chosen = loaded.best(meeting)
        reason = loaded.reason(chosen, meeting)
    else:
        carried = carry(link, predictions, transport, flow_bytes=flow_bytes, seed=seed, progress=progress)
        chosen = best_carried(meeting, carried)
        reason = _reason_by_flows(chosen, meeting, carried, NAMES[transport], flow_bytes)
    if chosen.meets(target=target) is None and model is not None:
        reason += _reason_of_model(chosen, model, target)
    return Plan(
        link=link,
        target=target,
        budget_us=budget_us,
        predictions=predictions,
        model=model,
        recommended=chosen.protection,
        reason=reason,
        transport=transport,
        carried=carried,
        loaded=loaded,
    )


def _predicted(
    link: Link, target: float, budget_us: float | None, progress: Callable[[float, float], None] | None
) -> tuple[tuple[Prediction, ...], Model | None]:
    """Return the predictions, and the model of a recording that is too short to show the target.

    Parameters of protections against a recording are chosen by a chain of its mean loss and burst, and then
    tried on it. If that shows nothing, they are chosen by the model that fits, and tried again.
    """

    def planned(of: Link, *, is_model: bool = False) -> tuple[Prediction, ...]:
        found = plans(of, target=target, budget_us=budget_us)
        if not link.is_listed:
            return tuple(found)
        return tuple(by_simulation(link, one, is_model=is_model) for one in found)

    predictions = planned(link)
    if not link.is_listed or _meeting(predictions, target, budget_us):
        return predictions, None
    if not _untold(predictions, target, budget_us):
        return predictions, None
    model = model_of(link, report=progress)
    return (planned(model.link, is_model=True) if model.link else predictions), model


def _reason_by_speed(chosen: Prediction, meeting: Sequence[Prediction]) -> str:
    """Why the fastest link is taken, and what that leaves out."""
    speed = chosen.effective_speed_gbps.value or 0.0
    words = f"it is the fastest of {len(meeting)} that meet what is asked for, {speed:.4g} Gb/s"
    if len(meeting) == 1:
        words = "nothing else meets what is asked for"
    if keeps_order(chosen.protection):
        return words
    return f"{words}; it delivers out of order, which transports may take for loss: --transport tries yours"


def _reason_by_flows(
    chosen: Prediction,
    meeting: Sequence[Prediction],
    carried: Sequence[Carried],
    transport: str,
    flow_bytes: int,
) -> str:
    """How quick flows are over the choice, and over the fastest link where that is another."""
    times = {one.protection: one for one in carried}
    fastest = max(meeting, key=lambda one: one.effective_speed_gbps.value or 0.0)
    own = times[chosen.protection].fct_us_p99
    flows = f"{transport} flows of {flow_bytes / 1e6:g} MB, one after another,"
    if math.isinf(own):
        return f"of the {flows} one in a hundred or more does not end over any link that meets the target"
    words = f"99 of 100 {flows} end within {own:,.0f} us"
    if fastest is chosen:
        return f"{words}, and of the links with flows as quick it is the fastest"
    other = times[fastest.protection].fct_us_p99
    if math.isinf(other):
        return f"{words}; over {fastest.protection}, the fastest link, one in a hundred or more does not end"
    return f"{words}; over {fastest.protection}, the fastest link, it is {other:,.0f} us"


def _reason_of_model(chosen: Prediction, model: Model, target: float) -> str:
    """On what the choice rests where the recording does not show it."""
    assert chosen.by_model is not None
    assert model.link is not None
    high = chosen.effective_loss_ratio.high or 0.0
    return (
        f"; this rests on a model of {model.words}, {model.spelling}, which fits the recording, at the upper "
        f"end of its loss, {model.link.loss_ratio:.3g}: it leaves {chosen.by_model.value:.3g}. That is an "
        f"extrapolation: the recording itself shows {high:.2g} and not {target:g}"
    )


def _reason_for_none(
    predictions: Sequence[Prediction],
    model: Model | None,
    target: float,
    budget_us: float | None,
) -> str:
    """Why nothing can be recommended, and what would tell."""
    untold = _untold(predictions, target, budget_us)
    least = min(untold, key=lambda one: one.effective_loss_ratio.high or 0.0)
    high = least.effective_loss_ratio.high or 0.0
    frames = least.frames_to_test(target=target)
    words = (
        f"nothing to take: {target:g} is not testable with {least.frames_run:,} frames, which show "
        f"{high:.2g} ({least.protection}) at best; {count_words(frames)} frames without a loss would show it"
    )
    if model is None:
        return words
    why = f"by the model of {model.words} no protection meets it" if model.link else model.words
    return f"{words}; {why}"


def count_words(frames: float) -> str:
    """Spell a large number of frames.

    Examples
    --------
    >>> count_words(3.689e8), count_words(5.5e9), count_words(12_345)
    ('369 million', '5.5 billion', '12,345')
    """
    for scale, name in ((1e9, "billion"), (1e6, "million")):
        if frames >= scale:
            return (
                f"{frames / scale:,.3g} {name}" if frames < 1000 * scale else f"{frames / scale:,.0f} {name}"
            )
    return f"{math.ceil(frames):,}"


def _kept(predictions: Sequence[Prediction], budget_us: float | None) -> list[Prediction]:
    return [one for one in predictions if one.keeps(budget_us=budget_us)]


def _meeting(predictions: Sequence[Prediction], target: float, budget_us: float | None) -> list[Prediction]:
    """Those that meet everything; where a recording shows none, those that do by the model that fits it."""
    kept = _kept(predictions, budget_us)
    shown = [one for one in kept if one.meets(target=target)]
    return shown or [
        one
        for one in kept
        if one.by_model is not None
        and one.meets(target=target) is None
        and is_within(one.by_model.value or 0.0, target)
    ]


def _untold(predictions: Sequence[Prediction], target: float, budget_us: float | None) -> list[Prediction]:
    """Those whose run is too short to tell whether they meet the target."""
    return [one for one in _kept(predictions, budget_us) if one.meets(target=target) is None]


def _unreached(
    link: Link, predictions: Sequence[Prediction], target: float, budget_us: float | None
) -> UserError:
    best = min(_kept(predictions, budget_us), key=lambda one: one.effective_loss_ratio.value or 0.0)
    budget = f" within {budget_us:g} us" if budget_us is not None else ""
    return UserError(
        f"no protection reaches {target:g} at {link.loss_ratio * 100:g} % loss on this link{budget}; "
        f"the best is {best.protection} with {best.effective_loss_ratio.value:.3g}"
    )
