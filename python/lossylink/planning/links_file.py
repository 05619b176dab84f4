"""A file of links: a table with a row for each, its columns called as inventories and counters call them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from lossylink import units
from lossylink._package import compressed
from lossylink.errors import UserError, nearest
from lossylink.scenario.loss import Loss, parse_loss

Value = TypeVar("Value")

MOST_BYTES: Final = 64 * 1024 * 1024
WHAT: Final = "the file of links"

#: The columns, each with what else it may be called.
COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "name": ("link", "interface", "port", "id", "circuit"),
    "rate": ("speed", "bandwidth", "link_rate"),
    "length": ("cable_length", "distance"),
    "propagation": ("delay", "latency"),
    "loss": ("loss_ratio", "frame_loss", "fer"),
    "ber": ("bit_error_rate", "bit_error_ratio"),
    "pre_fec_ber": ("fec_pre_ber", "pre_fec_bit_error_ratio"),
    "code": ("fec", "fec_mode"),
    "corrupted": ("rx_crc_errors", "crc_errors", "fcs_errors", "crc", "errors", "lost"),
    "received": ("rx_packets", "rx_frames", "good"),
    "frames": ("packets", "sent", "total"),
    "fec_uncorrectable": (
        "fec_uncorrectable_blocks",
        "fec_uncorrected",
        "uncorrectable",
        "uncorrectable_codewords",
    ),
    "fec_blocks": ("fec_codewords", "codewords", "blocks"),
    "seconds": ("duration", "interval", "time"),
    "frame": ("frame_size", "frame_bytes"),
    "flow": ("flow_size",),
    "load": ("utilisation", "utilization", "usage"),
    "transport": ("protocol",),
}
#: What a column may end with, and the unit that its numbers then have.
SUFFIXES: Final[Mapping[str, str]] = {
    "gbps": "Gbps",
    "mbps": "Mbps",
    "bps": "bps",
    "m": "m",
    "km": "km",
    "ns": "ns",
    "us": "us",
    "bytes": "B",
    "b": "B",
    "percent": "%",
    "pct": "%",
    "s": "s",
}
#: Columns that give a loss itself.
_GIVEN: Final = ("loss", "ber", "pre_fec_ber")
_OF_LOSS: Final = (*_GIVEN, "corrupted", "fec_uncorrectable")
#: The code of a line that names none: that of lanes from 50 Gb/s on.
_CODE: Final = "rs544"
_TRANSPORTS: Final = {"": None, "tcp": "tcp", "rdma": "rdma", "roce": "rdma", "rocev2": "rdma"}


@dataclass(frozen=True, kw_only=True)
class Defaults:
    """What a link has where its row does not say."""

    rate_bps: int
    propagation_ps: int = 0
    frame_bytes: int = 1_514
    flow_bytes: int = 2_000_000
    load: float = 0.5
    transport: str | None = None


@dataclass(frozen=True)
class Counts:
    """Events of a counter, of the chances for one."""

    lost: int
    of: int
    are_codewords: bool = False
    """Whether the line's code was counted, and not frames."""


@dataclass(frozen=True, kw_only=True)
class LinkRow:
    """One link of the file."""

    line: int
    name: str
    rate_bps: int
    propagation_ps: int
    frame_bytes: int
    flow_bytes: int
    load: float
    transport: str | None
    loss: Loss | None = None
    """The loss where the row gives one; else it is in the counts."""
    counts: Counts | None = None


