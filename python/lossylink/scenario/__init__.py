"""Scenarios: what a user writes, checked and turned into what the simulator reads."""

from __future__ import annotations

from lossylink.scenario.resolve import Scenario, resolve

__all__ = ["Scenario", "resolve"]
