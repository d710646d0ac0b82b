"""A transcript line as a line of the log: its fields, what it leaves out, and no secret."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hooks.context.turn import MOST_TEXT, MOST_TOOL, turn
from scripts.swarm_v2.wire_json import dumps
from tests.support.run_hook import ROOT
from tests.support.session import TRANSCRIPTS, recorded_lines

FIELDS = ["v", "uuid", "at", "session", "agent", "role", "model", "text", "tool", "error", "cut"]
FIELDS.append("redacted")
TOKEN = "ghp_" + "a1B2" * 9


def said(*blocks, kind="assistant", **fields):
    content = blocks[0] if len(blocks) == 1 and isinstance(blocks[0], str) else list(blocks)
    message = {"role": kind, "content": content}
    return {"type": kind, "uuid": "u1", "timestamp": "2026-11-30T10:00:00Z", "message": message} | (
        fields
    )


def text(value):
    return {"type": "text", "text": value}


def logged(line, **named):
    return turn(line, session="s1", agent="", **named)


def test_the_fields_are_the_documented_ones_in_their_order():
    row = logged(said(text("hello")))
    assert list(row) == FIELDS
    assert row["text"] == "hello"
    assert (row["v"], row["uuid"], row["session"], row["role"]) == (1, "u1", "s1", "assistant")
    document = (ROOT / "docs" / "transcript-log.md").read_text(encoding="utf-8")
    assert [name for name in FIELDS if f"| `{name}` |" not in document] == []


@pytest.mark.parametrize(
    ("line", "role"),
    [
        (said("hi", kind="user"), "user"),
        (said(text("hi"), kind="user"), "user"),
        (said({"type": "tool_result", "content": "ok"}, kind="user"), "tool"),
        (said("Summary", kind="user", isCompactSummary=True), "summary"),
        (said("<command-name>/clear</command-name>", kind="user"), "client"),
        (said("done", kind="user", origin={"kind": "task-notification"}), "client"),
        (said(text("API Error"), isApiErrorMessage=True), "client"),
        (said(text("hi")), "assistant"),
    ],
)
def test_who_said_it(line, role):
    assert logged(line)["role"] == role


@pytest.mark.parametrize(
    "line",
    [
        said(text("hi"), uuid=None),
        said(text("hi"), isMeta=True),
        said({"type": "thinking", "thinking": "hm"}),
        said(text("  ")),
        said(),
        said(text("hi")) | {"type": "attachment"},
        said(text("hi")) | {"message": "hi"},
        {},
    ],
)
def test_what_is_no_turn_is_not_logged(line):
    assert logged(line) is None


def test_tools_are_told_by_name_input_and_answer():
    call = said({"type": "tool_use", "name": "Bash", "input": {"command": "ls -l"}})
    assert logged(call)["tool"] == "Bash"
    assert json.loads(logged(call)["text"]) == {"command": "ls -l"}
    answer = {"type": "tool_result", "content": [text("a"), {"type": "image"}], "is_error": True}
    row = logged(said(answer, kind="user"))
    assert (row["text"], row["error"]) == ("a\n[image]", True)


def test_long_texts_are_cut_and_say_so():
    row = logged(said(text("é" * (MOST_TEXT + 1))))
    assert (len(row["text"]), row["cut"]) == (MOST_TEXT, True)
    row = logged(said({"type": "tool_result", "content": "x" * (MOST_TOOL + 1)}, kind="user"))
    assert (len(row["text"]), row["cut"]) == (MOST_TOOL, True)
    assert logged(said(text("é" * MOST_TEXT)))["cut"] is False


@pytest.mark.parametrize(
    "line",
    [
        said(text(f"the token is {TOKEN}")),
        said(f"password={TOKEN}", kind="user"),
        said({"type": "tool_use", "name": "Bash", "input": {"command": f"echo\n{TOKEN}"}}),
        said({"type": "tool_use", "name": "Write", "input": {"a": [{"b": f"x\n{TOKEN}"}]}}),
        said({"type": "tool_use", "name": "X", "input": {"password": TOKEN}}),
        said({"type": "tool_use", "name": "X", "input": {TOKEN: 1}}),
        said({"type": "tool_use", "name": TOKEN, "input": {}}),
        said({"type": "tool_result", "content": [text(f"key: {TOKEN}")]}, kind="user"),
        said(text("x" * (MOST_TEXT - 10) + f" {TOKEN}")),
        said({"type": "tool_result", "content": "x" * (MOST_TOOL - 9) + f" {TOKEN}"}, kind="user"),
    ],
)
def test_no_secret_is_logged_and_none_is_cut_in_half(line):
    written = dumps(logged(line))
    assert TOKEN not in written
    assert TOKEN[:9] not in written


def test_what_was_taken_out_is_named_once():
    line = said({"type": "tool_use", "name": "X", "input": {"a": TOKEN, "b": TOKEN}})
    assert len(logged(line)["redacted"]) == 1


@pytest.mark.parametrize("name", [path.stem for path in sorted(Path(TRANSCRIPTS).glob("*.jsonl"))])
def test_every_recorded_turn_is_one_flat_json_line(name):
    lines = recorded_lines(name)
    rows = [row for row in map(logged, lines) if row is not None]
    assert rows
    for row in rows:
        written = dumps(row)
        assert "\n" not in written
        assert json.loads(written) == row
        assert not any(isinstance(value, dict) for value in row.values())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 60), 1 << 60) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
BLOCK = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "tool_use", "tool_result", "image", "thinking", "new"])},
    optional={"text": JSON, "name": JSON, "input": JSON, "content": JSON, "is_error": JSON},
)


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(["user", "assistant", "system"]),
    st.lists(BLOCK, max_size=4) | JSON,
    st.dictionaries(st.sampled_from(["uuid", "timestamp", "isMeta", "origin", "message"]), JSON),
)
def test_any_line_is_a_row_of_the_format_or_nothing(kind, content, fields):
    line = {"type": kind, "uuid": "u1", "message": {"content": content}, **fields}
    row = logged(line)
    if row is None:
        return
    assert list(row) == FIELDS
    assert json.loads(dumps(row)) == row
    types = {"v": int, "error": bool, "cut": bool, "redacted": list}
    assert all(type(row[name]) is types.get(name, str) for name in FIELDS)
    dumps(row).encode("ascii")
