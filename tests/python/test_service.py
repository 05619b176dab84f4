"""The guard as a service: its configuration file, its unit, its metrics, its dashboard."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lossylink.cli.app import app
from lossylink.cli.guards import guard as guard_cli
from lossylink.linux.lab.plane import PlaneClient
from lossylink.linux.service import metrics
from lossylink.linux.service import unit as service_unit
from lossylink.linux.service.files import OurFile
from lossylink.linux.service.metrics import MetricsServer

from .conftest import Ended

Command = Callable[..., Ended]

_FILE = """
[eth2]
lan = "eth1"
link = "eth2"
protection = "fec:25/5"
rate = "100Mbps"
mtu = 9000
fifo = false
key_file = "link.key"

[spare]
lan = "eth3"
link = "eth4"
"""


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What data planes are told in place of being run."""
    configurations: list[dict[str, Any]] = []
    monkeypatch.setattr(guard_cli, "serve", lambda config, *_, **__: configurations.append(config))
    monkeypatch.setattr(guard_cli, "require_interfaces", lambda _: None)
    return configurations


def _file(folder: Path, text: str) -> str:
    path = folder / "guard.toml"
    path.write_text(text)
    return str(path)


def test_a_file_stands_behind_the_command_line(
    command: Command, tmp_path: Path, told: list[dict[str, Any]]
) -> None:
    file = _file(tmp_path, _FILE)
    assert command("guard", "--config", file, "--name", "eth2").code == 0
    assert command("guard", "--mtu", "1500", "--name", "eth2", "--fifo", "--config", file).code == 0
    assert command("guard", "--config", file, "--name", "spare").code == 0
    whole, changed, spare = told
    role = whole["role"]["guard"]
    assert (role["lan"], role["link"], role["rate_bps"]) == ("eth1", "eth2", 100_000_000)
    assert role["protection"]["family"] == "fec"
    assert (whole["mtu_bytes"], whole["fifo_priority"]) == (9000, None)
    # Wherever it is started: the path is meant from where it is written.
    assert whole["key_file"] == str(tmp_path / "link.key")
    assert whole["control"].endswith("/guard-eth2.sock")
    assert (changed["mtu_bytes"], changed["fifo_priority"]) == (1500, 40)
    assert changed["role"] == whole["role"]
    assert (spare["role"]["guard"]["lan"], spare["mtu_bytes"]) == ("eth3", 1500)
    assert "key_file" not in spare


def test_the_only_guard_of_a_file_needs_no_name(
    command: Command, tmp_path: Path, told: list[dict[str, Any]]
) -> None:
    file = _file(tmp_path, '[only]\nlan = "eth1"\nlink = "eth2"\n')
    assert command("guard", "--config", file).code == 0
    assert told[0]["role"]["guard"]["link"] == "eth2"


@pytest.mark.parametrize(
    ("text", "name", "mistake"),
    [
        ('[a]\nlan = "x"\nlnk = "y"\n', "a", "guard.toml: [a]: unknown key 'lnk'; did you mean 'link'?"),
        (
            '[a]\nmtu = "9000"\n',
            "a",
            "[a]: mtu = '9000' is of the wrong type; write a whole number",
        ),
        ("[a]\nmtu = true\n", "a", "mtu = True is of the wrong type"),
        ("[a]\nfifo = 1\n", "a", "fifo = 1 is of the wrong type; write true or false"),
        ("[a]\nrate = 1000\n", "a", "rate = 1000 is of the wrong type; write a text in quotes"),
        ("[a]\nkey_file = 7\n", "a", "key_file = 7 is of the wrong type; write a path in quotes"),
        ('[a]\nname = "b"\n', "a", "unknown key 'name'"),
        ('[a]\nlan = "x"\n', "a", "a guard needs --link"),
        ('lan = "x"\n', "a", "guard.toml: lan belongs to no guard; write it below a line [NAME]"),
        ("[eth2]\n[eth3]\n", "eht2", "unknown guard 'eht2'; did you mean 'eth2'?"),
        ("[eth2]\n[eth3]\n", None, "has 2 guards; give --name, one of eth2, eth3"),
        ("", None, "has 0 guards"),
        ("", "a", "has no guards; write a table [a] in it"),
        ("[a\n", "a", "guard.toml:1: "),
        ("[a]\n", "../a", "'../a' is no name for a guard"),
    ],
)
def test_a_mistake_in_a_file_is_one_line_with_file_and_key(
    command: Command, tmp_path: Path, text: str, name: str | None, mistake: str
) -> None:
    words = [] if name is None else ["--name", name]
    ended = command("guard", "--config", _file(tmp_path, text), *words)
    assert ended.code == 2
    assert mistake in ended.err
    assert ended.err.count("\n") == 1


