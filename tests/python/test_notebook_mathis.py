"""The notebook runs from its first cell to its last, small, and is kept without outputs."""

from __future__ import annotations

import importlib.util
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
from fake_simulator import FakeSimulator
native = types.ModuleType("lossylink._native")
native.simulate, native.version = FakeSimulator(), lambda: "stand-in"
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


def test_notebook_is_kept_without_outputs() -> None:
    cells = [cell for cell in read().cells if cell.cell_type == "code"]
    assert cells
    assert all(not cell.outputs and cell.execution_count is None for cell in cells)
