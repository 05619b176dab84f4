"""Reads the structure of a page: elements with what is around them, and the links that they hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "br", "path", "rect", "img", "input", "link", "hr"}


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    ancestors: tuple[Element, ...]
    words: list[str] = field(default_factory=list)

    @property
    def classes(self) -> set[str]:
        return set(self.attributes.get("class", "").split())

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def is_inside(self, tag: str, name: str = "") -> bool:
        return any(one.tag == tag and (not name or name in one.classes) for one in self.ancestors)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[Element] = []
        self.open: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {key: value or "" for key, value in attrs}, tuple(self.open))
        self.found.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(Element(tag, {key: value or "" for key, value in attrs}, tuple(self.open)))

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop().tag != tag:
            pass

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.words.append(data)


def elements(html: str) -> list[Element]:
    """Every element of a page, in order."""
    reader = _Reader()
    reader.feed(html)
    return reader.found


def identifiers(html: str) -> list[str]:
    """Every identifier, in order."""
    return [one.attributes["id"] for one in elements(html) if "id" in one.attributes]


def addresses(html: str) -> list[str]:
    """Where every link leads."""
    return [one.attributes["href"] for one in elements(html) if one.tag == "a"]
