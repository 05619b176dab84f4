"""Tables and sentences as rich prints them: neither ever breaks a word, and in a pipe nothing is broken."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.text import Text

from lossylink.results.screen import Grid, broken, laid_out, screen_width, size

#: Columns of what has no width; no line is longer.
ENDLESS = 100_000


def new_console() -> Console:
    """Return a console for the standard output, which is as wide as the output is."""
    return Console(highlight=False, width=ENDLESS if screen_width() is None else None)


def show(console: Console, *things: RenderableType) -> None:
    """Print things one below the other; a line that is longer than the screen is not cut."""
    for thing in things:
        console.print(Sentences(thing) if isinstance(thing, (str, Text)) else thing, soft_wrap=True)


class Drawn:
    """A table in the width that there is."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> Iterator[Text]:
        for line in laid_out(self._grid, options.max_width):
            yield _whole(Text.assemble(*line))

    def __rich_measure__(self, _console: Console, _options: ConsoleOptions) -> Measurement:
        return Measurement(size(self._grid), size(self._grid))


class Sentences:
    """Text that is broken between words alone.

    Parameters
    ----------
    text
        Words, or rich's text, which has styles.
    indent
        Blanks in front of each line.
    """

    def __init__(self, text: str | Text, indent: int = 0) -> None:
        self._text = Text(text) if isinstance(text, str) else text
        self._indent = indent

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> Iterator[Text]:
        room = max(options.max_width - self._indent, 1)
        for paragraph in self._text.split("\n", allow_blank=True):
            at = 0
            for words in broken(paragraph.plain, room):
                at = paragraph.plain.index(words, at)
                yield _whole(Text(" " * self._indent).append_text(paragraph[at : at + len(words)]))
                at += len(words)


class Whole:
    """A thing as wide as it needs to be, whatever the screen."""

    def __init__(self, thing: RenderableType) -> None:
        self._thing = thing

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from console.render(self._thing, options.update(max_width=ENDLESS))


def _whole(line: Text) -> Text:
    line.rstrip()
    line.no_wrap, line.overflow = True, "ignore"
    return line
