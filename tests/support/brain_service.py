"""The process of a brain service: what the published one does, or what it is told to.

It keeps entries in a file and idempotency keys in memory for an hour, so a restart forgets the
keys and not the entries. A script makes the next requests of one route go wrong, each in one of
the ways of ``WAYS``. As a hub it behaves as our own server. Standard library only.
"""

from __future__ import annotations

import json
import os
import select
import socket
import ssl
import struct
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

TYPES = ("lesson", "milestone", "signal", "decision")
LIMIT = 4_096
WINDOW_S = 3_600


class Service:
    """Entries in a file, keys in memory, and what was scripted."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.store, self.hub, self.token = Path(config["store"]), config["hub"], config["token"]
        saved = json.loads(self.store.read_text()) if self.store.exists() else {}
        self.entries: list[dict[str, Any]] = saved.get("entries", [])
        self.graves: list[str] = saved.get("graves", [])
        self.seeded: dict[str, list[dict[str, Any]]] = {}
        self.keys: dict[str, tuple[float, dict[str, Any]]] = {}
        self.scripts: dict[str, list[str]] = {}
        self.forever: dict[str, str] = {}
        self.log: list[dict[str, Any]] = []

    def save(self) -> None:
        self.store.write_text(json.dumps({"entries": self.entries, "graves": self.graves}))

    def control(self, what: str, said: dict[str, Any]) -> Any:
        if what == "script":
            self.scripts.setdefault(said["route"], []).extend(said["ways"])
        elif what == "always":
            self.forever[said["route"]] = said["way"]
        elif what == "heal":
            self.scripts.clear()
            self.forever.clear()
        elif what == "seed":
            self.seeded.setdefault(said["list"], []).extend(said["rows"])
        return {"log": self.log, "entries": self.entries}.get(what, {})

    def way(self, route: str) -> str:
        queue = self.scripts.get(route)
        return queue.pop(0) if queue else self.forever.get(route, "")

    def answer(self, method: str, url: str, headers: dict[str, str], data: bytes) -> Answered:
        parts = urlsplit(url)
        route = f"{method} {parts.path}"
        if route == "GET /health":
            name = "brainhooks-hub" if self.hub else "brain-api"
            return 200, {"status": "ok", "service": name, "version": "1.4"}
        if headers.get("authorization") != f"Bearer {self.token}":
            return 401, {"detail": "unauthorized"}
        if route == "GET /feed":
            return 200, self.feed(parse_qs(parts.query).get("project", [""])[0])
        if route == "POST /marker":
            return self.marker(headers.get("x-idempotency-key", ""), data)
        if route == "POST /forget" and self.hub:
            return self.forget(json.loads(data)["key"])
        return 404, {"detail": "Not Found"}

    def feed(self, project: str) -> dict[str, Any]:
        lists = {name: [] for name in ("hot_arcs", "inject_blocks", "entries")}
        lists["entries"] = [
            {
                "id": f"entry-{number}",
                "title": entry["content"][:32],
                "content": entry["content"],
                "priority": 5,
                "ttl": None,
                "severity": entry["attrs"].get("severity", "info"),
                "metadata": {**entry["attrs"], "type": entry["type"]},
            }
            for number, entry in enumerate(self.entries)
            if not self.hub or entry["attrs"].get("project_id", "") == project
        ]
        for name, rows in self.seeded.items():
            lists[name] = lists[name] + rows
        count = sum(len(rows) for rows in lists.values())
        return {**lists, "generated_at": "2026-11-30T12:00:00Z", "hash": "x", "entry_count": count}

    def marker(self, key: str, data: bytes) -> Answered:
        try:
            said = json.loads(data)
            type_, content, attrs = said["type"], said["content"].strip(), said.get("attrs", {})
        except (ValueError, KeyError, AttributeError, TypeError):
            return 422, {"detail": "not a marker in JSON"}
        texts = isinstance(attrs, dict) and all(isinstance(v, str) for v in attrs.values())
        if type_ not in TYPES or not 1 <= len(content) <= LIMIT or not texts:
            return 400, {"ok": False, "error": "bad type, empty or too long"}
        known = self.keys.get(key)
        if key and known and (self.hub or time.monotonic() - known[0] < WINDOW_S):
            return self.replay(known[1], {"type": type_, "content": content})
        if self.hub and key in self.graves:
            return 201, {"ok": True, "idempotency_key": key, "forgotten": True}
        self.entries.append({"type": type_, "content": content, "attrs": attrs, "key": key})
        self.save()
        answer = {"ok": True, "idempotency_key": key, "id": f"entry-{len(self.entries) - 1}"}
        self.keys[key] = (time.monotonic(), {**answer, "type": type_, "content": content})
        return 201, answer

    def replay(self, first: dict[str, Any], now: dict[str, Any]) -> Answered:
        if self.hub and any(first[name] != now[name] for name in now):
            return 409, {"ok": False, "error": "same key, other body"}
        kept = {name: first[name] for name in ("ok", "idempotency_key", "id")}
        return 201, {**kept, "idempotent_replay": True}

    def forget(self, key: str) -> Answered:
        there = [entry for entry in self.entries if entry["key"] == key]
        self.entries = [entry for entry in self.entries if entry["key"] != key]
        self.graves.append(key)
        self.save()
        return (200, {"ok": True}) if there else (404, {"ok": False})


Answered = tuple[int, dict[str, Any]]


class Handler(BaseHTTPRequestHandler):
    service: Service
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *args: object) -> None:
        """Keep the test's output quiet."""

    def handle_any(self) -> None:
        data = self.rfile.read(int(self.headers.get("content-length") or 0))
        route = f"{self.command} {urlsplit(self.path).path}"
        headers = {name.lower(): value for name, value in self.headers.items()}
        row = {"route": route, "path": self.path, "headers": headers}
        row |= {"body": data.decode("utf-8", "replace"), "connection": self.client_address[1]}
        self.service.log.append(row)
        way, _, more = self.service.way(route).partition(":")
        WAYS[way](self, more, lambda: self.service.answer(self.command, self.path, headers, data))

    do_GET = do_POST = handle_any  # noqa: N815 - the names are http.server's

    def send(self, status: int, body: bytes, *more: tuple[str, str], length: str = "") -> None:
        self.send_response(status)
        for name, value in (("Content-Type", "application/json"), *more):
            self.send_header(name, value)
        self.send_header("Content-Length", length or str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def raw(self, data: bytes) -> None:
        self.wfile.write(data)
        self.close_connection = True

    def until_gone(self, every_s: float | None = None, send: bytes = b"") -> None:
        """Wait until the client gives up, sending ``send`` every ``every_s`` seconds."""
        self.close_connection = True
        while True:
            if select.select([self.connection], [], [], every_s)[0]:
                return
            try:
                self.wfile.write(send)
            except OSError:
                return


def _well(handler: Handler, more: str, answer: Any) -> None:
    status, document = answer()
    handler.send(status, json.dumps(document).encode())


def _status(handler: Handler, more: str, answer: Any) -> None:
    handler.send(int(more), b'{"detail": "told to"}')


def _body(status: int, body: bytes) -> Any:
    return lambda handler, more, answer: handler.send(status, body)


def _raw(data: bytes) -> Any:
    return lambda handler, more, answer: handler.raw(data)


def _redirect(handler: Handler, more: str, answer: Any) -> None:
    status, _, where = more.partition(":")
    handler.send(int(status), b"", ("Location", where))


def _huge(handler: Handler, more: str, answer: Any) -> None:
    handler.close_connection = True
    piece = b"x" * 65_536
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
    try:
        while True:
            handler.wfile.write(piece)
    except OSError:
        return


def _drip(handler: Handler, more: str, answer: Any) -> None:
    handler.wfile.write(b"HTTP/1.1 201 Created\r\nContent-Length: 1000000\r\n\r\n")
    handler.until_gone(0.05, b"{")


def _drip_head(handler: Handler, more: str, answer: Any) -> None:
    handler.until_gone(0.05, b"H")


def _silent(handler: Handler, more: str, answer: Any) -> None:
    handler.until_gone()


def _half(handler: Handler, more: str, answer: Any) -> None:
    handler.wfile.write(b"HTTP/1.1 201 Cre")
    handler.until_gone()


def _reset(handler: Handler, more: str, answer: Any) -> None:
    linger = struct.pack("ii", 1, 0)
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    handler.close_connection = True
    os.dup2(os.open(os.devnull, os.O_RDWR), handler.connection.fileno())  # closes it with RST


def _store_then_silent(handler: Handler, more: str, answer: Any) -> None:
    answer()
    handler.until_gone()


def _store_then_die(handler: Handler, more: str, answer: Any) -> None:
    answer()
    os._exit(9)


def _close_after(handler: Handler, more: str, answer: Any) -> None:
    """Answer well and close without a word of it, as an idle time-out does."""
    _well(handler, more, answer)
    handler.close_connection = True


_OK = b'{"ok": true, "idempotency_key": "%s"}' % (b"0" * 32)
WAYS = {
    "": _well,
    "status": _status,
    "ok-false": _body(200, b'{"ok": false, "error": "disk full"}'),
    "queued": _body(200, b'{"ok": true, "queued": true}'),
    "accepted": _body(202, b'{"ok": true}'),
    "ok-text": _body(201, b'{"ok": "true"}'),
    "other-key": _body(201, _OK),
    "html": _body(200, b"<html><title>Sign in</title></html>"),
    "empty": _body(200, b""),
    "list": _body(201, b"[true]"),
    "deep": _body(201, b'{"ok":' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
    "not-utf-8": _body(201, b'{"ok": true, "x": "\xff\xfe"}'),
    "gzip": _body(201, b"\x1f\x8b\x08\x00garbage"),
    "torn": _raw(b'HTTP/1.1 201 Created\r\nContent-Length: 900\r\n\r\n{"ok": true}'),
    "minus-length": _raw(b'HTTP/1.1 201 C\r\nContent-Length: -1\r\n\r\n{"ok": true}'),
    "word-length": _raw(b'HTTP/1.1 201 C\r\nContent-Length: 0xc\r\n\r\n{"ok": true}'),
    "two-lengths": _raw(
        b'HTTP/1.1 201 C\r\nContent-Length: 12\r\nContent-Length: 99\r\n\r\n{"ok": true}'
    ),
    "bad-chunks": _raw(b"HTTP/1.1 201 C\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n"),
    "minus-chunk": _raw(b"HTTP/1.1 201 C\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n{}\r\n"),
    "claims-a-lot": _raw(b"HTTP/1.1 201 C\r\nContent-Length: 99999999999999999\r\n\r\n{}"),
    "chunk-claims-a-lot": _raw(
        b"HTTP/1.1 201 C\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffff\r\n{}"
    ),
    "no-http": _raw(b"220 mail.example.org ESMTP\r\n"),
    "hundreds": _raw(b"HTTP/1.1 201 C\r\n" + b"X-A: b\r\n" * 500 + b"\r\n{}"),
    "endless-head": _raw(b"HTTP/1.1 201 C\r\nX-A: " + b"b" * 200_000 + b"\r\n\r\n{}"),
    "closed": _raw(b""),
    "redirect": _redirect,
    "huge": _huge,
    "drip": _drip,
    "drip-head": _drip_head,
    "silent": _silent,
    "half": _half,
    "reset": _reset,
    "store-silent": _store_then_silent,
    "store-die": _store_then_die,
    "close-after": _close_after,
}


class ControlHandler(BaseHTTPRequestHandler):
    """On a port of its own, so that no script is in its way and it is in no log."""

    service: Service

    def log_message(self, *args: object) -> None:
        """Keep the test's output quiet."""

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers["content-length"]))
        found = self.service.control(self.path.rpartition("/")[2], json.loads(data))
        body = json.dumps(found).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main() -> None:
    config = json.loads(sys.stdin.readline())
    service = Service(config)
    handler = type("Bound", (Handler,), {"service": service})
    server = ThreadingHTTPServer(("127.0.0.1", config["port"]), handler)
    server.daemon_threads = True
    if config["tls"]:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(config["tls"])
        server.socket = context.wrap_socket(server.socket, server_side=True)
    bound = type("BoundControl", (ControlHandler,), {"service": service})
    control = ThreadingHTTPServer(("127.0.0.1", 0), bound)
    control.daemon_threads = True
    threading.Thread(target=control.serve_forever, daemon=True).start()
    sys.stdout.write(f"{server.server_address[1]} {control.server_address[1]}\n")
    sys.stdout.flush()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()  # ends with the parent


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from tests.support.forked import serve

    serve(main)
