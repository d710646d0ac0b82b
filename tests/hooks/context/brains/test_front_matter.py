"""Front matter: what is written is read back, whatever a person or a sync tool does to it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hooks.context.brains.front_matter import (
    CONFLICT,
    NO_FRONT_MATTER,
    Page,
    encode,
    has_conflict_marks,
    parse,
    set_fields,
)
from scripts.swarm_v2.wire_json import clean

# A busy machine is slow to make examples; that says nothing of what is tested.
quick = settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
ANY = st.text(st.characters(exclude_categories=()), max_size=40)
NAMES = st.one_of(st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True), ANY).map(clean)
FIELDS = st.dictionaries(
    NAMES.filter(lambda name: name not in ("", "text")), ANY.map(clean), max_size=6
)
# Lines that look like the format itself, or like a merge that failed.
LINES = st.sampled_from(["---", "# x", "a: b", "<<<<<<< HEAD", "=======", ">>>>>>> b", "\r", " x "])
BODIES = st.lists(st.one_of(LINES, ANY), max_size=6).map("\n".join).map(clean)


@quick
@given(FIELDS, BODIES.filter(lambda body: body.strip() or not body))
def test_what_is_written_is_read_back(fields, body):
    assert parse(encode(fields, body)) == Page(fields, (), body)


@quick
@given(FIELDS, st.text("ab \n'\"#:-", min_size=1, max_size=40).map(str.strip))
def test_a_page_cut_at_any_byte_is_none_or_whole_but_for_the_end_of_its_text(fields, body):
    whole = encode(fields, body)
    head = len(whole) - len(b"\n" + body.encode() + b"\n") if body else len(whole)
    for end in range(len(whole)):
        found = parse(whole[:end])
        if not isinstance(found, str):
            assert found.fields == fields
            assert end >= head - 1
            assert body.startswith(found.body)


@quick
@given(FIELDS, BODIES.filter(str.strip), st.booleans(), st.booleans(), st.integers(0, 99))
def test_what_editors_do_changes_nothing(fields, body, windows, marked, turn):
    data = encode(fields, body)
    lines = data.split(b"\n")
    end = lines.index(b"---", 1)
    turned = turn % max(1, end - 1)
    lines[1:end] = lines[1 + turned : end] + lines[1 : 1 + turned]  # another order
    ending = b"\r\n" if windows else b"\n"
    edited = (b"\xef\xbb\xbf" if marked else b"") + ending.join(lines).rstrip(b"\r\n")
    found = parse(edited)
    assert isinstance(found, Page)
    assert found.fields == fields
    assert found.body == body


@quick
@given(FIELDS, BODIES.filter(str.strip), ANY.map(clean).filter(bool), st.booleans())
def test_setting_a_field_changes_that_line_only(fields, body, value, windows):
    data = encode(fields, body)
    if windows:
        data = data.replace(b"\n", b"\r\n")
    changed = set_fields(data, {"accepted": value})
    found = parse(changed)
    assert isinstance(found, Page)
    assert found.fields == {**fields, "accepted": value}
    assert found.body == parse(data).body
    before = set(data.split(b"\n"))
    assert len([line for line in changed.split(b"\n") if line not in before]) <= 1


def test_a_field_can_be_taken_away_and_two_be_set_at_once():
    data = b"---\na: 1\nb: 2\nc: 3\n---\n\ntext\n"
    assert set_fields(data, {"b": None, "a": "9", "d": "4", "e": None}) == (
        b"---\na: 9\nc: 3\nd: 4\n---\n\ntext\n"
    )


def test_what_is_no_page_is_not_changed():
    for data in (b"no front matter", b"---\na: 1\n", b"---\na:\n  - 1\n---\nx"):
        with pytest.raises(ValueError, match=r"front matter|several lines"):
            set_fields(data, {"a": "2"})


HAND = """---
# my own note
title:   It's: fine # a comment
quoted: 'it''s'   # here too
"odd name": "caf\\u00e9 \\ud83d\\ude00 \\x41\\n"
empty:
tags:
  - one
  - two
inline: [a, b]
block: |
  several
  lines
at: 2026-11-30
...

The text.

