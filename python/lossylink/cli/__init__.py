"""The ``lossylink`` command, a module for each of its parts."""

from lossylink.cli.command_line import run_command_line

__all__ = ["run_command_line"]
