"""The loss of a link from a file that ``lossylink fit`` reads, for a command that plans."""

from __future__ import annotations

import sys
from pathlib import Path

from lossylink._package.progress import progress_bar
from lossylink.errors import UserError
from lossylink.measuring.recordings import findings_of
from lossylink.planning.advice import extrapolation
from lossylink.scenario.loss import Loss


def loss_of(path: Path) -> Loss:
    """Return the loss of the busiest direction in a file, and say on stderr what it is of.

    Raises
    ------
    UserError
        The file tells no losses, or shows none: then the message has the most that it may be.
    """
    with progress_bar("read") as read, progress_bar("fit") as fit:
        finding, *others = findings_of(path, read=read, fit=fit)
    for line in finding.lines():
        print(line, file=sys.stderr)
    for other in others:
        print(f"not planned for: {other.title}", file=sys.stderr)
    ratio = finding.fit.ratio
    if not ratio.value:
        raise UserError(
            f"{path}: none of {finding.fit.frames:,} {finding.unit} was seen to be lost: the loss is below "
            f"{ratio.high:.3g}; to plan for the most that it may be, give --loss {ratio.high:.3g}"
        )
    if finding.is_replayed:
        return finding.replayed(path)
    note = extrapolation(finding)
    return finding.fit.loss._replace(notes=(*finding.fit.loss.notes, *filter(None, [note])))
