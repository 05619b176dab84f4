"""A folder of figures: those of one set of results, which a hidden file in it names."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lossylink._package.holding import holding_of
from lossylink._package.writing import whole
from lossylink.errors import UserError

#: Says of which results the figures of a folder are, and which files they are.
RECORD = ".figures.json"


@dataclass(frozen=True)
class Figures:
    """The figures in a folder.

    Attributes
    ----------
    results
        Where the results are that the figures are of, as whole paths in their order.
    files
        Names of figures that earlier calls drew of these results.
    others
        Names of figures of other results, which give way.
    """

    folder: Path
    results: tuple[str, ...]
    files: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()

    @classmethod
    def of(cls, folder: Path, results: Sequence[Path], *, replace: bool = False) -> Figures:
        """Return what a folder has of these results.

        Raises
        ------
        UserError
            It has figures of other results, and these may not be replaced; or it holds another result.
        """
        wanted = tuple(sorted({str(path.absolute()) for path in results}))
        held = holding_of(folder)
        if held is not None and str(folder.absolute()) not in wanted:
            raise UserError(f"{folder} holds {held.words}, which is not drawn; choose another --output")
        drawn_of, files = _read(folder / RECORD)
        if not files or drawn_of == wanted:
            return cls(folder, wanted, files)
        if not replace:
            shown = ", ".join(Path(path).name for path in drawn_of)
            raise UserError(
                f"{folder} holds figures of {shown}; add --replace to take their place, "
                "or choose another --output"
            )
        return cls(folder, wanted, others=files)

    def keep(self, drawn: Iterable[Path]) -> None:
        """Note which files were drawn, and remove those of other results."""
        names = {path.relative_to(self.folder).as_posix() for path in drawn}
        record = {"results": list(self.results), "files": sorted(self.files | names)}
        with whole(self.folder / RECORD) as partial:
            partial.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
        for name in self.others - names:
            (self.folder / name).unlink(missing_ok=True)


def _read(path: Path) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return what a record says: results, and names of files directly in its folder; nothing without one."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        results, files = tuple(map(str, found["results"])), frozenset(map(str, found["files"]))
    except (OSError, ValueError, KeyError, TypeError):
        return (), frozenset()
    return results, frozenset(name for name in files if Path(name).name == name)