def test_a_file_takes_every_option_of_the_command(command: Command, tmp_path: Path) -> None:
    options = {one.name for one in app.commands["guard"].params} - {"config", "name"}
    ended = command("guard", "--config", _file(tmp_path, "[a]\nx = 1\n"))
    assert set(ended.err.rpartition("Valid: ")[2].strip().split(", ")) == options


#: A program that every system has, in a folder that is open to everybody.
_PROGRAM = "/usr/bin/env"


def _installed_at(monkeypatch: pytest.MonkeyPatch, *, executable: str) -> None:
    """Let this Python be at a path, and the rest of what a guard needs where a service sees it."""
    monkeypatch.setattr(sys, "executable", executable)
    monkeypatch.setattr(sys, "base_prefix", "/usr")
    monkeypatch.setattr(service_unit, "_PACKAGE", Path("/usr/lib/lossylink"))


_UNIT, _CONFIG = "etc/systemd/system/lossylink-guard@.service", "etc/lossylink/guard.toml"


@pytest.fixture
def install(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ended]:
    """Install below a prefix of the test's own, as if a service saw lossylink and its Python."""
    _installed_at(monkeypatch, executable=_PROGRAM)
    return lambda *words: command("guard", "install", "--prefix", str(tmp_path / "root"), *words)


