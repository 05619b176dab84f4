"""The page on this machine alone: a folder over HTTP on the loopback interface, and texts made for it."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from lossylink.errors import UserError

LOOPBACK: Final = "127.0.0.1"
INDEX: Final = "index.html"
#: What a browser must know of a file, by its suffix.
_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
}
_UNKNOWN: Final = "application/octet-stream"
#: How long a client may say nothing, in seconds.
_SILENCE_SECONDS: Final = 30.0


class PageServer(ThreadingHTTPServer):
    """Serves the files of one folder, and texts that are in no file, to browsers on this machine.

    Parameters
    ----------
    folder
        What lies below it is served, and nothing else.
    port
        Where to listen; 0 takes a free one.
    made
        Texts by their names, which stand before the files.

    Raises
    ------
    UserError
        The folder has no page, or nobody can listen at the port.
    """

    daemon_threads = True

    def __init__(self, folder: Path, *, port: int = 0, made: Mapping[str, str] | None = None) -> None:
        self.folder = require_page(folder).resolve()
        self.made = {name: text.encode() for name, text in (made or {}).items()}
        try:
            super().__init__((LOOPBACK, port), _Files)
        except OSError as error:
            reason = error.strerror or error
            raise UserError(
                f"cannot listen at {LOOPBACK} port {port}: {reason}; give another --port, or leave it out"
            ) from None

    @property
    def address(self) -> str:
        """What a browser opens."""
        return f"http://{LOOPBACK}:{self.server_address[1]}/"

    def server_bind(self) -> None:
        """Bind without asking the name service who we are."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a browser that goes away is no event."""

    def content(self, path: str) -> tuple[bytes, str] | None:
        """Return what lies at a path, and its type; nothing where there is nothing to serve."""
        name = unquote(urlsplit(path).path).lstrip("/") or INDEX
        kind = _TYPES.get(Path(name).suffix, _UNKNOWN)
        if name in self.made:
            return self.made[name], kind
        try:
            file = (self.folder / name).resolve()
            if not (file.is_relative_to(self.folder) and file.is_file()):
                return None
            return file.read_bytes(), kind
        except (OSError, ValueError):  # a name that no file can have
            return None


def require_page(folder: Path) -> Path:
    """Return a folder that has the page.

    Raises
    ------
    UserError
        It has none.
    """
    if not (folder / INDEX).is_file():
        raise UserError(
            f"the page of the explorer is not there ({folder / INDEX}): `make web` builds it in a checkout, "
            "and a wheel brings it"
        )
    return folder


class _Files(BaseHTTPRequestHandler):
    """Answers one browser."""

    timeout = _SILENCE_SECONDS
    server: PageServer

    def do_GET(self) -> None:
        found = self.server.content(self.path)
        status = HTTPStatus.NOT_FOUND if found is None else HTTPStatus.OK
        body, kind = found or (b"there is nothing here\n", _TYPES[".txt"])
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002
        """Say nothing: what a browser asks for is no event."""
