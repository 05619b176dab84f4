"""The six traps of the study, each run naively and corrected, told so that a teacher can show it."""

from lossylink.running.mathis.traps.catalogue import TRAPS, Setup, Trap, trap_named
from lossylink.running.mathis.traps.execution import TrapRun, run
from lossylink.running.mathis.traps.page import render, text

__all__ = ["TRAPS", "Setup", "Trap", "TrapRun", "render", "run", "text", "trap_named"]
