"""What a brain service answers: any bytes on the wire, any JSON in the body."""

from __future__ import annotations

import socket

from hooks.context.brains.http_address import Address
from hooks.context.brains.http_connection import Connection, Deadline
from hooks.context.brains.http_items import Reader, everywhere, of_project, read_rows, waiting
from hooks.context.brains.http_wire import parse_ack, parse_feed, parse_health
from hooks.errors import BrainUnreachable
from scripts.swarm_v2.wire_json import dumps

_READY = 1 << 19  # of a socket pair; an input is at most 64 KiB


class _Graves:
    """Nothing was forgotten."""

    def holds(self, *_named: str) -> bool:
        return False


class _Wire(Connection):
    """A connection whose other end said ``data`` and then closed."""

    def __init__(self, data: bytes) -> None:
        super().__init__(Address("http", "127.0.0.1", 1, ""), timeout_s=5)
        self.data = data
        self.other: socket.socket | None = None

    def _open(self, deadline: Deadline) -> socket.socket:
        ours, self.other = socket.socketpair()
        self.other.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _READY)
        self.other.sendall(self.data)
        self.other.shutdown(socket.SHUT_WR)
        return ours


def http_answer(data: bytes) -> object:
    head, _, body = data.rpartition(b"\r\n\r\n")
    return _asked(data) if head else None, _body(body)


def _asked(data: bytes) -> object:
    wire = _Wire(data)
    try:
        answer = wire.ask("GET", "/feed", {})
    except BrainUnreachable as err:
        return err.what[:20]
    finally:
        wire.close()
        if wire.other is not None:
            wire.other.close()
    return answer.status // 100, bool(answer.location), bool(answer.body)


def _body(data: bytes) -> object:
    ack, health, rows = parse_ack(data), parse_health(data), parse_feed(data)
    if rows is None:
        return ack, health is None
    items = read_rows(rows, Reader("ann", _Graves(), {}))  # type: ignore[arg-type]
    for item in items:
        dumps(item.to_dict()).encode("ascii")
        item.text.encode("utf-8")
        assert type(item).from_dict(item.to_dict()) == item
    everywhere(items), waiting(items), of_project(items, ["p"], "ann")
    return len(rows) > 0, len(items), tuple(item.scope_key[:5] for item in items)[:3]
