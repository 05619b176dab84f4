"""The page of commands says what the commands say.

``python -m tests.python.test_commands_page`` writes it anew.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lossylink.cli.app import app

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "commands.md"


def page() -> str:
    """The page as it should be."""
    return "\n".join(_page())


def _page() -> Iterator[str]:
    yield "# Commands\n"
    yield "`lossylink COMMAND --help` prints the same.\n"
    yield from _group(app, "lossylink")


def _group(group: Any, path: str) -> Iterator[str]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            if command.invoke_without_command:
                yield from _command(command, f"{path} {name}")
            yield from _group(command, f"{path} {name}")
        else:
            yield from _command(command, f"{path} {name}")


def _command(command: Any, path: str) -> Iterator[str]:
    text, _, examples = inspect.cleandoc(command.help or "").partition("\nExamples\n")
    yield f"## {path}\n"
    yield f"{text.strip()}\n"
    yield "| | |\n|---|---|"
    for parameter in command.params:
        words = ", ".join(f"`{word}`" for word in (*parameter.opts, *parameter.secondary_opts))
        shown = f"`{parameter.name.upper()}`" if parameter.param_type_name == "argument" else words
        value = parameter.to_info_dict()["default"]
        default = "" if value in (None, False, "", ()) else f" Default: `{value}`."
        help_text = (parameter.help or "").replace("|", "\\|").replace("\n", " ")
        yield f"| {shown} | {help_text}{default} |"
    lines = [line.strip() for line in examples.splitlines() if line.strip().startswith("lossylink")]
    if lines:
        yield "\n```sh\n" + "\n".join(lines) + "\n```\n"


def test_the_page_is_what_the_commands_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