def read_links(path: Path, defaults: Defaults) -> tuple[list[LinkRow], list[str]]:
    """Return the links of a file, and its columns that mean nothing here.

    Parameters
    ----------
    path
        CSV with a line of headers, separated by commas, semicolons or tabs; compressed or not; ``-`` is
        standard input.
    defaults
        For what a row does not say.

    Raises
    ------
    UserError
        The file cannot be read, has no column of losses, or a wrong value: the line and the column are named.
    """
    text = compressed.read_text(path, most_bytes=MOST_BYTES, what=WHAT)
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff")), delimiter=_delimiter(text))
    headers = next((row for row in reader if _says_something(row)), None)
    if headers is None:
        raise UserError(f"{path} is empty; its first line names the columns: name,rate,loss")
    places, unknown = _places(headers, path)
    rows = []
    for row in filter(_says_something, reader):
        where = f"{path}:{reader.line_num}"
        if len(row) > len(headers):
            raise UserError(f"{where}: {len(row)} cells, and there are {len(headers)} columns; quote commas")
        rows.append(_row(_Cells(row, places, where), reader.line_num, defaults))
    if not rows:
        raise UserError(f"{path} has headers and no links below them")
    return rows, unknown


def _delimiter(text: str) -> str:
    headers = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    return max(",;\t", key=headers.count)


def _says_something(row: Sequence[str]) -> bool:
    return any(cell.strip() for cell in row) and not row[0].lstrip().startswith("#")


@dataclass(frozen=True)
class _Place:
    """Where a column is, what the file calls it, and the unit of its numbers."""

    at: int
    header: str
    unit: str


def _places(headers: Sequence[str], path: Path) -> tuple[dict[str, _Place], list[str]]:
    places: dict[str, _Place] = {}
    unknown = []
    for at, header in enumerate(headers):
        column, unit = _column(header)
        if column is None:
            unknown.append(header.strip())
        elif column in places:
            both = f"'{places[column].header}' and '{header.strip()}'"
            raise UserError(f"{path}: {both} are both the {column}; leave one out")
        else:
            places[column] = _Place(at, header.strip(), unit)
    if not any(column in places for column in _OF_LOSS):
        guesses = [guess for header in unknown if (guess := nearest(header, _OF_LOSS))]
        hint = f" (did you mean '{guesses[0]}'?)" if guesses else ""
        raise UserError(f"{path}: no column of losses{hint}; add loss, or corrupted and received")
    if "corrupted" in places and not places.keys() & {"received", "frames"}:
        raise UserError(
            f"{path}: '{places['corrupted'].header}' of how many? Add a column received, or frames"
        )
    if "fec_uncorrectable" in places and not places.keys() & {"fec_blocks", "seconds"}:
        header = places["fec_uncorrectable"].header
        raise UserError(f"{path}: '{header}' of how many? Add a column fec_blocks, or the seconds it counted")
    return places, unknown


def _column(header: str) -> tuple[str | None, str]:
    """Return which column a header is, and the unit that it names."""
    word = header.strip().lower().replace(" ", "_").replace("-", "_").replace(".", "_")
    names = {name: column for column, others in COLUMNS.items() for name in (column, *others)}
    if word in names:
        return names[word], ""
    begin, _, suffix = word.rpartition("_")
    if begin in names and suffix in SUFFIXES:
        return names[begin], SUFFIXES[suffix]
    return None, ""


@dataclass(frozen=True)
class _Cells:
    """A row of the file, by the names of its columns."""

    row: Sequence[str]
    places: Mapping[str, _Place]
    where: str

    def text(self, column: str) -> str:
        """Return a cell; nothing where it is empty or there is no such column."""
        place = self.places.get(column)
        if place is None or place.at >= len(self.row):
            return ""
        return self.row[place.at].strip()

    def read(self, column: str, parse: Callable[[object], Value], default: Value) -> Value:
        """Read a cell in the unit of its column."""
        text = self.text(column)
        if not text:
            return default
        try:
            return parse(text + (self.places[column].unit if text[-1].isdigit() else ""))
        except ValueError as error:
            raise self.wrong(column, str(error)) from None

    def wrong(self, column: str, words: str) -> UserError:
        """Return an error that names the line and the column."""
        return UserError(f"{self.where}, column '{self.places[column].header}': {words}")


