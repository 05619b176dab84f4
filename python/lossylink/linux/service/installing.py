"""What ``lossylink guard install`` does, line by line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lossylink.errors import UserError
from lossylink.linux.lab.settings import read_protection
from lossylink.linux.lab.tunnel import path_ports, path_protection
from lossylink.linux.service.config import require_name
from lossylink.linux.service.files import OurFile
from lossylink.linux.service.metrics import read_address
from lossylink.linux.service.unit import CONFIG_FILE, UNIT_FILE, require_reachable, unit_text
from lossylink.scenario.load import read_toml
from lossylink.units import parse_rate

_EXPLAINED = """\
# One table for each guard. Its keys are the options of `lossylink guard`, with _ for -:
# lossylink-guard@eth2.service runs `lossylink guard --config /etc/lossylink/guard.toml --name eth2`.
"""
_EXAMPLE = """
# [eth2]
# lan = "eth1"
# link = "eth2"
# protection = "lg"
"""


@dataclass(frozen=True)
class Wanted:
    """The guard that is to be installed: its table, without a name when nobody has said which guard."""

    name: str | None
    values: Mapping[str, str | int]

    @classmethod
    def of(cls, name: str | None, values: Mapping[str, str | int]) -> Wanted:
        """Check what can be checked without the machine on which the guard will run.

        Raises
        ------
        UserError
            An interface is missing, or a value is none.
        """
        if not values and name is None:
            return cls(None, {})
        if "udp" in values:
            _check_path(values)
        else:
            _check_link(values)
        if "metrics" in values:
            read_address(str(values["metrics"]))
        if "rate" in values:
            try:
                parse_rate(str(values["rate"]))
            except ValueError as error:
                raise UserError(str(error)) from None
        called = next(str(values[key]) for key in ("link", "tun", "lan") if key in values)
        return cls(require_name(name or called), values)

    @property
    def table(self) -> str:
        """The guard in TOML.

        Examples
        --------
        >>> print(Wanted("eth2", {"lan": "eth1", "mtu": 9000}).table)
        [eth2]
        lan = "eth1"
        mtu = 9000
        """
        head = self.name if self.name is None or "." not in self.name else json.dumps(self.name)
        lines = (f"{key} = {json.dumps(value)}" for key, value in self.values.items())
        return "\n".join([f"[{head}]", *lines])


def _check_link(values: Mapping[str, str | int]) -> None:
    missing = [f"--{key}" for key in ("lan", "link") if key not in values]
    if missing:
        raise UserError(f"a guard needs {' and '.join(missing)}; without options no guard is written")
    if "tun" in values or "address" in values:
        raise UserError("--tun and --address need a path: give --udp PEER:PORT")
    if "protection" in values:
        read_protection(str(values["protection"]))


def _check_path(values: Mapping[str, str | int]) -> None:
    if "link" in values or "auto" in values:
        raise UserError("a guard with --udp has no --link, and tunes itself without --auto")
    given = {key: str(values[key]) if key in values else None for key in ("lan", "tun", "address")}
    key_file = Path(str(values["key_file"])) if "key_file" in values else None
    path_ports(**given, udp=str(values["udp"]), key_file=key_file)
    if "protection" in values:
        path_protection(str(values["protection"]))


def show_files(wanted: Wanted, prefix: Path) -> Iterator[str]:
    """Yield the files that would be written."""
    for file in _files(wanted, prefix):
        yield f"# {file.path}"
        yield file.text


def install_files(wanted: Wanted, prefix: Path) -> Iterator[str]:
    """Write the files and yield what was done, and what is to be done.

    Raises
    ------
    UserError
        A file was changed, or the configuration has another guard of this name, or none.
    """
    require_reachable()
    unit, config = _files(wanted, prefix)
    if unit.is_changed():
        yield from unit.differences()
        raise UserError(f"{unit.path} was changed and stays; move it away and install again")
    if config.present() is not None:
        yield from _compare(config.path, wanted)
        yield f"{config.path} stays as it is"
    else:
        yield config.write()
    yield unit.write()
    yield "now run:"
    yield "  systemctl daemon-reload"
    yield f"  systemctl enable --now lossylink-guard@{wanted.name or 'NAME'}"


def uninstall_files(prefix: Path) -> Iterator[str]:
    """Remove the files and yield what was done, and what is to be done."""
    for file in _files(Wanted(None, {}), prefix):
        yield file.remove()
    yield "guards that run go on until you run:"
    yield "  systemctl disable --now 'lossylink-guard@*'"
    yield "  systemctl daemon-reload"


def _files(wanted: Wanted, prefix: Path) -> tuple[OurFile, OurFile]:
    table = _EXAMPLE if wanted.name is None else f"\n{wanted.table}\n"
    return (
        OurFile(prefix / UNIT_FILE, unit_text()),
        OurFile(prefix / CONFIG_FILE, f"{_EXPLAINED}{table}"),
    )


def _compare(file: Path, wanted: Wanted) -> Iterator[str]:
    """Show how the guard in a file differs from the one that is wanted, and refuse if it does."""
    if wanted.name is None:
        return
    tables, _ = read_toml(file)
    there = tables.get(wanted.name)
    if there is None:
        yield wanted.table
        raise UserError(f"{file} stays as it is, and has no guard {wanted.name}: add the lines above to it")
    if there != wanted.values:
        for key in sorted({*there, *wanted.values}):
            before, after = (json.dumps(one[key]) if key in one else "-" for one in (there, wanted.values))
            if before != after:
                yield f"{key}: {before} in the file, {after} wanted"
        mend = "edit it, or choose another --name"
        raise UserError(f"{file} stays as it is, and has another guard {wanted.name}: {mend}")
