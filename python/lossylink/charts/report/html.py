"""Writes a page as one self-contained HTML file: no network, no external font."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from lossylink.charts.chart import Chart
from lossylink.charts.report.budget_view import budgets_view
from lossylink.charts.report.page import Page, Table

ASSETS = Path(__file__).parent / "assets"
LONGEST_OPEN_TABLE = 13
"""Lines of a table that is not folded: the completion times, which readers look for."""
UNIT_SPACE = re.compile(r"(?<=\d) (?=(?:%|µs|ms|s|KB|MB|B|Gb/s|Mb/s|M)\b|%)")
"""A figure and its unit stay on one line."""
CODE = re.compile(r"`([^`]*)`")
EXPONENT = re.compile(r"\^(?:\(([^)]*)\)|(-?\w+))")
POWER = re.compile(r"(?:(?P<one>\b1)|(?P<mantissa>\b\d+(?:\.\d+)?))e(?P<exponent>-?\d+)\b")
TIMES = re.compile(r"(?<=\d)x\b")


def render(page: Page) -> str:
    """The page as HTML text."""
    environment = Environment(
        loader=FileSystemLoader(ASSETS),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "pretty": pretty,
        "chart_json": chart_json,
        "budgets_view": budgets_view,
        "address": address,
        "drawing": lambda sketch: sketch.drawing(),
        "is_long": is_long,
    }
    text = environment.get_template("report.html.j2").render(
        style=_assets("uplot/uPlot.min.css", "report.css"),
        script=_library() + _assets("chart.js", "page.js"),
        page=page,
    )
    return text.lstrip()


def _assets(*names: str) -> Markup:
    return Markup("\n".join((ASSETS / name).read_text(encoding="utf-8") for name in names))


def _library() -> Markup:
    """uPlot, which draws the charts: its licence stands in place of its first line."""
    license_text, script = _assets("uplot/LICENSE"), _assets("uplot/uPlot.iife.min.js")
    _, _, code = script.partition("\n")
    return Markup(f"/*!\n{license_text}\n*/\n{code}\n")


def pretty(text: str) -> Markup:
    r"""Escaped text with powers set as such, ``us`` as microseconds and ``*`` as a times sign.

    Examples
    --------
    >>> pretty("loss 1e-3, 9.97e-4 < 60 us")
    Markup('loss 10<sup>−3</sup>, 9.97\xa0×\xa010<sup>−4</sup> &lt; 60\xa0µs')
    >>> pretty("31.2x, 0x1f")
    Markup('31.2×, 0x1f')
    """

    def power(match: re.Match[str]) -> str:
        exponent = match["exponent"].replace("-", "−")
        front = "" if match["one"] else f"{match['mantissa']}\u00a0×\u00a0"
        return f"{front}10<sup>{exponent}</sup>"

    shown = POWER.sub(power, str(escape(text)))
    shown = CODE.sub(r"<code>\1</code>", shown)
    shown = EXPONENT.sub(r"<sup>\1\2</sup>", shown)
    shown = TIMES.sub("×", shown)
    shown = re.sub(r"\bus\b", "µs", shown).replace(" * ", " × ")
    return Markup(UNIT_SPACE.sub("\u00a0", shown))


def is_long(table: Table) -> bool:
    """Whether a table is folded at first.

    Examples
    --------
    >>> from lossylink.charts.report.page import Heading, Line
    >>> is_long(Table("Speed", (Heading("LinkGuardian"),), (Line("Gb/s", (("91.5",),)),)))
    False
    """
    return len(table.lines) > LONGEST_OPEN_TABLE


def address(path: str) -> str:
    """A path as a relative address: what has a meaning in addresses is escaped.

    Examples
    --------
    >>> address("tcp-fct/no loss#1/trials.parquet")
    'tcp-fct/no%20loss%231/trials.parquet'
    """
    return quote(path)


def chart_json(chart: Chart) -> Markup:
    """A chart's data as JSON that cannot end the script element around it.

    Raises
    ------
    ValueError
        A value is not finite: JSON has no such number.
    """
    data = json.dumps(chart.to_json(), allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return Markup(data.replace("<", "\\u003c"))