def _settings(text: str) -> dict[str, list[str]]:
    """Return the settings of a unit."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            found.setdefault(key, []).append(value)
    return found


def test_install_writes_a_unit_and_a_guard_that_the_unit_finds(
    install: Callable[..., Ended], command: Command, tmp_path: Path, told: list[dict[str, Any]]
) -> None:
    ended = install("--lan", "eth1", "--link", "eth2", "-p", "lg:copies=3", "--mtu", "9000", "--rate", "1G")
    assert ended.code == 0, ended.err
    assert ended.out.splitlines()[-1].strip() == "systemctl enable --now lossylink-guard@eth2"
    (start,) = _settings((tmp_path / "root" / _UNIT).read_text())["ExecStart"]
    python, module, name, *words = start.split()
    assert (python, module, name) == (_PROGRAM, "-m", "lossylink")
    # What systemd makes of the unit's words for the instance eth2, with the file where the test has put it.
    words = [word.replace("%i", "eth2").replace("/etc", f"{tmp_path}/root/etc") for word in words]
    assert command(*words).code == 0
    assert told[0]["role"]["guard"]["link"] == "eth2"
    assert told[0]["role"]["guard"]["protection"]["copies"] == 3
    assert (told[0]["mtu_bytes"], told[0]["role"]["guard"]["rate_bps"]) == (9000, 10**9)


def test_a_guard_over_a_path_is_installed_and_found(
    install: Callable[..., Ended], command: Command, tmp_path: Path, told: list[dict[str, Any]]
) -> None:
    path = ("--udp", "192.0.2.7:5000", "--key-file", "/etc/lossylink/path.key")
    ended = install("--lan", "eth1", *path)
    assert ended.code == 0, ended.err
    assert ended.out.splitlines()[-1].strip() == "systemctl enable --now lossylink-guard@eth1"
    assert command("guard", "--config", str(tmp_path / "root" / _CONFIG), "--name", "eth1").code == 0
    assert told[0]["role"]["guard"]["link"] == "udp:192.0.2.7:5000"
    assert told[0]["role"]["guard"]["protection"] == {"family": "routed"}
    shown = install("--tun", "over0", "--address", "10.9.0.1/30", *path, "--print").out
    assert '[over0]\nudp = "192.0.2.7:5000"\ntun = "over0"\naddress = "10.9.0.1/30"\n' in shown


def test_what_is_installed_twice_stays(install: Callable[..., Ended], tmp_path: Path) -> None:
    guard = ("--lan", "eth1", "--link", "eth2")
    assert install(*guard).code == 0
    texts = [(tmp_path / "root" / name).read_bytes() for name in (_UNIT, _CONFIG)]
    again = install(*guard)
    assert again.code == 0
    assert "is up to date" in again.out
    assert "stays as it is" in again.out
    assert [(tmp_path / "root" / name).read_bytes() for name in (_UNIT, _CONFIG)] == texts


def test_a_unit_that_somebody_has_changed_is_neither_overwritten_nor_removed(
    install: Callable[..., Ended], command: Command, tmp_path: Path
) -> None:
    install()
    unit = tmp_path / "root" / _UNIT
    changed = unit.read_text().replace("RestartSec=5", "RestartSec=60")
    unit.write_text(changed)
    ended = install()
    assert ended.code == 2
    assert "-RestartSec=60" in ended.out.splitlines()
    assert "+RestartSec=5" in ended.out.splitlines()
    assert "was changed and stays; move it away" in ended.err
    removal = command("guard", "uninstall", "--prefix", str(tmp_path / "root"))
    assert f"{unit} was changed and stays" in removal.out
    assert unit.read_text() == changed


def test_a_unit_of_an_earlier_version_is_renewed(install: Callable[..., Ended], tmp_path: Path) -> None:
    earlier = OurFile(tmp_path / "root" / _UNIT, "[Service]\nExecStart=lossylink guard\n")
    earlier.write()
    ended = install()
    assert ended.code == 0
    assert f"{earlier.path} renewed" in ended.out
    assert "WatchdogSec" in earlier.path.read_text()


def test_a_configuration_is_never_overwritten(install: Callable[..., Ended], tmp_path: Path) -> None:
    config = tmp_path / "root" / _CONFIG
    config.parent.mkdir(parents=True)
    text = '[eth2]\nlan = "eth1"\nlink = "eth2"\nmtu = 1500\n'
    config.write_text(text)
    other = install("--lan", "eth1", "--link", "eth2", "--mtu", "9000")
    assert other.code == 2
    assert "mtu: 1500 in the file, 9000 wanted" in other.out
    missing = install("--lan", "eth3", "--link", "eth4")
    assert missing.code == 2
    assert '[eth4]\nlan = "eth3"\nlink = "eth4"\n' in missing.out
    assert f"{config} stays as it is, and has no guard eth4" in missing.err
    assert install("--lan", "eth1", "--link", "eth2", "--mtu", "1500").code == 0
    assert config.read_text() == text


def test_uninstall_removes_what_install_wrote(
    install: Callable[..., Ended], command: Command, tmp_path: Path
) -> None:
    install("--lan", "eth1", "--link", "eth2")
    ended = command("guard", "uninstall", "--prefix", str(tmp_path / "root"))
    assert ended.code == 0
    assert [path for path in (tmp_path / "root").rglob("*") if path.is_file()] == []
    assert command("guard", "uninstall", "--prefix", str(tmp_path / "root")).code == 0


def test_a_guard_that_decides_by_itself_is_installed(install: Callable[..., Ended]) -> None:
    assert "auto = true" in install("--print", "--lan", "eth1", "--link", "eth2", "--auto").out.splitlines()


def test_print_writes_nothing(install: Callable[..., Ended], tmp_path: Path) -> None:
    ended = install("--print", "--lan", "eth1", "--link", "eth2")
    assert ended.code == 0
    assert not (tmp_path / "root").exists()
    install("--lan", "eth1", "--link", "eth2")
    for name in (_UNIT, _CONFIG):
        assert (tmp_path / "root" / name).read_text() in ended.out


@pytest.mark.parametrize(
    ("words", "mistake"),
    [
        (["--lan", "eth1"], "a guard needs --link"),
        (["--tun", "over0", "--lan", "eth1", "--link", "eth2"], "give --udp PEER:PORT"),
        (["--tun", "over0", "--udp", "192.0.2.7:5000"], "give both guards the same --key-file"),
        (["--udp", "192.0.2.7:5000", "--lan", "eth1", "--key-file", "k", "-p", "lg"], "lg is for links"),
        (["--lan", "a", "--link", "b", "-p", "lgg"], "lgg"),
        (["--lan", "a", "--link", "b", "-p", "lg", "--auto"], "leave --protection out"),
        (["--lan", "a", "--link", "b", "--rate", "fast"], "fast"),
        (["--lan", "a", "--link", "b", "--metrics", "here"], "--metrics here"),
        (["--lan", "a", "--link", "xdp:b"], "'xdp:b' is no name for a guard"),
    ],
)
def test_a_guard_that_could_not_start_is_not_installed(
    install: Callable[..., Ended], tmp_path: Path, words: list[str], mistake: str
) -> None:
    ended = install(*words)
    assert ended.code == 2
    assert mistake in ended.err
    assert not (tmp_path / "root").exists()


def test_a_folder_that_a_service_does_not_see_is_refused(
    install: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    _installed_at(monkeypatch, executable="/tmp/venv/bin/python")
    ended = install()
    assert ended.code == 2
    assert "a service does not see /tmp/venv/bin/python" in ended.err


@pytest.mark.parametrize(
    ("owner", "mode", "is_closed"), [(1000, 0o750, True), (1000, 0o755, False), (0, 0o700, False)]
)
def test_a_home_that_is_closed_to_others_is_refused(
    install: Callable[..., Ended],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    owner: int,
    mode: int,
    is_closed: bool,
) -> None:
    """The root of a service may not pass over permissions, but owns what is root's."""
    home, ordinary = Path("/home/me"), Path.stat

    def stat(path: Path, **options: Any) -> os.stat_result:
        if not path.is_relative_to(home):
            return ordinary(path, **options)
        return os.stat_result((0o40000 | mode, 0, 0, 1, owner, owner, 0, 0, 0, 0))

    _installed_at(monkeypatch, executable=f"{home}/.venv/bin/python")
    monkeypatch.setattr(Path, "stat", stat)
    ended = install("--lan", "eth1", "--link", "eth2")
    assert ended.code == (2 if is_closed else 0), ended.err
    assert ("is closed to a service" in ended.err) is is_closed
    assert (tmp_path / "root" / _UNIT).exists() is not is_closed


