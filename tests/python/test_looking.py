"""The answers of "Ten minutes of looking" in the tutorial, from the simulator, the theory and the planner."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import lossylink
from lossylink.planning import Link, plan
from lossylink.scenario.loss import parse_loss
from lossylink.theory.phy import code_named, frame_loss_ratio
from lossylink.units import parse_length, parse_rate

TUTORIAL = Path(__file__).resolve().parents[2] / "docs" / "tutorial.md"
_TEXT = TUTORIAL.read_text(encoding="utf-8").partition("\nThe answers:\n")[2]
ANSWERS = re.split(r"^\d\. ", _TEXT.partition("\n## ")[0], flags=re.MULTILINE)[1:]


def answer(number: int) -> str:
    """Return the words of an answer in one line."""
    return " ".join(ANSWERS[number - 1].split())


def rows(experiment: str, protection: list[str], **settings: object) -> dict[str, Mapping[str, Any]]:
    link = {"link.rate": "100G", "link.length": "0m"}
    named = {key.replace("__", "."): value for key, value in settings.items()}
    run = lossylink.run(experiment, protection=protection, settings={**link, **named})
    return {str(row["protection"]): row for row in run.rows.to_dicts()}


def test_the_tail_is_where_the_loss_is() -> None:
    often = rows("tcp-fct", ["none", "lg"], loss__forward=1e-3, flow__trials=30_000)
    seldom = rows("tcp-fct", ["none"], loss__forward=1e-4, flow__trials=30_000)
    none, lg = often["none"], often["lg"]
    assert (
        f"{none['fct_us_p50']:.1f} us on the bare link and {lg['fct_us_p50']:.1f} us with LinkGuardian"
        in answer(1)
    )
    assert f"One flow in {30_000 / none['flows_hit']:.0f} loses" in answer(1)
    assert f"99.9th is {none['fct_us_p99_9']:,.0f} us against {lg['fct_us_p99_9']:.1f} us" in answer(1)
    rare = seldom["none"]
    assert f"99.9th percentile is {rare['fct_us_p99_9']:.1f} us" in answer(1)
    assert f"99.99th is {rare['fct_us_p99_99']:,.0f} us" in answer(1)


def test_the_last_packet_waits_for_a_timer() -> None:
    def took(position: int | None, protection: str = "none") -> float:
        loss = "0" if position is None else f"at:{position}"
        row = rows("tcp-fct", [protection], loss__forward=loss, flow__trials=1)[protection]
        return float(row["fct_us_max"])

    # The SYN and the ACK of the handshake go first; under LinkGuardian the link's own frames come between.
    clean, eighth, last = took(None), took(9), took(18)
    assert f"costs {eighth - clean:.0f} us" in answer(2)
    assert f"after {eighth:.1f} us in place of {clean:.1f} us" in answer(2)
    assert f"after {last:,.0f} us" in answer(2)
    for position in (23, 47):
        assert f"LinkGuardian the flow ends after {took(position, 'lg'):.1f} us" in answer(2)


def test_order_costs_more_on_a_faster_link() -> None:
    speeds = [
        row["effective_link_speed_gbps"]
        for rate in ("100G", "400G")
        for row in rows(
            "stress", ["lg", "lg-nb"], link__rate=rate, loss__forward=1e-3, traffic__packets=300_000
        ).values()
    ]
    in_order, out_of_order, *faster = (f"{speed:.4g}" for speed in speeds)
    assert f"in order delivers {in_order} Gb/s and the other one {out_of_order} Gb/s" in answer(3)
    assert "at 400 Gb/s they deliver {} and {} Gb/s".format(*faster) in answer(3)


def test_the_cliff_is_fourteen_orders_deep() -> None:
    lost = [
        float(frame_loss_ratio(code_named("rs544"), bit_error_ratio=ratio, frame_bytes=1518))
        for ratio in (1e-4, 1e-3)
    ]
    assert "from {:.1e} to {:.1e}".format(*lost).replace("e-0", "e-") in answer(4)
    assert 1e14 <= lost[1] / lost[0] < 1e15


def test_no_protection_wins_everywhere() -> None:
    def taken(loss: str) -> str:
        link = Link.losing(parse_loss(loss), rate_bps=parse_rate("100G"), propagation_ps=parse_length("100m"))
        return str(plan(link, target=1e-8).recommended)

    found = {loss: taken(loss) for loss in ("1e-6", "1e-5", "1e-4", "1e-3", "1e-2", "3e-2")}
    assert [one.partition(":")[0] for one in found.values()] == ["llr"] * 2 + ["lg-nb"] * 3 + ["fec"]
    copies = [re.findall(r"copies=(\d+)", found[loss])[0] for loss in ("1e-4", "1e-3", "1e-2")]
    assert copies == ["1", "2", "3"]
