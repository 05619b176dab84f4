"""`lossylink report`: a page of any results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import lossylink
from lossylink.cli.results_page import page_of_runs

from .conftest import Ended
from .page_support import addresses, identifiers

Command = Callable[..., Ended]


def results(folder: Path) -> list[Path]:
    settings = {"flow.trials": 200}
    one = lossylink.run("tcp-fct", protection=["none", "lg"], settings=settings).save(folder / "one")
    other = lossylink.run("tcp-fct", protection=["lg"], settings=settings, seed=2).save(folder / "other")
    swept = lossylink.sweep(
        "stress",
        grid={"loss.forward": ["1e-3", "1e-2"], "protection": ["none", "lg"]},
        settings={"traffic.packets": 5000},
        output=folder / "swept",
    )
    return [one, other, swept.directory]


def test_every_result_has_its_rows_and_figures(tmp_path: Path) -> None:
    page = page_of_runs(results(tmp_path), output=tmp_path / "page.html", title="Three")
    assert [section.title for section in page.sections] == ["All together", "one", "other", "swept"]
    _, one, _, swept = page.sections
    (rows,) = one.tables
    assert [line.label for line in rows.lines] == ["none", "lg"]
    assert "p99.9 (us)" in [column.name for column in rows.columns]
    assert len(swept.tables[0].lines) == 4
    assert "4 of 4 points" in swept.summary
    assert next(chart.title for chart in one.charts) == "Flow completion times"
    assert "trials = 200" in one.commands[0].scenario
    together = {series.name for chart in page.sections[0].charts for series in chart.series}
    assert any("seed 2" in name for name in together)


def test_the_command_writes_one_page_that_links_to_the_results(tmp_path: Path, command: Command) -> None:
    directories = [str(path.relative_to(tmp_path)) for path in results(tmp_path)]
    ended = command("report", *directories, "--title", "Mine <and> yours", "-o", "pages/mine.html")
    assert (ended.code, ended.out.strip()) == (0, "pages/mine.html")
    html = (tmp_path / "pages" / "mine.html").read_text(encoding="utf-8")
    assert "Mine &lt;and&gt; yours" in html
    names = identifiers(html)
    assert len(names) == len(set(names))
    files = [place for place in addresses(html) if not place.startswith("#")]
    assert any(place.endswith("rows.parquet") for place in files)
    assert all((tmp_path / "pages" / place).is_file() for place in files)
    assert [path.name for path in (tmp_path / "pages").iterdir()] == ["mine.html"]


def test_what_is_no_result_is_one_line(tmp_path: Path, command: Command) -> None:
    ended = command("report", "nosuch")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: there is no nosuch")
    assert not (tmp_path / "report.html").exists()
