"""Prometheus text over TCP: what a guard tells its owner, for a monitor that scrapes."""

from __future__ import annotations

import re
import socket
import threading
from collections import deque
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any

from lossylink.errors import RunError, UserError
from lossylink.linux.lab.plane import PlaneClient

#: Clients that are served at once; the control socket has places for twice as many.
_CLIENTS = 8
#: How long a client may say nothing, in seconds.
_SILENCE_SECONDS = 5.0
_LOOPBACK = "127.0.0.1"
_ADDRESS = re.compile(r"(?:(?:\[(?P<six>[^]]*)\]|(?P<four>[^:]*)):)?(?P<port>\d{1,5})")


def read_address(text: str) -> tuple[str, int]:
    """Read an address to listen at; a port alone is one of the loopback interface.

    Raises
    ------
    UserError
        It is none.

    Examples
    --------
    >>> read_address("9464"), read_address("192.0.2.1:9464"), read_address("[::1]:9464")
    (('127.0.0.1', 9464), ('192.0.2.1', 9464), ('::1', 9464))
    """
    match = _ADDRESS.fullmatch(text)
    if match is None or int(match["port"]) >= 2**16:
        raise UserError(f"--metrics {text}: write a port, or an address and a port: {_LOOPBACK}:9464")
    return match["six"] or match["four"] or _LOOPBACK, int(match["port"])


class MetricsServer(ThreadingHTTPServer):
    """Answers ``GET /metrics`` with what a data plane counts.

    When all places are taken, the client that came first makes room: who says nothing holds out nobody.
    """

    daemon_threads = True
    #: Who connects while others do is not kept waiting for a second try.
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], plane: PlaneClient) -> None:
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.plane = plane
        self._clients: deque[Any] = deque()
        self._changes = threading.Lock()
        try:
            super().__init__(address, _Page)
        except OSError as error:
            where = f"{address[0]} port {address[1]}"
            reason = error.strerror or error
            raise UserError(f"cannot listen at {where}: {reason}; give --metrics another address") from None

    @property
    def url(self) -> str:
        """Where the metrics are."""
        host, port = self.server_address[:2]
        return f"http://{f'[{host!s}]' if ':' in str(host) else host!s}:{port}/metrics"

    def server_bind(self) -> None:
        """Bind without asking the name service who we are."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a client beside the others."""
        with self._changes:
            self._clients.append(request)
            oldest = self._clients.popleft() if len(self._clients) > _CLIENTS else None
        if oldest is not None:
            with suppress(OSError):
                oldest.shutdown(socket.SHUT_RDWR)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forget a client that has been served."""
        with self._changes, suppress(ValueError):
            self._clients.remove(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: what a client does wrong is no event of the guard."""


class _Page(BaseHTTPRequestHandler):
    timeout = _SILENCE_SECONDS
    server: MetricsServer

    def do_GET(self) -> None:
        if self.path.partition("?")[0] != "/metrics":
            self._answer(HTTPStatus.NOT_FOUND, "the counters are at /metrics\n")
            return
        try:
            text = self.server.plane.prometheus()
        except RunError:
            text = ""
        if text:
            self._answer(HTTPStatus.OK, text, "text/plain; version=0.0.4; charset=utf-8")
        else:
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE, "the guard does not answer\n")

    def _answer(self, status: HTTPStatus, text: str, kind: str = "text/plain; charset=utf-8") -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing: a scrape every few seconds is no event of the guard."""
