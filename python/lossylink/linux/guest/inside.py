"""The guest's side of `guest.lab`: its script runs ``python -m lossylink.linux.guest.inside``."""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import time
from pathlib import Path
from typing import Any

from lossylink.linux.lab import Lab, LabSettings

#: Where the two sides leave words for each other, in the directory that both see.
REQUEST, RESULT = "request.json", "result.json"
_PR_SET_TIMERSLACK = 29
_NS_PER_SECOND = 10**9


def _be_punctual() -> None:
    """Let timers of this process and of its children end when they are due, and not up to 50 us later."""
    ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0)


def _rest() -> None:
    """Sleep until a whole second: what follows begins at the same instant, whatever came before."""
    time.sleep((-time.monotonic_ns() % _NS_PER_SECOND) / _NS_PER_SECOND)


def _play(request: dict[str, Any]) -> Any:
    function = getattr(importlib.import_module(request["module"]), request["function"])
    settings = LabSettings.model_validate_json(json.dumps(request["settings"]))
    # The guest ends with its script, and takes the lab along.
    lab = Lab.up(settings)
    _rest()
    return function(lab, **request["arguments"])


def main() -> None:
    """Do what the host asks for, and leave what came of it where the host looks."""
    work = Path(os.environ["LOSSYLINK_WORK"])
    _be_punctual()
    result = _play(json.loads((work / REQUEST).read_text()))
    (work / RESULT).write_text(json.dumps(result))


if __name__ == "__main__":
    main()