--- still text
"""


def test_what_people_write_by_hand_is_read():
    found = parse(HAND.encode())
    assert isinstance(found, Page)
    assert found.fields == {
        "title": "It's: fine",
        "quoted": "it's",
        "odd name": "café 😀 A\n",
        "empty": "",
        "at": "2026-11-30",
    }
    assert found.odd == ("tags", "inline", "block")
    assert found.body == "The text.\n\n--- still text"


FLAWED = {
    "nothing": (b"", NO_FRONT_MATTER),
    "plain Markdown": (b"# Title\n\ntext", NO_FRONT_MATTER),
    "no end": (b"---\na: 1\ntext\n", "its front matter has no end"),
    "another encoding": ("---\na: é\n---\nx".encode("latin-1"), "not UTF-8"),
    "UTF-16": ("---\na: 1\n---\nx".encode("utf-16"), "not UTF-8"),
    "twice": (b"---\na: 1\na: 2\n---\nx", "a stands there twice"),
    "no colon": (b"---\na 1\n---\nx", "line 2 is not `name: value`"),
    "no blank": (b"---\na:1\n---\nx", "line 2 is not `name: value`"),
    "open quotes": (b'---\na: "1\n---\nx', "line 2 has quotes that do not end"),
    "open single quotes": (b"---\na: '1''\n---\nx", "line 2 has quotes that do not end"),
    "behind quotes": (b'---\na: "1" 2\n---\nx', "line 2 has something behind its quotes"),
    "an escape": (b'---\na: "\\q"\n---\nx', "line 2 has an escape that means nothing"),
    "half an escape": (b'---\na: "\\u12"\n---\nx', "line 2 has an escape that means nothing"),
    "a loose line": (b"---\n  a: 1\n---\nx", "line 2 belongs to no name"),
    "a merge": (b"---\na: 1\n---\n<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> z\n", CONFLICT),
    "a merge in front": (b"---\n<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> z\n---\nx", CONFLICT),
}


@pytest.mark.parametrize(("data", "why"), FLAWED.values(), ids=FLAWED.keys())
def test_what_cannot_be_read_says_why(data, why):
    assert parse(data) == why


def test_marks_count_only_whole_and_in_their_order():
    marks = ["<<<<<<< a", "x", "=======", "y", ">>>>>>> b"]
    assert has_conflict_marks(marks)
    assert not has_conflict_marks(marks[::-1])
    assert not has_conflict_marks([" " + line for line in marks])
    assert not has_conflict_marks(marks[:4])


@quick
@given(st.binary(max_size=200))
def test_any_bytes_give_a_page_or_a_reason(data):
    for case in (data, b"---\n" + data + b"\n---\n" + data):
        found = parse(case)
        assert isinstance(found, (Page, str))
        if isinstance(found, Page) and found.body:
            assert parse(encode(found.fields, found.body)) == Page(found.fields, (), found.body)


def test_the_text_of_a_lesson_about_merges_is_kept_where_it_is_no_merge():
    text = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> branch"
    found = parse(encode({"id": "x"}, text))
    assert found == Page({"id": "x"}, (), text)


def test_values_that_other_readers_of_yaml_would_take_for_something_else_are_quoted():
    fields = {"a": "no", "b": "12e5", "c": "- x", "d": "0123", "e": "2026-11-30", "f": "x: y"}
    lines = encode(fields, "text").decode().splitlines()
    assert all(line.split(": ", 1)[1].startswith('"') for line in lines[1:7])
    assert encode({"priority": "10", "severity": "high"}, "x").decode().splitlines()[1:3] == [
        "priority: 10",
        "severity: high",
    ]


def test_a_field_is_set_where_a_person_wrote_it_with_capitals():
    data = b"---\nTitle: x # a remark\nOther: y\n---\ntext\n"
    assert set_fields(data, {"title": "z"}) == b"---\ntitle: z\nOther: y\n---\ntext\n"
    assert set_fields(data, {"title": None}) == b"---\nOther: y\n---\ntext\n"
    with pytest.raises(ValueError, match="several lines"):
        set_fields(b"---\nTitle: [x]\n---\ntext\n", {"title": "z"})