def test_a_unit_names_a_program_whose_path_has_a_space(
    install: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    _installed_at(monkeypatch, executable="/usr/bin/a 100% python")
    shown = install("--lan", "eth1", "--link", "eth2", "--print").out
    (start,) = _settings(shown)["ExecStart"]
    assert start.startswith('"/usr/bin/a 100%% python" -m lossylink guard')


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_understands_the_unit(install: Callable[..., Ended], tmp_path: Path) -> None:
    install()
    unit = tmp_path / "root" / _UNIT
    check = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(unit)]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    unit.write_text(unit.read_text().replace("WatchdogSec=", "WatchdogSecs="))
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert "WatchdogSecs" in done.stderr


def test_a_dashboard_is_laid_out_without_overlap(command: Command) -> None:
    shown = json.loads(command("guard", "dashboard").out)
    places = [panel["gridPos"] for panel in shown["panels"]]
    cells = [
        (x, y)
        for place in places
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in shown["panels"]}) == len(shown["panels"])
    for panel in shown["panels"]:
        assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"])


@contextmanager
def _control(path: Path, answer: str) -> Iterator[PlaneClient]:
    """A control socket that gives everybody this answer; nothing but silence if it is empty."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        kept: list[socket.socket] = []

        def serve() -> None:
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                client.recv(1 << 16)
                if answer:
                    client.sendall(answer.encode())
                    client.close()
                else:
                    kept.append(client)

        threading.Thread(target=serve, daemon=True).start()
        try:
            yield PlaneClient(path)
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            for client in kept:
                client.close()


_SAMPLE = "lossylink_uptime_seconds 2.5\n"
_PAGE = f"HTTP/1.0 200 OK\r\nContent-Length: {len(_SAMPLE)}\r\n\r\n{_SAMPLE}"


@contextmanager
def _served(plane: PlaneClient, address: str = "127.0.0.1") -> Iterator[MetricsServer]:
    with MetricsServer((address, 0), plane) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()


def _get(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=30) as page:
            return page.status, page.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_metrics_have_one_address(tmp_path: Path) -> None:
    with _control(tmp_path / "x.sock", _PAGE) as plane, _served(plane) as server:
        assert _get(server.url) == (200, _SAMPLE)
        assert _get(f"{server.url}?name[]=up") == (200, _SAMPLE)
        for path in ("/", "/metric", "/metrics/x", "/../metrics"):
            assert _get(server.url.replace("/metrics", path))[0] == 404


def test_a_guard_that_is_not_there_has_no_metrics(tmp_path: Path) -> None:
    with _served(PlaneClient(tmp_path / "none.sock")) as server:
        assert _get(server.url) == (503, "the guard does not answer\n")
    empty = "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"
    with _control(tmp_path / "x.sock", empty) as plane, _served(plane) as server:
        assert _get(server.url)[0] == 503


def test_clients_that_say_nothing_hold_nobody_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics._Page, "timeout", None)
    with _control(tmp_path / "x.sock", _PAGE) as plane, _served(plane) as server:
        silent = [socket.create_connection(("127.0.0.1", server.server_port)) for _ in range(40)]
        assert _get(server.url) == (200, _SAMPLE)
        # Forty clients do not make forty threads: who came first has made room, and not for its silence.
        silent[0].settimeout(30)
        assert silent[0].recv(1) == b""
        for client in silent:
            client.close()


def test_a_request_without_end_is_refused(tmp_path: Path) -> None:
    with _control(tmp_path / "x.sock", _PAGE) as plane, _served(plane) as server:
        with socket.create_connection(("127.0.0.1", server.server_port), timeout=30) as client:
            client.sendall(b"GET /" + 70_000 * b"x")
            assert client.recv(100).split()[1] == b"414"
        assert _get(server.url) == (200, _SAMPLE)


@pytest.mark.parametrize("address", ["", "x", "127.0.0.1", "127.0.0.1:70000", "localhost:9:9", "1:-2"])
def test_an_address_that_is_none_is_refused(
    command: Command, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setattr(guard_cli, "require_interfaces", lambda _: None)
    ended = command("guard", "--lan", "a", "--link", "b", "--metrics", address)
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert f"--metrics {address}" in ended.err


def test_an_address_in_use_is_refused(tmp_path: Path) -> None:
    plane = PlaneClient(tmp_path / "none.sock")
    with _served(plane) as server, pytest.raises(ValueError, match="Address already in use; give --metrics"):
        MetricsServer(("127.0.0.1", server.server_port), plane)
