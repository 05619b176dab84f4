"""One experiment with everything decided."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from lossylink.declared.experiment import Experiment
from lossylink.declared.protections import Protection
from lossylink.declared.setup import Setup
from lossylink.scenario.fabric import Fabric
from lossylink.scenario.loss import Loss
from lossylink.scenario.models import Sections
from lossylink.scenario.workload import FlowSizes


class Scenario(Struct, frozen=True):
    """One experiment with everything decided; `lossylink.scenario.resolving.altered` changes some of it."""

    experiment: Experiment
    title: str
    seed: int
    settings: dict[str, Any]
    """Section by section in the user's spelling; together with the seed it runs the same again."""
    values: Sections
    """The settings in base units."""
    forward: Loss
    reverse: Loss
    path_losses: tuple[Loss, Loss]
    """What the hops behind the link lose: toward the receiver, and on the way back."""
    protections: tuple[Protection, ...]
    switch: dict[str, Any]
    host: dict[str, Any] | None
    sizes: FlowSizes | None = None
    """Sizes of the flows of a workload."""
    fabric: Fabric | None = None
    """What the section of a fabric names."""
    setups: tuple[Setup, ...] = ()
    """What is run under each of the protections; a study makes the setups of its trials itself."""

    @property
    def runs(self) -> Iterator[tuple[Protection, Setup]]:
        """Each protection with what is run under it."""
        return zip(self.protections, self.setups, strict=True)

    @property
    def loses_on_path(self) -> bool:
        """Whether a hop beside the link loses anything."""
        return any(loss.native["model"] != "none" for loss in self.path_losses)

    def describe(self) -> dict[str, Any]:
        """Return the resolved scenario as JSON-able data, with the loss spelt out as ratio and percentage."""
        described: dict[str, Any] = {
            "experiment": self.experiment.name,
            "title": self.title,
            "seed": self.seed,
        }
        described |= {section: dict(keys) for section, keys in self.settings.items()}
        for direction, loss in (("forward", self.forward), ("reverse", self.reverse)):
            if loss.mean is not None:
                described["loss"][f"{direction}_ratio"] = loss.mean
                described["loss"][f"{direction}_percent"] = float(f"{loss.mean * 100:.12g}")
        described["calibrated"] = {
            kind: bool(profile.get("calibrated"))
            for kind, profile in (("switch", self.switch), ("host", self.host))
            if profile is not None
        }
        return described
