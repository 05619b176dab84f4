"""Compressed files are read wherever files are: traces, captures, what tools print."""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from backports import zstd

from lossylink._package import compressed
from lossylink.cli.exits import MISTAKE
from lossylink.errors import UserError
from lossylink.measuring.numbered import read_losses
from lossylink.scenario import loss as losses
from lossylink.scenario.fabric import load_failures, parse_topology
from lossylink.scenario.loss import parse_loss
from lossylink.scenario.workload import load_flow_sizes

from .conftest import Ended
from .test_measuring_files import pcap, probe, quiet

Command = Callable[..., Ended]
Squeeze = Callable[[bytes], bytes]
SQUEEZES = pytest.mark.parametrize(
    "squeeze", [gzip.compress, zstd.compress, bytes], ids=["gzip", "zstd", "not"]
)


@SQUEEZES
def test_a_trace_is_read_whatever_its_name(squeeze: Squeeze, tmp_path: Path) -> None:
    path = tmp_path / "link.trace"
    path.write_bytes(
        squeeze(b"# a comment\n0010\n") + squeeze(b"01\n")
    )  # as two runs of a compressor leave it
    assert parse_loss(f"trace:{path}").native["lost"] == [False, False, True, False, False, True]


@SQUEEZES
def test_a_capture_is_read(squeeze: Squeeze, tmp_path: Path) -> None:
    path = tmp_path / "link.pcap"
    path.write_bytes(squeeze(pcap([probe(number) for number in (0, 1, 3)])))
    (direction,) = read_losses(path, quiet).values()
    assert direction.record.trace() == "0010\n"


@SQUEEZES
def test_flow_sizes_and_recorded_failures_are_read(squeeze: Squeeze, tmp_path: Path) -> None:
    suffix = {gzip.compress: ".gz", zstd.compress: ".zst"}.get(squeeze, "")
    sizes = tmp_path / f"sizes.csv{suffix}"
    sizes.write_bytes(squeeze(b"500,0.5\n1000,1\n"))
    assert load_flow_sizes(sizes.name, folder=tmp_path).points == [(500.0, 0.5), (1000.0, 1.0)]
    failures = tmp_path / f"failures.csv{suffix}"
    failures.write_bytes(squeeze(b"10,3,1e-4\n"))
    topology = parse_topology("fat-tree:k=4")
    assert load_failures(failures.name, topology, folder=tmp_path) == [(10, 3, 1e-4)]


@SQUEEZES
def test_standard_input_is_a_file(
    squeeze: Squeeze, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(squeeze(b"0" * 990 + b"1" * 10))))
    ended = command("fit", "-", "-o", str(tmp_path / "fitted"))
    assert ended.code == 0
    assert "1,000 frames, 10 lost" in ended.out


@pytest.mark.parametrize("squeeze", [gzip.compress, zstd.compress])
def test_what_was_cut_off_is_refused_in_one_line(squeeze: Squeeze, tmp_path: Path, command: Command) -> None:
    path = tmp_path / "cut"
    path.write_bytes(squeeze(bytes(range(256)) * 100)[:-6])
    with pytest.raises(UserError, match="damaged or was cut off") as refusal:
        parse_loss(f"trace:{path}")
    assert "\n" not in str(refusal.value)
    ended = command("fit", str(path))
    assert (ended.code, ended.err.count("\n")) == (MISTAKE, 1)


def test_what_is_damaged_is_refused(tmp_path: Path) -> None:
    for begin in (compressed.GZIP, compressed.ZSTANDARD):
        path = tmp_path / "damaged"
        path.write_bytes(begin + b"this is no stream of either" * 3)
        with pytest.raises(UserError, match="damaged"):
            parse_loss(f"trace:{path}")


@pytest.mark.parametrize("squeeze", [gzip.compress, zstd.compress])
def test_a_small_file_that_unpacks_to_a_large_one_is_refused(
    squeeze: Squeeze, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(losses, "MAX_TRACE_BYTES", 1000)
    path = tmp_path / "bomb"
    path.write_bytes(squeeze(b"0" * 1001))
    with pytest.raises(UserError, match="at most 1000 bytes"):
        parse_loss(f"trace:{path}")
    path.write_bytes(squeeze(b"0" * 1000))
    assert len(parse_loss(f"trace:{path}").native["lost"]) == 1000
