from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hooks.errors import PayloadError
from hooks.payload import MAX_BYTES, Event, parse_event

PAYLOADS = sorted((Path(__file__).resolve().parents[1] / "payloads").glob("*.json"))
quick = settings(deadline=None, max_examples=100)


def test_there_are_as_many_real_payloads_as_were_recorded() -> None:
    assert len(PAYLOADS) == 66


@pytest.mark.parametrize("path", PAYLOADS, ids=lambda path: path.stem)
def test_a_real_payload_is_read_field_by_field(path: Path) -> None:
    raw = json.loads(path.read_bytes())
    name = path.stem.partition(".")[0]
    event = parse_event(name, path.read_bytes())
    assert event.name == name == raw["hook_event_name"]
    for field in set(Event._fields) - {"name"}:
        default = Event._field_defaults[field]
        wanted = raw.get({"interrupted": "is_interrupt"}.get(field, field), default)
        fits = field == "tool_response" or type(wanted) is type(default)
        assert getattr(event, field) == (wanted if fits else default)
    assert event.session_id
    assert event.cwd.startswith("/")


def test_fields_of_another_type_and_unknown_ones_are_absent() -> None:
    data: dict[str, Any] = dict.fromkeys(Event._fields, 5) | {
        "hook_event_name": "Stop",
        "final": "true",
        "index": True,
        "delta": ["x"],
        "session_id": None,
        "not_known_yet": {"a": 1},
    }
    assert parse_event("Stop", json.dumps(data).encode()) == Event("Stop", tool_response=5)


def test_a_payload_that_does_not_say_its_event_is_taken_for_the_one_that_was_started() -> None:
    assert parse_event("Stop", b'{"session_id":"s"}') == Event("Stop", session_id="s")


def test_lone_surrogates_become_the_replacement_and_pairs_stay() -> None:
    event = parse_event("Stop", b'{"session_id":"a\\udc88","prompt":"\\ud83c\\udfaf"}')
    assert (event.session_id, event.prompt) == ("a\ufffd", "🎯")


def test_a_path_with_a_nul_is_absent_since_no_file_has_one() -> None:
    data = json.dumps(
        {"transcript_path": "/a\0b", "cwd": "\0", "agent_transcript_path": "/ok", "prompt": "a\0b"}
    )
    event = parse_event("Stop", data.encode())
    assert event == Event("Stop", agent_transcript_path="/ok", prompt="a\0b")


UNUSABLE = {
    "nothing": b"",
    "not json": b"hello",
    "torn": b'{"session_id":"s"',
    "a list": b"[]",
    "null": b"null",
    "not utf-8": b'{"session_id":"\xff"}',
    "nan": b'{"index":NaN}',
    "too deep": b'{"a":' * 100_000,
    "another event": b'{"hook_event_name":"SessionStart"}',
    "an event that is no text": b'{"hook_event_name":null}',
    "too large": b" " * MAX_BYTES + b"{}",
}


@pytest.mark.parametrize("data", UNUSABLE.values(), ids=UNUSABLE.keys())
def test_what_is_not_the_promised_event_is_a_payloaderror(data: bytes) -> None:
    with pytest.raises(PayloadError) as caught:
        parse_event("Stop", data)
    assert caught.value.event == "Stop"
    assert len(str(caught.value)) < 120, "no content of the payload in the message"


@quick
@given(st.binary(max_size=30) | st.binary(max_size=30).map(lambda data: b'{"cwd":"' + data + b'"}'))
def test_any_bytes_are_an_event_or_a_payloaderror(data: bytes) -> None:
    try:
        event = parse_event("Stop", data)
    except PayloadError:
        return
    event.cwd.encode("utf-8")
    assert "\0" not in event.cwd


def test_every_cut_of_a_real_payload_is_refused() -> None:
    data = PAYLOADS[0].read_bytes().rstrip()
    for cut in range(len(data)):
        with pytest.raises(PayloadError):
            parse_event(PAYLOADS[0].stem, data[:cut])
