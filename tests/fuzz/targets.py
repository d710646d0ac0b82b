"""What is fuzzed: each parser with what holds for any bytes at all."""

from __future__ import annotations

from hooks.clock import parse_iso
from hooks.context import injections, markers, outbox, redact, scope_log, session_index, switch
from hooks.context.display import render
from hooks.errors import PayloadError
from hooks.payload import Event, parse_event
from scripts import settings_edit
from scripts.swarm_v2.wire_json import dumps, load_object
from tests.fuzz.engine import Target
from tests.fuzz.http_target import http_answer
from tests.fuzz.page_target import front_matter
from tests.fuzz.shell_target import SHELL, shell
from tests.fuzz.transcript_target import transcript

JSON = (
    *(b'"', b"{", b"}", b"[", b"]", b",", b":", b"null", b"true", b"\\", b"\n", b"\r\n", b"\0"),
    *(b"-1", b"1e999", b"9" * 400, b"NaN", b"-0.0", b"1.5", b"[" * 40, b'{"a":', b"\xef\xbb\xbf"),
    *(b'"\\ud800"', b'"\\u0000"', b"\xff", "ş😀".encode(), b"\xe2\x80\xa8", b'""', b"{}", b"[]"),
)
TIMES = (b"2026-11-30T10:00:00.000Z", b"0001-01-01T00:00:00+23:59", b"9999-12-31T23:59:59-12:00")


def payload(data: bytes) -> object:
    try:
        event = parse_event("Stop", data)
    except PayloadError as err:
        return err.what[:20]
    texts = [value for value in event if isinstance(value, str)]
    "".join(texts).encode("utf-8")  # no lone surrogate is left
    assert not any("\0" in path for path in (event.transcript_path, event.cwd))
    document = {**event._asdict(), "hook_event_name": event.name}
    assert parse_event("Stop", dumps(document).encode("ascii")) == event
    return tuple(bool(value) for value in event)


def scopes(data: bytes) -> object:
    rows = [scope_log.parse_line(line, "s") for line in data.split(b"\n")]
    for row in rows:
        if row is not None:
            assert scope_log.parse_line(dumps(row._asdict()).encode(), "s") == row
    found = sorted((row for row in rows if row is not None), key=lambda row: row.sequence)
    if found:
        at = parse_iso(found[-1].at)
        assert at is not None
        assert scope_log.in_force(found, at) is not None
    return len(found), len(rows)


def outbox_document(data: bytes) -> object:
    found = outbox.parse(data)
    if found is None:
        return load_object(data) is None
    assert outbox.parse(outbox.encode(found)) == found
    body = outbox.body(found)
    dumps(body).encode("ascii")
    named = {**found, "idempotency_key": "0" * 32}
    assert outbox.key_in(outbox.name_of(named)) == "0" * 32
    outbox.as_item(named, "ann")
    return tuple(sorted(found))


def injected(data: bytes) -> object:
    rows = [row for line in data.split(b"\n") if (row := injections.parse(line))]
    for row in rows:
        assert all(isinstance(one, str) for one in row.ids)
        said = [{"ids": list(ids), "line": line} for ids, line in row.sources]
        again = dumps({"at": row.at, "event": row.event, "text": row.text, "sources": said})
        assert injections.parse(again.encode()) == row
    return tuple(len(row.sources) for row in rows)[:4]


def sessions(data: bytes) -> object:
    rows = [row for line in data.split(b"\n") if (row := session_index.parse(line))]
    for row in rows:
        assert session_index.parse(dumps(row._asdict()).encode()) == row
        session_index.is_live(row._replace(client_pid=""), NOON)
    return tuple(tuple(map(bool, row)) for row in rows)[:2]


NOON = parse_iso("2026-11-30T12:00:00Z")
assert NOON is not None


def switches(data: bytes) -> object:
    found = switch.decode(load_object(data))
    if found is None:
        return None
    assert switch.decode(load_object(dumps(switch.encode(found)))) == found
    switch.Switches(found).off(NOON, "p", "s")
    return tuple(stretch.what[:4] for stretch in found)[:4]


_OURS = "/opt/brainhooks/hooks/launch.sh Stop"
_GROUP = {"hooks": [{"type": "command", "command": _OURS}]}