def _row(cells: _Cells, line: int, defaults: Defaults) -> LinkRow:
    propagation_ps = cells.read("propagation", units.parse_time, defaults.propagation_ps)
    rate_bps = cells.read("rate", units.parse_rate, defaults.rate_bps)
    loss, counts = _loss(cells, rate_bps), _counts(cells, rate_bps)
    if loss is not None and counts is not None:
        column = next(column for column in _GIVEN if cells.text(column))
        raise cells.wrong(column, "a loss and counters in one row; leave one empty")
    return LinkRow(
        line=line,
        name=cells.text("name") or f"line {line}",
        rate_bps=rate_bps,
        propagation_ps=cells.read("length", units.parse_length, propagation_ps),
        frame_bytes=cells.read("frame", units.parse_size, defaults.frame_bytes),
        flow_bytes=cells.read("flow", units.parse_size, defaults.flow_bytes),
        load=cells.read("load", _share, defaults.load),
        transport=cells.read("transport", _transport, defaults.transport),
        loss=loss,
        counts=counts,
    )


def _loss(cells: _Cells, rate_bps: int) -> Loss | None:
    loss = cells.read("loss", parse_loss, None)
    bits: Loss | None = cells.read("ber", lambda text: parse_loss(f"bit-error-rate:{text}"), None)
    code = cells.text("code") or _CODE
    gauge: Loss | None = cells.read("pre_fec_ber", lambda text: _behind(code, text, rate_bps), None)
    return next((one for one in (loss, bits, gauge) if one is not None), None)


def _behind(code: str, text: object, rate_bps: int) -> Loss:
    """Return the loss behind the code of a line with a bit error ratio before it."""
    from lossylink.scenario.coded_line import read_coded_line  # for those who have such a column

    ratio = units.parse_ratio(text)
    return parse_loss(read_coded_line(code, rate_bps=rate_bps).spelling(ratio) if ratio else "none")


def _counts(cells: _Cells, rate_bps: int) -> Counts | None:
    """Return what was counted: frames, or codewords where no frames were."""
    from lossylink.theory.codewords import codewords_in

    corrupted = cells.read("corrupted", _count, None)
    if corrupted is not None:
        received, frames = cells.read("received", _count, None), cells.read("frames", _count, None)
        if received is None and frames is None:
            raise cells.wrong("corrupted", "how many frames were received is empty")
        # Linux and switches count a frame with a wrong check sequence as an error, and not as received.
        of = frames if frames is not None else corrupted + (received or 0)
        return _bounded(cells, "corrupted", corrupted, of)
    uncorrectable = cells.read("fec_uncorrectable", _count, None)
    if uncorrectable is None:
        return None
    blocks = cells.read("fec_blocks", _count, None)
    if blocks is None:
        seconds = cells.read("seconds", lambda text: units.parse_time(_in_seconds(str(text))) / 1e12, 0.0)
        blocks = round(codewords_in(seconds, rate_bps=rate_bps))
    if not blocks:
        raise cells.wrong(
            "fec_uncorrectable", "how many blocks there were is empty; fill in fec_blocks or seconds"
        )
    return _bounded(cells, "fec_uncorrectable", uncorrectable, blocks, are_codewords=True)


def _bounded(cells: _Cells, column: str, lost: int, of: int, *, are_codewords: bool = False) -> Counts | None:
    if lost > of:
        raise cells.wrong(column, f"{lost:,} of {of:,} is more than all; are two columns swapped?")
    return Counts(lost, of, are_codewords) if of else None


def _in_seconds(text: str) -> str:
    return f"{text}s" if text[-1].isdigit() else text


def _count(value: object) -> int:
    """Read a counter, which may be zero and may have commas between thousands."""
    text = str(value).replace(",", "")
    return 0 if text in {"0", "0.0"} else units.parse_count(text)


def _share(value: object) -> float:
    share = units.parse_ratio(value)
    if share == 0:
        raise ValueError("a link without load harms nobody; give its usual load, such as 30%")
    return share


def _transport(value: object) -> str | None:
    word = str(value).strip().lower()
    if word not in _TRANSPORTS:
        raise ValueError(f"'{value}' is no transport; valid: tcp, rdma")
    return _TRANSPORTS[word]
