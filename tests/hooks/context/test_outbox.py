"""The outbox's files: named by time and key, readable by hand, never trusted blindly."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from hooks.context import outbox
from hooks.errors import OutboxError

KEY = "0123456789abcdef" * 2


def document(**fields):
    base = {
        "type": "lesson",
        "content": "X",
        "attrs": {"project_id": "a/b/c", "session_id": "s"},
        "idempotency_key": KEY,
        "ts": "2026-11-30T12:00:00+00:00",
    }
    return {**base, **fields}


@pytest.fixture
def home(tmp_path):
    return str(tmp_path)


def test_a_key_has_one_file_whatever_time_it_is_written_with(home):
    assert outbox.write(home, document())
    assert not outbox.write(home, document())
    assert not outbox.write(home, document(ts="2026-12-01T00:00:00+00:00"))
    assert outbox.names(home) == [f"20261130T120000000000-{KEY}.json"]
    assert outbox.read(home, outbox.names(home)[0]) == document()


def test_a_marker_without_a_time_sorts_first(home):
    outbox.write(home, document())
    outbox.write(home, document(ts="", idempotency_key="f" * 32))
    assert [outbox.key_in(name) for name in outbox.names(home)] == ["f" * 32, KEY]


@pytest.mark.parametrize(
    ("name", "key"),
    [
        (f"20261130T120000000000-{KEY}.json", KEY),
        ("20260901T101500-lesson-1a2b3c4d.json", ""),
        (f"x-{KEY.upper()}.json", ""),
        (f"{KEY}.json", KEY),
        ("x.json", ""),
    ],
)
def test_a_file_name_tells_its_key_only_when_it_is_ours(name, key):
    assert outbox.key_in(name) == key


def test_what_is_being_written_is_no_waiting_file(home):
    folder = Path(outbox.folder(home))
    folder.mkdir()
    (folder / f"x-{KEY}.json.1.tmp").write_bytes(b"{")
    (folder / ".hidden.json").write_bytes(b"{")
    assert outbox.names(home) == []
    assert outbox.is_empty(home)


def test_attributes_that_are_no_text_become_text():
    found = outbox.parse(json.dumps(document(attrs={"n": 3, "b": True, "t": "x", "z": None})))
    assert found["attrs"] == {"n": "3", "b": "true", "t": "x", "z": "null"}


@pytest.mark.parametrize("mode", [0o000, "folder", "gone"])
def test_what_cannot_be_read_says_why(home, mode):
    outbox.write(home, document())
    (name,) = outbox.names(home)
    path = os.path.join(outbox.folder(home), name)
    os.unlink(path)
    if mode == "gone":
        with pytest.raises(FileNotFoundError):
            outbox.read(home, name)
        return
    os.mkdir(path)
    with pytest.raises(OutboxError):
        outbox.read(home, name)


def test_removing_a_key_takes_its_quarantined_copy_its_reason_and_a_killed_writers_rest(home):
    outbox.write(home, document())
    (name,) = outbox.names(home)
    outbox.quarantine(home, name, "because")
    outbox.write(home, document())
    rest = Path(outbox.folder(home)) / (name + ".77.aaaa.tmp")
    rest.write_bytes(b"text")
    other = document(idempotency_key="f" * 32)
    outbox.write(home, other)
    assert outbox.remove_key(home, KEY) == 2
    assert os.listdir(outbox.quarantine_folder(home)) == []
    assert outbox.names(home) == [outbox.name_of(other)]
    assert not rest.exists()


def test_a_waiting_marker_reads_as_the_memory_it_will_be():
    attrs = {**document()["attrs"], "scope": "user", "class": "person", "severity": "high"}
    item = outbox.as_item(document(attrs=attrs), "ann")
    assert (item.id, item.scope_key, item.cls, item.state) == (KEY, "user:ann", "person", "waiting")
    fleet = outbox.as_item(document(attrs={**attrs, "share": "fleet"}), "ann")
    assert fleet.project == ""
    assert outbox.as_item(document(idempotency_key=None), "ann") is None
    assert outbox.as_item(document(attrs={"scope": "session"}), "ann") is None


def test_the_newest_are_given_first_and_damaged_ones_left_out(home):
    for hour in range(5):
        ts = f"2026-11-30T1{hour}:00:00+00:00"
        outbox.write(home, document(ts=ts, idempotency_key=f"{hour}" * 32))
    (Path(outbox.folder(home)) / "9.json").write_bytes(b"{")
    assert [d["idempotency_key"][0] for d in outbox.newest(home, 3)] == ["4", "3", "2"]
