"""The notebook runs from its first cell to its last, small and whole, and is kept with what it prints.

After a change of figures ``python -m tests.python.test_notebook_mathis`` writes its outputs anew.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "notebooks" / "mathis.ipynb"

STAND_IN = f"""
import sys, types
sys.path[:0] = [{str(ROOT / "python")!r}, {str(Path(__file__).parent)!r}]
from fake_simulator import FakeSimulator, simulations_by
native = types.ModuleType("lossylink._native")
native.Simulation, native.version = simulations_by(FakeSimulator()), lambda: "stand-in"
sys.modules["lossylink._native"] = native
"""
"""What replaces the compiled simulator where it is not built."""


def read() -> Any:
    return nbformat.read(NOTEBOOK, as_version=4)


def outputs(notebook: Any) -> str:
    """Return everything that the cells printed."""
    shown = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return "\n".join(output.get("text", "") for output in shown)


# Jupyter's own modules warn about themselves on some versions.
@pytest.mark.filterwarnings("ignore")
def test_notebook_runs_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOSSYLINK_SMALL", "1")
    notebook = read()
    if importlib.util.find_spec("lossylink._native") is None:
        notebook.cells.insert(0, nbformat.v4.new_code_cell(STAND_IN))
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(ROOT)}}).execute()
    told = outputs(notebook)
    assert "6 trials" in told
    assert "p up to 1 %: measured / law between" in told
    assert "4.92 Mb/s" in told
    assert "any check of any trial failed: False" in told
    assert "trap 1 of 6" in told
    images = [
        output
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if "image/png" in output.get("data", {})
    ]
    assert len(images) == 2


def executed() -> Any:
    """Return the notebook after a run of all its trials, as it is kept."""
    notebook = read()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    NotebookClient(
        notebook, timeout=300, record_timing=False, resources={"metadata": {"path": str(ROOT)}}
    ).execute()
    notebook.metadata.pop("widgets", None)
    return notebook


def texts(notebook: Any) -> list[list[str]]:
    """Return what each cell shows as text, without times and the addresses of pictures."""
    return [
        [
            re.sub(r"in \d+\.\d s", "in ... s", text)
            for output in cell.get("outputs", ())
            for text in (output.get("text", ""), output.get("data", {}).get("text/plain", ""))
            if text and " at 0x" not in text
        ]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.filterwarnings("ignore")
def test_notebook_is_kept_with_what_it_prints() -> None:
    kept = read()
    images = [output for cell in kept.cells for output in cell.get("outputs", ()) if "data" in output]
    assert sum("image/png" in output["data"] for output in images) == 2
    assert texts(kept) == texts(executed())


if __name__ == "__main__":
    nbformat.write(executed(), NOTEBOOK)
