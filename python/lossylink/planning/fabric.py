"""Plans a whole fabric: what each policy for corrupting links does to its losses and to its capacity.

A policy says which corrupting links leave service for a repair, and which of those that stay are protected.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars

from lossylink.declared.protections import keeps_order
from lossylink.errors import UserError
from lossylink.running.runner import run_scenario
from lossylink.scenario.resolving import resolve
from lossylink.statistics import CONFIDENCE

PROTECTIONS: Final = ("lg", "lg-nb", "llr", "fec:10/1")
DEPLOYMENTS: Final = (0.5, 1.0)
#: Columns of the table: the key of a fabric's row, its label, and its unit.
COLUMNS: Final = (
    ("penalty_mean", "penalty", "mean sum"),
    ("capacity_least_share_mean", "least pod", "mean share"),
    ("capacity_least_share_min", "least pod", "min share"),
    ("paths_least_share_min", "least paths", "min share"),
    ("links_disabled_mean", "disabled", "mean"),
    ("links_corrupting_mean", "corrupting", "mean"),
)
_PATHS: Final = "paths_least_share_min"
_CAPACITY: Final = "capacity_least_share_min"
_CAPACITY_MEAN: Final = "capacity_least_share_mean"
_PENALTY: Final = "penalty_mean"
#: Penalties closer than this are not told apart: the points of protections are simulated.
_TIE: Final = 1.1
#: Mean shares of capacity closer than this are not told apart either.
_SAME_CAPACITY: Final = 1e-3


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What becomes of corrupting links."""

    label: str
    protection: str
    """That of links that stay in service; ``none`` is none."""
    constraint: float
    """Share of its paths that every ToR switch keeps; with 0 each corrupting link leaves service."""
    deployment: float = 1.0
    """Share of the pods that have the protection."""


@dataclass(frozen=True, kw_only=True)
class FabricPlan:
    """Policies for a fabric, what each comes to, and which to take."""

    topology: str
    constraint: float
    """Share of its paths that every ToR switch is to keep at any time."""
    target: float
    """Share of its capacity that the least pod is to keep at any time."""
    years: int
    policies: tuple[Policy, ...]
    figures: tuple[dict[str, Any], ...]
    """Rows of the experiment ``fabric``, one a policy."""
    recommended: str
    reason: str

    def rows(self) -> list[dict[str, Any]]:
        """One row of plain values a policy.

        ``meets_target`` is of the years that were lived through. Of any other year ``years_below_share_high``
        says how often it may still be missed.
        """
        return [
            {
                "policy": policy.label,
                **row,
                "meets_constraint": row[_PATHS] >= self.constraint,
                "meets_target": row[_CAPACITY] >= self.target,
                "years_below_share_high": years_below(self.years) if row[_CAPACITY] >= self.target else None,
                "recommended": policy.label == self.recommended,
            }
            for policy, row in zip(self.policies, self.figures, strict=True)
        ]


def years_below(years: int) -> float:
    """Return the share of years that may miss a target which so many random years have met.

    It is the upper end of the exact interval at 95 % (two-sided) of no such year.

    Examples
    --------
    >>> f"{years_below(5):.2f} {years_below(100):.3f}"
    '0.52 0.036'
    """
    return float(-math.expm1(math.log((1 - CONFIDENCE) / 2) / years))


def policies(
    constraint: float, *, protections: Sequence[str] = PROTECTIONS, deployments: Sequence[float] = DEPLOYMENTS
) -> tuple[Policy, ...]:
    """Return what is compared: to leave links or to drain them, CorrOpt, and both with each protection.

    Examples
    --------
    >>> [policy.label for policy in policies(0.75, protections=["lg"], deployments=[0.5, 1.0])]
    ['leave', 'drain', 'corropt', 'leave, lg', 'corropt, lg, 50% of pods', 'corropt, lg']
    """
    found = [
        Policy(label="leave", protection="none", constraint=1.0),
        Policy(label="drain", protection="none", constraint=0.0),
        Policy(label="corropt", protection="none", constraint=constraint),
    ]
    for protection in protections:
        found.append(Policy(label=f"leave, {protection}", protection=protection, constraint=1.0))
        for share in deployments:
            where = "" if share == 1.0 else f", {share * 100:g}% of pods"
            label = f"corropt, {protection}{where}"
            found.append(Policy(label=label, protection=protection, constraint=constraint, deployment=share))
    return tuple(found)


