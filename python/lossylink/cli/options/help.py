"""The page of help of a command: its usage, its text, its arguments, its options and its commands."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

import click
from rich.console import Console, Group, RenderableType
from rich.highlighter import RegexHighlighter
from rich.markdown import Markdown
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from lossylink.cli.options.kinds import Number

#: The cells of a parameter: the sign that it has to be given, its names in three columns, its kind, its text.
_Row = tuple[str, str, str, str, str, RenderableType]


class _Words(RegexHighlighter):
    """Colours what is typed as it stands, and kinds of values."""

    base_style = "help."
    highlights = (
        r"(^|[^\w-])(?P<short>-\w)(?![\w-])",
        r"(^|[^\w-])(?P<long>--[\w-]+)",
        r"(?P<kind><[^>]+>)",
        r"(?P<usage>Usage: )",
    )
    theme = Theme(
        {
            "help.short": "bold green",
            "help.long": "bold cyan",
            "help.kind": "bold yellow",
            "help.usage": "yellow",
        }
    )


def page(command: click.Command, context: click.Context, *, below: str) -> str:
    """Return the page as wide as the terminal, in colours where the standard output takes them.

    Below it stands a text in Markdown, if there is one.
    """
    console, highlight = Console(theme=_Words.theme), _Words()
    parameters = [one for one in command.get_params(context) if not getattr(one, "hidden", False)]
    arguments = [_argument(one) for one in parameters if isinstance(one, click.Argument)]
    options = [_option(one) for one in parameters if isinstance(one, click.Option)]
    with console.capture() as captured:
        console.print(Padding(highlight(command.get_usage(context)), 1), style="bold")
        console.print(Padding(Markdown(inspect.cleandoc(command.help or "")), (0, 1, 1, 1)))
        for title, rows in (("Arguments", arguments), ("Options", options)):
            if rows:
                console.print(_panel(title, _parameters(rows, highlight)))
        if isinstance(command, click.Group):
            console.print(_panel("Commands", _commands(command, context)))
        if below:
            console.print(Padding(Markdown(below), 1))
    return captured.get().removesuffix("\n")


def _panel(title: str, table: Table) -> Panel:
    return Panel(table, title=title, title_align="left", border_style="dim")


def _parameters(rows: Sequence[_Row], highlight: _Words) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    is_used = [any(row[place] for row in rows) for place in range(len(rows[0]))]
    for row in rows:
        cells = [highlight(cell) if isinstance(cell, str) else cell for cell in row]
        table.add_row(*(cell for cell, used in zip(cells, is_used, strict=True) if used))
    return table


def _argument(one: click.Argument) -> _Row:
    name = (one.metavar or one.name) + ("..." if one.metavar is None and one.nargs != 1 else "")
    return "*" if one.required else "", "", name, "", _kind(one), _text(one)


def _option(one: click.Option) -> _Row:
    long = [word for word in one.opts if word.startswith("--")]
    short = [word for word in one.opts if word not in long]
    return (
        "*" if one.required else "",
        ",".join(long),
        ",".join(short),
        ",".join(one.secondary_opts),
        one.metavar or _kind(one),
        _text(one),
    )


def _kind(one: click.Parameter) -> str:
    """Return the kind of value that a parameter takes, and its bounds."""
    kind, bounds = one.type, ""
    name = {"boolean": "bool"}.get(kind.name, kind.name)
    if isinstance(kind, click.Choice):
        name = "|".join(map(str, kind.choices))
    elif isinstance(kind, Number) and (kind.least is not None or kind.most is not None):
        bounds = f" [{kind.range()}]"
    is_list = one.multiple or one.nargs != 1
    name = f"list[{name}]" if is_list else f"{name} range" if bounds else name
    return f"<{name}>{bounds}"


def _text(one: click.Argument | click.Option) -> RenderableType:
    """Return what a parameter means, and below it its value when it is not given."""
    below = []
    default = one.to_info_dict()["default"]
    if isinstance(one, click.Option) and one.secondary_opts and default is not None:
        default = (one.opts if default else one.secondary_opts)[0].removeprefix("--")
    if default not in (None, False, "", ()):
        below.append(Text(f"[default: {default}]", style="dim"))
    if one.required:
        below.append(Text("[required]", style="dim red"))
    return Group(Markdown(one.help or ""), *below)


def _commands(group: click.Group, context: click.Context) -> Table:
    """Return the names of commands, each with the first paragraph of its text."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bold cyan", no_wrap=True)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is not None and not command.hidden:
            table.add_row(name, Markdown(inspect.cleandoc(command.help or "").partition("\n\n")[0]))
    return table