def settings_file(data: bytes) -> object:
    """Installing and uninstalling again gives back every byte."""
    try:
        text = settings_edit.decode(data)
    except settings_edit.UnusableSettingsError as err:
        return str(err)[:14]

    def ours(command: str) -> bool:
        return command == _OURS

    if settings_edit.entries(text, ours):
        settings_edit.decode(settings_edit.remove_ours(text, ours, None).encode())
        return "ours"
    before = settings_edit.containers(text)
    with_us = settings_edit.add_groups(text, {"Stop": _GROUP, "SessionEnd": _GROUP})
    assert settings_edit.entries(settings_edit.decode(with_us.encode()), ours).keys() == {
        "Stop",
        "SessionEnd",
    }
    assert settings_edit.remove_ours(with_us, ours, before) == text
    return tuple(sorted(before))[:3], bool(before["/"])


def said(data: bytes) -> object:
    """Markers in an assistant's text, its display, and the secrets in it."""
    text = data.decode("utf-8", "surrogatepass" if b"\xed" in data[:1] else "replace")
    found = markers.find(text)
    at = 0
    for candidate in found:
        assert at <= candidate.start < candidate.end <= len(text), candidate
        at = candidate.end
        assert (candidate.marker is None) == bool(candidate.reason)
        if candidate.marker is not None:
            assert candidate.marker.content.strip() == candidate.marker.content != ""
    render(text, True)
    clean, kinds = redact.redact(text)
    assert bool(kinds) or clean == text
    return tuple(candidate.reason for candidate in found)[:4], kinds[:3]


_SCOPE = tuple(f'"{name}":'.encode() for name in ("session_id", "sequence", "at", "project_id"))
_LINE = (b'"type":"assistant"', b'"message":', b'"content":', b'"cwd":"/b"', b'"gitBranch":"x"')
_MARKS = (b"<!-- @lesson -->", b"<!-- @/lesson -->", b"<!-- @", b"-->", b"`", b"```\n", b"~~~\n")
_SECRETS = (b"password: ", b"AKIA", b"ghp_", b"Bearer ", b"-----BEGIN ", b"://a:b@", b"eyJ", b"= ")
_PAGE = (
    b"---\n",
    b"id: ",
    b"title: ",
    b": ",
    b"'",
    b'"',
    b"\\x",
    b"\\U",
    b" #",
    b"<<<<<<< ",
    b"- ",
)
_HTTP = (
    *(b"HTTP/1.1 200 OK\r\n", b"\r\n", b"Content-Length: ", b"Transfer-Encoding: chunked\r\n"),
    *(b"ffffffff\r\n", b"0\r\n\r\n", b"Location: ", b"204", b"-5", b"100 Continue"),
    *(b'"ok":true', b'"entries":', b'"metadata":', b'"priority":', b'"ttl":', b'"part":"1/2"'),
)
TARGETS = {
    target.name: target
    for target in (
        Target("payload", payload, (*JSON, *(f'"{name}":'.encode() for name in Event._fields))),
        Target("transcript", transcript, (*JSON, *_LINE, *_MARKS, *TIMES)),
        Target("scope_log", scopes, (*JSON, *_SCOPE, *TIMES)),
        Target("outbox", outbox_document, (*JSON, b'"attrs":', b'"sighting":', b'"ts":', *TIMES)),
        Target("front_matter", front_matter, (*_PAGE, *TIMES, b"\n", b"\r\n", b"\xef\xbb\xbf")),
        Target("http_answer", http_answer, (*_HTTP, *JSON)),
        Target("injections", injected, (*JSON, b'"sources":', b'"ids":', b'"line":')),
        Target("session_index", sessions, (*JSON, b'"session_id":', b'"client_pid":')),
        Target("switch", switches, (*JSON, *TIMES, b'"off":', b'"what":', b'"until":', b"all")),
        Target("settings_file", settings_file, (*JSON, b'"hooks":', b'"Stop":', b'"command":')),
        Target("shell", shell, SHELL),
        Target("said", said, (*_MARKS, *_SECRETS, b"\n", b"    ", b"> ", b'a="', b"\t", b" ")),
    )
}