def plan_fabric(
    topology: str,
    *,
    compared: Sequence[Policy],
    constraint: float,
    target: float,
    years: int,
    rate: str = "100Gbps",
    switch: str = "tofino1",
    seed: int = 1,
    progress: Callable[[float, float], None] | None = None,
) -> FabricPlan:
    """Live through years of a fabric under each policy, and choose one.

    Of the policies under which every ToR switch always keeps ``constraint`` of its paths and the least pod
    ``target`` of its capacity, the one that loses the least is recommended; of several that lose as little,
    the one whose least pod keeps the most of its capacity on average.

    Parameters
    ----------
    topology
        A spelling of ``fabric.topology``.
    compared
        The policies, of which the first wins a tie. All of them see the same failures and draws of repairs.
    constraint
        Share of its paths that every ToR switch is to keep, from 0 to 1.
    target
        Share of its capacity that the least pod is to keep, from 0 to 1.
    years
        Random years for each policy.
    rate
        Of the links.
    switch
        Switch profile of the simulated link.
    progress
        Called with the work done and the whole work.

    Raises
    ------
    UserError
        The fabric or a protection cannot be simulated, or no policy meets the target: the message names the
        best.
    """
    if not 0 <= target <= 1:
        raise UserError(f"a capacity of {target:g} is no share; write one from 0 to 1, such as 93%")
    base = {
        "fabric.topology": topology,
        "fabric.years": years,
        "link.rate": rate,
        "switch.profile": switch,
    }
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        known: dict[str, Path] = {}
        for place, policy in enumerate(compared):

            def told(done: float, total: float, place: int = place) -> None:
                if progress is not None and total:
                    progress(place + done / total, len(compared))

            row, points = _live_through(policy, base, known.get(policy.protection), seed, told)
            figures.append(row)
            if points is not None and policy.protection not in known:
                known[policy.protection] = _keep_points(points, policy.protection, rate, Path(folder))
    recommended, reason = _choose(compared, figures, constraint, target)
    many = f"in {years} years" if years > 1 else "in one year"
    reason += (
        f"; that was so {many}, and up to {years_below(years):.0%} of all years may still fall below (95 %)"
    )
    return FabricPlan(
        topology=topology,
        constraint=constraint,
        target=target,
        years=years,
        policies=tuple(compared),
        figures=tuple(figures),
        recommended=recommended,
        reason=reason,
    )


def _live_through(
    policy: Policy,
    base: dict[str, Any],
    points: Path | None,
    seed: int,
    progress: Callable[[float, float], None],
) -> tuple[dict[str, Any], polars.DataFrame | None]:
    """Return the row of a policy, and the points of its protection; ``points`` are known ones."""
    settings = base | {"fabric.constraint": policy.constraint, "fabric.deployment": policy.deployment}
    settings |= {"fabric.points": str(points)} if points is not None else {}
    scenario = resolve("fabric", settings=settings, protection=[policy.protection], seed=seed)
    run = run_scenario(scenario, progress=progress)
    if run.interrupted:
        raise KeyboardInterrupt
    return dict(run.records[0]), run.tables.get("points")


def _keep_points(points: polars.DataFrame, protection: str, rate: str, folder: Path) -> Path:
    """Write the points that a run found as a file that further runs read."""
    path = folder / f"points-{len(list(folder.iterdir()))}.toml"
    rows = points.select("loss_rate", "effective_loss_rate", "capacity_gbps").rows()
    lines = ",\n".join(f'  [{loss!r}, {left!r}, "{gbps!r}Gbps"]' for loss, left, gbps in rows)
    head = f'source = "simulated"\nprotection = ["{protection}"]\nrate = "{rate}"\nbetween = "interpolated"\n'
    path.write_text(f"{head}points = [\n{lines}\n]\n", encoding="utf-8")
    return path


def _choose(
    compared: Sequence[Policy], figures: Sequence[dict[str, Any]], constraint: float, target: float
) -> tuple[str, str]:
    """Return the policy that loses the least of those that keep paths and capacity, and why."""
    told = [(policy, row) for policy, row in zip(compared, figures, strict=True) if row[_PATHS] >= constraint]
    if not told:
        raise UserError(f"no policy keeps {constraint * 100:g} % of the paths of every ToR switch")
    meeting = [(policy, row) for policy, row in told if row[_CAPACITY] >= target]
    if not meeting:
        policy, row = max(told, key=lambda one: one[1][_CAPACITY])
        raise UserError(
            f"no policy keeps {target * 100:g} % of the least pod's capacity; the best is {policy.label}"
            f" with {row[_CAPACITY] * 100:.4g} %"
        )
    chosen, words = least_losing(meeting)
    drain = next((row for policy, row in zip(compared, figures, strict=True) if policy.constraint == 0), None)
    if drain is not None and drain[_PATHS] < constraint:
        words += (
            f"; to drain every corrupting link leaves a ToR switch {drain[_PATHS] * 100:.3g} % of its paths"
        )
    return chosen.label, words


def least_losing(meeting: Sequence[tuple[Policy, dict[str, Any]]]) -> tuple[Policy, str]:
    """Return the policy that loses the least, and why.

    Of several that are not told apart it is the one whose least pod keeps the most on average, then one that
    keeps order, then the first.
    """
    least = min(row[_PENALTY] for _, row in meeting)
    alike = [(policy, row) for policy, row in meeting if row[_PENALTY] <= _TIE * least]
    words = f"of {len(meeting)} that keep paths and capacity none loses less"
    if len(alike) == 1:
        return alike[0][0], words
    most = max(row[_CAPACITY_MEAN] for _, row in alike)
    widest = [policy for policy, row in alike if row[_CAPACITY_MEAN] >= most - _SAME_CAPACITY]
    chosen = next((policy for policy in widest if keeps_order(policy.protection)), widest[0])
    others = " and ".join(policy.label for policy, _ in alike if policy is not chosen)
    words += f" as far as simulated points tell ({others} within {_TIE - 1:.0%})"
    if len(widest) < len(alike):
        words += ", and its least pod keeps more on average"
    if any(keeps_order(policy.protection) != keeps_order(chosen.protection) for policy in widest):
        words += ", and it delivers in order, for which it holds frames back"
    return chosen, words
