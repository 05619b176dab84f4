"""The page is served to this machine: its folder alone, with the types that a browser needs, until Ctrl-C."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lossylink.cli import explore
from lossylink.errors import UserError
from lossylink.planning.explorer.serving import PageServer

from .conftest import Ended

HELLO = "<!doctype html><title>hello</title>"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    page = tmp_path / "page"
    (page / "pictures").mkdir(parents=True)
    (page / "index.html").write_text(HELLO)
    (page / "pictures" / "one.svg").write_text("<svg/>")
    (tmp_path / "secret.txt").write_text("secret")
    (page / "way-out").symlink_to(tmp_path)
    return page


@pytest.fixture
def server(folder: Path) -> Iterator[PageServer]:
    with PageServer(folder, made={"catalogue.json": '{"made": "just now"}'}) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def ask(server: PageServer, path: str, method: str = "GET") -> tuple[int, dict[str, str], str]:
    """Ask as no browser would: the path goes out as it stands."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    try:
        connection.request(method, path)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read().decode()
    finally:
        connection.close()


def test_the_page_and_its_files_are_served_with_their_types(server: PageServer) -> None:
    status, headers, body = ask(server, "/")
    assert (status, body) == (200, HELLO)
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["Cache-Control"] == "no-store"
    assert ask(server, "/index.html?version=2#link")[2] == HELLO
    assert ask(server, "/pictures/one.svg")[1]["Content-Type"] == "image/svg+xml"
    assert server.address == f"http://127.0.0.1:{server.server_port}/"


def test_a_text_that_was_made_stands_before_the_files(server: PageServer, folder: Path) -> None:
    (folder / "catalogue.json").write_text("{}")
    status, headers, body = ask(server, "/catalogue.json")
    assert (status, headers["Content-Type"]) == (200, "application/json")
    assert json.loads(body) == {"made": "just now"}


@pytest.mark.parametrize(
    "path",
    [
        *("/nothing", "/pictures", "/pictures/", "/."),
        *("/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/pictures/../../secret.txt"),
        *("//etc/passwd", "/way-out/secret.txt", "/%00", "/" + "a" * 5000),
    ],
)
def test_nothing_else_is_served(server: PageServer, path: str) -> None:
    assert ask(server, path)[0] == 404


def test_nobody_writes(server: PageServer) -> None:
    assert ask(server, "/", "POST")[0] == 501


def test_the_server_says_nothing(server: PageServer, capsys: pytest.CaptureFixture[str]) -> None:
    ask(server, "/nothing")
    with socket.create_connection(("127.0.0.1", server.server_port)) as silent:
        silent.sendall(b"GET / HTTP/1.1\r\n")
    assert capsys.readouterr() == ("", "")


def test_a_port_that_is_taken_is_a_mistake_of_one_line(server: PageServer, folder: Path) -> None:
    with pytest.raises(UserError, match=f"port {server.server_port}: .* give another --port"):
        PageServer(folder, port=server.server_port)


def test_a_checkout_without_the_page_says_how_to_make_it(
    command: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(explore, "PAGE", tmp_path)
    for words in (("explore",), ("explore", "--folder"), ("explore", "tcp-fct")):
        ended = command(*words)
        assert ended.code == 2
        assert "`make web` builds it" in ended.err
        assert ended.err.count("\n") == 1


def test_the_command_says_where_the_folder_is(
    command: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setattr(explore, "PAGE", folder)
    assert command("explore", "--folder").out == f"{folder}\n"


def test_settings_without_a_scenario_are_refused(
    command: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setattr(explore, "PAGE", folder)
    ended = command("explore", "--set", "link.rate=25G")
    assert (ended.code, ended.out) == (2, "")
    assert "--set changes a scenario" in ended.err


@pytest.mark.parametrize("no_browser", [True, False])
def test_the_command_serves_until_it_is_interrupted(
    no_browser: bool, command: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    opened = threading.Event()
    addresses = []

    def browse(address: str) -> None:
        addresses.append(address)
        opened.set()

    def interrupted(server: PageServer) -> None:
        assert no_browser or opened.wait(10)
        raise KeyboardInterrupt

    monkeypatch.setattr(explore, "PAGE", folder)
    monkeypatch.setattr("webbrowser.open", browse)
    monkeypatch.setattr(PageServer, "serve_forever", interrupted)
    ended = command("explore", *(["--no-browser"] if no_browser else []))
    first, last = ended.out.splitlines()
    assert (ended.code, ended.err, last) == (0, "", "the explorer is closed")
    assert first.startswith("the explorer is at http://127.0.0.1:")
    assert addresses == ([] if no_browser else [first.split()[4]])


def test_a_scenario_without_a_view_is_refused(
    command: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setattr(explore, "PAGE", folder)
    ended = command("explore", "mathis")
    assert ended.code == 2
    assert ended.err == (
        "error: the explorer does not show mathis; it shows tcp-fct, rdma-fct, stress, fabric\n"
    )
