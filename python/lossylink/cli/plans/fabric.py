"""``lossylink plan --fabric``: policies for the corrupting links of a whole fabric, side by side."""

from __future__ import annotations

import json

from rich.text import Text

from lossylink._package.progress import progress_bar
from lossylink.planning.fabric import COLUMNS, FabricPlan, plan_fabric, policies
from lossylink.results.drawn import Drawn, new_console, show
from lossylink.results.screen import Grid


def plan_whole_fabric(
    topology: str,
    *,
    constraint: float,
    capacity: float,
    years: int,
    rate: str,
    switch: str,
    seed: int,
    as_json: bool,
) -> None:
    """Compare the policies and print them, with the one to take."""
    with progress_bar("policies") as progress:
        planned = plan_fabric(
            topology,
            compared=policies(constraint),
            constraint=constraint,
            target=capacity,
            years=years,
            rate=rate,
            switch=switch,
            seed=seed,
            progress=progress,
        )
    if as_json:
        summary = {
            "topology": planned.topology,
            "constraint_share": planned.constraint,
            "target_capacity_share": planned.target,
            "years": planned.years,
            "recommended": planned.recommended,
            "reason": planned.reason,
            "rows": planned.rows(),
        }
        print(json.dumps(summary, allow_nan=False))
    else:
        _show(planned)


def _show(planned: FabricPlan) -> None:
    rows = planned.rows()
    years = f"{planned.years} years" if planned.years > 1 else "1 year"
    links = f"{rows[0]['links']:,} links at {rows[0]['link_gbps']:g} Gb/s"
    keeps = f"paths {planned.constraint * 100:g} %, least pod {planned.target * 100:g} %"
    print(f"{planned.topology}, {links}, {years}; to keep: {keeps}")
    keys, labels, units = zip(*COLUMNS, strict=True)
    lines = [[row["policy"], *(f"{row[key]:.4g}" for key in keys)] for row in rows]
    table = Grid([["policy", *labels], ["", *units]], lines)
    show(
        new_console(),
        Drawn(table),
        Text.assemble("take ", (planned.recommended, "bold"), f": {planned.reason}"),
    )
