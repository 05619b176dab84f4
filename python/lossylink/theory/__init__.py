"""Closed forms that the experiments are held against, one module a family.

Every function takes keyword-only arguments that carry their unit in the name, broadcasts over numpy
arrays, refuses impossible values with a one-line `ValueError`, and states its source and the range
in which it holds. `phy` takes single numbers in place of arrays.

| module | what it predicts |
|---|---|
| `mathis` | Reno's bandwidth under random loss, without timeouts |
| `pftk` | Reno's bandwidth with retransmission timeouts |
| `cubic` | CUBIC's average window: its own region, the Reno-friendly one, the larger |
| `dctcp` | DCTCP's alpha and window under random and under threshold marking |
| `linkguardian` | copies, effective loss, link speed, pause expiry, sequence wrap |
| `llr` | loop, buffer, timer, speed and residual loss of go-back-N on a link |
| `fec` | residual loss, capacity share and recovery delay of a (k, h) block code |
| `intervals` | confidence intervals of counts and ratios, rare events included |
| `phy` | lost frames of a line by its bit errors and its own code |
"""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lossylink.statistics import intervals
    from lossylink.theory import cubic, dctcp, fec, linkguardian, llr, mathis, pftk, phy

__all__ = ["cubic", "dctcp", "fec", "intervals", "linkguardian", "llr", "mathis", "pftk", "phy"]


def __getattr__(name: str) -> ModuleType:
    """Load a module when it is first used: intervals need scipy, which takes longest of all to load."""
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
