"""What tests of software switches share: a program read as text, and a switch that is nothing but memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from lossylink._package.resources import P4
from lossylink.linux.bmv2.sources import constants

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)


@dataclass
class Declared:
    """What a program has for its control plane, by the names that BMv2 gives it."""

    registers: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Cells, and bits of each."""
    counters: dict[str, int] = field(default_factory=dict)
    """Cells."""
    tables: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    """Actions of each table, each with the bits of its parameters."""


def program_text(family: str) -> str:
    """Return the files of a program and what it shares with others, without comments."""
    files = sorted([*(P4 / "common").glob("*.p4"), *(P4 / family).glob("*.p4")])
    return _COMMENT.sub("", "\n".join(file.read_text() for file in files))


def declared(text: str, numbers: dict[str, int]) -> Declared:
    """Read what a program declares; a control inside another adds its instance to the names."""
    found = Declared()
    types = {name: kind for kind, name in re.findall(r"typedef\s+(bit<\d+>|\w+)\s+(\w+);", text)}
    controls = dict(_blocks(r"control\s+(\w+)\s*\([^)]*\)\s*", text))
    outside = text
    for body in controls.values():
        outside = outside.replace(body, "")

    def bits(kind: str) -> int:
        return bits(types[kind]) if kind in types else int(kind.removeprefix("bit<").removesuffix(">"))

    def size(word: str) -> int:
        return int(word) if word.isdecimal() else numbers[word]

    def walk(body: str, path: str) -> None:
        for kind, cells, name in re.findall(r"register<([\w<>]+?)>\s*\((\w+)\)\s*(\w+);", body):
            found.registers[path + name] = (size(cells), bits(kind))
        for cells, name in re.findall(r"counter\((\w+),\s*CounterType\.\w+\)\s*(\w+);", body):
            found.counters[path + name] = size(cells)
        actions = {
            name: [bits(word.split()[-2]) for word in parameters.split(",") if word.strip()]
            for name, parameters in re.findall(r"action\s+(\w+)\(([^)]*)\)", body)
        }
        for name, table in _blocks(r"table\s+(\w+)\s*", body):
            listed = re.search(r"actions\s*=\s*\{([^}]*)\}", table)
            names = re.findall(r"\w+", listed[1]) if listed else []
            found.tables[path + name] = {path + action: actions[action] for action in names}
        for kind, name in re.findall(r"(\w+)\(\)\s+(\w+);", body):
            if kind in controls:
                walk(controls[kind], f"{path}{name}.")

    walk(outside, "")
    main = re.search(r"V1Switch\((.*?)\)\s*main;", text, re.S)
    for name in re.findall(r"(\w+)\(\)", main[1]) if main else []:
        if name in controls:
            walk(controls[name], f"{name}.")
    return found


def _blocks(head: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield the name in each head, and what stands in the braces after it."""
    for match in re.finditer(rf"\b{head}\{{", text):
        depth, at = 1, match.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        yield match[1], text[match.end() : at - 1]


class MemorySwitch:
    """A switch that only remembers, with the methods of `Runtime`; it refuses what its program lacks."""

    def __init__(self, family: str) -> None:
        self.declared = declared(program_text(family), constants(family))
        self.registers = {name: [0] * cells for name, (cells, _) in self.declared.registers.items()}
        self.counters = {name: [0] * cells for name, cells in self.declared.counters.items()}
        self.defaults: dict[str, list[int]] = {}
        self.groups: dict[int, list[tuple[int, int]]] = {}
        self.sessions: dict[int, int] = {}
        self.queues: dict[tuple[int, int | None], tuple[int, int]] = {}

    def read_register(self, name: str, index: int = 0) -> int:
        return self.registers[name][index]

    def read_registers(self, name: str) -> list[int]:
        return list(self.registers[name])

    def write_register(self, name: str, value: int, index: int = 0) -> None:
        assert 0 <= value < 1 << self.declared.registers[name][1], f"{value} does not fit {name}"
        self.registers[name][index] = value

    def clear_register(self, name: str) -> None:
        self.registers[name] = [0] * len(self.registers[name])

    def read_counter(self, name: str, index: int) -> int:
        return self.counters[name][index]

    def clear_counter(self, name: str) -> None:
        self.counters[name] = [0] * len(self.counters[name])

    def set_default(self, table: str, action: str, *values: tuple[int, int]) -> None:
        widths = self.declared.tables[table][action]
        assert [bits for _, bits in values] == widths, f"{action} takes {widths} bits"
        assert all(0 <= value < 1 << bits for value, bits in values), f"{values} do not fit {action}"
        self.defaults[table] = [value for value, _ in values]

    def set_group(self, group: int, members: Iterable[tuple[int, int]]) -> None:
        self.groups[group] = list(members)

    def mirror_to_group(self, session: int, group: int) -> None:
        self.sessions[session] = group

    def set_queue(
        self, port: int, *, packets: int, packets_per_second: int = 0, priority: int | None = None
    ) -> None:
        self.queues[port, priority] = (packets, packets_per_second)

    def close(self) -> None:
        pass
