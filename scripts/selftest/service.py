"""A brain service for the self-test: a process of its own that fails in the way it is told.

Started by path, isolated; standard library only. One line of JSON on stdin says where it works
(``folder``), its ``port`` (0: any) and its ``token``; it answers with the port and ends when
stdin does. Entries are a file and outlive it, idempotency keys are memory and do not. The file
``way`` names how to fail; each failure adds a byte to ``failures``.
"""

from __future__ import annotations

import json
import os
import select
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ENTRIES, WAY, FAILURES = "entries.jsonl", "way", "failures"
MARKER, FEED, HEALTH = "POST /marker", "GET /feed", "GET /health"
# What is stored though nobody hears of it fails for markers alone: the feed shows it.
REFUSING = ("busy", "drip", "page")
STORING = ("silent", "torn")
_DRIP_S = 0.05


class Service:
    """What all connections share."""

    def __init__(self, folder: str, token: str) -> None:
        self.folder, self.token = folder, token
        self.keys: set[str] = set()
        self.lock = threading.Lock()
        self.entries = [json.loads(line) for line in self.read(ENTRIES).splitlines()]

    def read(self, name: str) -> bytes:
        try:
            with open(os.path.join(self.folder, name), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return b""

    def add(self, name: str, data: bytes) -> None:
        with open(os.path.join(self.folder, name), "ab") as file:
            file.write(data)

    def answer(self, route: str, token: str, key: str, data: bytes) -> tuple[int, dict[str, Any]]:
        if route == HEALTH:
            return 200, {"status": "ok", "service": "brainhooks-selftest", "version": "1"}
        if token != f"Bearer {self.token}":
            return 401, {"detail": "unauthorized"}
        with self.lock:
            if route == FEED:
                rows = [_row(number, one) for number, one in enumerate(self.entries)]
                return 200, {"hot_arcs": [], "inject_blocks": [], "entries": rows}
            if route == MARKER:
                return 201, self.marker(key, json.loads(data))
        return 404, {"detail": "not found"}

    def marker(self, key: str, said: dict[str, Any]) -> dict[str, Any]:
        replay = key in self.keys
        if not replay:
            self.add(ENTRIES, json.dumps(said).encode() + b"\n")
            self.entries.append(said)
            self.keys.add(key)
        return {"ok": True, "idempotency_key": key, "idempotent_replay": replay}


def _row(number: int, said: dict[str, Any]) -> dict[str, Any]:
    attrs = said.get("attrs", {})
    found = {"id": f"entry-{number}", "title": "", "content": said["content"], "priority": 5}
    return {**found, "metadata": {**attrs, "type": said["type"]}}


class Handler(BaseHTTPRequestHandler):
    service: Service
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *args: object) -> None:
        """Keep stderr for what is wrong."""

    def any_route(self) -> None:
        data = self.rfile.read(int(self.headers.get("content-length") or 0))
        route = f"{self.command} {self.path.partition('?')[0]}"
        way = self.service.read(WAY).decode()
        if way in REFUSING or (way in STORING and route == MARKER):
            self.service.add(FAILURES, b".")
            self.close_connection = True
            if way in STORING:
                self._answer(route, data)
            _FAIL[way](self)
            return
        status, said = self._answer(route, data)
        self._send(status, json.dumps(said).encode())

    do_GET = do_POST = any_route  # noqa: N815 - the names are http.server's

    def _answer(self, route: str, data: bytes) -> tuple[int, dict[str, Any]]:
        token, key = (self.headers.get(n, "") for n in ("authorization", "x-idempotency-key"))
        return self.service.answer(route, token, key, data)

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def busy(self) -> None:
        self._send(503, b'{"detail": "told to"}')

    def page(self) -> None:
        self._send(200, b"<html><title>Sign in</title></html>")

    def torn(self) -> None:
        self.wfile.write(b'HTTP/1.1 201 Created\r\nContent-Length: 900\r\n\r\n{"ok": true}')

    def silent(self) -> None:
        select.select([self.connection], [], [])  # until the client gives up

    def drip(self) -> None:
        self.wfile.write(b"HTTP/1.1 201 Created\r\nContent-Length: 1000000\r\n\r\n")
        while not select.select([self.connection], [], [], _DRIP_S)[0]:
            self.wfile.write(b" ")


_FAIL = {
    "busy": Handler.busy,
    "page": Handler.page,
    "torn": Handler.torn,
    "silent": Handler.silent,
    "drip": Handler.drip,
}


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a client that was killed or gave up."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


def main() -> None:
    said = json.loads(sys.stdin.readline())
    service = Service(said["folder"], said["token"])
    server = Server(("127.0.0.1", said["port"]), type("Bound", (Handler,), {"service": service}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    sys.stdin.read()  # ends with whoever started us


if __name__ == "__main__":
    main()
