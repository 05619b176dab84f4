"""Runs one switch of the lab until it is told to stop: ``python -m lossylink.linux.bmv2 @FILE`` (JSON)."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from lossylink.errors import LossylinkError
from lossylink.linux.bmv2.agent import Agent, Configuration, Server


def main() -> int:
    """Start the switch and serve its control socket."""
    configuration = Configuration(**json.loads(Path(sys.argv[1].removeprefix("@")).read_text()))
    try:
        # The socket appears when there is somebody to answer.
        Server(configuration.control, Agent(configuration)).serve_forever()
    except LossylinkError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
