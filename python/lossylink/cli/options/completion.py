"""Completion of words in the shell: its script, where it is installed, and the words that it asks for."""

from __future__ import annotations

import os
from pathlib import Path

import click
from click.shell_completion import get_completion_class, shell_complete

from lossylink._package.writing import output_to
from lossylink.errors import UserError

NAME = "lossylink"
#: The environment variable in which a shell says what it asks for.
VARIABLE = "_LOSSYLINK_COMPLETE"
#: Below the home directory: where each shell has its script, its own file, and the line that it needs there.
_PLACES = {
    "bash": (".bash_completions/lossylink.sh", ".bashrc", "source '{script}'"),
    "zsh": (".zfunc/_lossylink", ".zshrc", "fpath+=~/.zfunc; autoload -Uz compinit; compinit"),
    "fish": (".config/fish/completions/lossylink.fish", None, ""),
}


def show(app: click.Command) -> None:
    """Print the script of the shell that has started this process."""
    print(_script(app, _shell()))


def install(app: click.Command) -> None:
    """Write the script where the shell that has started this process finds it."""
    shell = _shell()
    text, home = _script(app, shell), Path.home()
    place, own, line = _PLACES[shell]
    script = home / place
    with output_to(script):
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(f"{text}\n", encoding="utf-8")
    if own is not None:
        _add_line(home / own, line.format(script=script))
    print(f"{shell} completion installed in {script}")
    print("Completion will take effect once you restart the terminal")


def answer(app: click.Command) -> int:
    """Print the words that a shell asks for; gives an exit code."""
    return shell_complete(app, {}, NAME, VARIABLE, os.environ[VARIABLE])


def _add_line(file: Path, line: str) -> None:
    with output_to(file):
        text = file.read_text(encoding="utf-8") if file.is_file() else ""
        if line not in text.splitlines():
            file.write_text(f"{text.rstrip()}\n{line}\n".lstrip(), encoding="utf-8")


def _script(app: click.Command, shell: str) -> str:
    complete = get_completion_class(shell)
    assert complete is not None
    return complete(app, {}, NAME, VARIABLE).source()


def _shell() -> str:
    """Return the shell that has started this process, or else the user's own."""
    names = (
        Path(f"/proc/{os.getppid()}/comm").read_text(encoding="utf-8").strip(),
        Path(os.environ.get("SHELL", "")).name,
    )
    shell = next((name for name in names if name in _PLACES), None)
    if shell is None:
        raise UserError(f"words are completed in {', '.join(_PLACES)}; SHELL names none of these")
    return shell
