"""What a job runs: a configuration in the simulator's words, and the simulation that is read of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Self

from lossylink import _native


class Setup:
    """A configuration, of which one simulation is read when somebody asks for it.

    Reading builds every part once, to check it: what cannot be simulated is refused there. A run builds its
    parts anew from what was read, since parts wear out. A copy in another process reads anew.

    Parameters
    ----------
    configuration
        What to measure, in the simulator's words and in base units.
    """

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        self.configuration = dict(configuration)

    def __reduce__(self) -> tuple[type[Self], tuple[dict[str, Any]]]:
        return type(self), (self.configuration,)

    @cached_property
    def simulation(self) -> _native.Simulation:
        """The simulation.

        Raises
        ------
        ValueError
            The configuration cannot be simulated; one line says what is wrong and the mend.
        """
        return _native.Simulation(json.dumps(self.configuration))

    def changed(self, changes: Mapping[str, Any]) -> Setup:
        """Return the setup with other values for some keys of the configuration.

        Examples
        --------
        >>> Setup({"seed": 1, "threads": 1}).changed({"seed": 2}).configuration
        {'seed': 2, 'threads': 1}
        """
        return Setup({**self.configuration, **changes})
