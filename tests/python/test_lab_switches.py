"""What a lab of software switches takes, refuses and tells them, before anything is made."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lossylink.errors import UserError
from lossylink.linux.lab.directory import LabDirectory
from lossylink.linux.lab.settings import LabSettings, lab_settings
from lossylink.linux.lab.switches import cables, configurations, packets_per_second


def switched(**values: Any) -> LabSettings:
    return lab_settings(dataplane="bmv2", **values)


def test_the_usual_values_are_those_of_switches() -> None:
    settings = switched()
    assert (settings.port, settings.rtt_ps, settings.fifo) == ("packet", 0, False)
    assert not settings.super_frames
    # The file of a lab is read back as it was written.
    assert LabSettings.model_validate_json(settings.model_dump_json()) == settings
    assert lab_settings().dataplane == "native"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"rtt_ps": 1}, "no round trip (--rtt): leave the option out"),
        ({"ecn_bytes": 1000}, "no marks of congestion (--ecn-threshold)"),
        ({"split": True}, "no wire of its own (--split)"),
        ({"port": "xdp"}, "no port xdp"),
        ({"port": "tap"}, "no port tap"),
        ({"offloads": True}, "no offloads"),
        ({"seed": 2}, "no seed"),
        ({"fifo": True}, "no real-time priority"),
        ({"key_file": Path("secret")}, "no key"),
        ({"protection": "llr"}, "no switch program has llr; there are lg, lg-nb and fec-model"),
        ({"protection": "lg:holes=7"}, "leave out the option holes"),
        ({"protection": "fec-model:5/1,flush=1ms"}, "no flush: leave the option out"),
        ({"loss_forward": "at:3"}, "a switch draws each loss for itself"),
        ({"loss_reverse": "gilbert-elliott:p=0.1,r=0.5"}, "a switch draws each loss for itself"),
    ],
)
def test_what_a_switch_cannot_do_is_refused_in_one_line(values: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError) as refusal:
        switched(**values)
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_the_fec_model_is_live_on_switches_alone() -> None:
    assert switched(protection="fec-model:5/5").protection.value["h"] == 5
    with pytest.raises(UserError, match="a model of the simulator"):
        lab_settings(protection="fec-model:5/5")


@pytest.mark.parametrize(
    ("rate_bps", "mtu_bytes", "frames"),
    [(12_304, 1500, 1), (12_303, 1500, 1), (24_608, 1500, 2), (6 * 10**6, 1500, 487)],
)
def test_a_rate_is_full_frames_a_second(rate_bps: int, mtu_bytes: int, frames: int) -> None:
    assert packets_per_second(switched(rate_bps=rate_bps, mtu_bytes=mtu_bytes)) == frames


@pytest.mark.parametrize(
    ("protection", "sw2", "sw6"),
    [
        # The published receiver corrupts what it receives, the model of FEC what it sends.
        ("lg", ("reverse", 0.25), ("forward", 0.5)),
        ("none", ("reverse", 0.25), ("forward", 0.5)),
        ("fec-model:5/1", ("forward", 0.5), ("reverse", 0.25)),
    ],
)
def test_each_switch_corrupts_one_direction(
    protection: str, sw2: tuple[str, float], sw6: tuple[str, float]
) -> None:
    settings = switched(protection=protection, loss_forward="0.5", loss_reverse="0.25", queue_bytes=15_380)
    told = configurations(LabDirectory(), settings)
    assert {box: (config["direction"], config["loss_ratio"]) for box, config in told.items()} == {
        "sw2": sw2,
        "sw6": sw6,
    }
    assert {config["pace"]["queue_frames"] for config in told.values()} == {10}


def test_switches_have_a_cable_to_each_other_and_to_their_control_planes() -> None:
    lines = list(cables("lossylink-"))
    assert len(lines) == 3
    assert sum("trunk" in line for line in lines) == 1


def test_a_missing_compiler_is_one_line_with_its_mend(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "LOSSYLINK_P4"}
    for tool in ("ip", "ss", "ping", "ethtool", "nsenter", "unshare", "setsid"):
        (tmp_path / tool).write_text("#!/bin/sh\n")
        (tmp_path / tool).chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-m", "lossylink", "lab", "up", "--dataplane", "bmv2", "--name", "nobody"],
        env=environment | {"PATH": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "/dev/net/tun" in done.stderr:
        pytest.skip("no labs on this machine")
    assert done.returncode == 2
    assert "simple_switch is not in the PATH" in done.stderr
    assert "LOSSYLINK_P4=FOLDER" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
