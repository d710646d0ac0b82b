from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hooks.context import hint, markers
from hooks.context.markers import MARKER_TYPES, RESERVED, SCOPES, find

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "markers.json").read_text("utf-8"))
LESSON = "<!-- @lesson -->{}<!-- @/lesson -->"
PIECES = st.sampled_from(
    [
        "<!-- @lesson -->",
        "<!-- @decision a=b -->",
        "<!-- @/lesson -->",
        "<!-- /@decision -->",
        "<!-- @todo -->",
        "<!-- @lesson ",
        "<!--",
        "-->",
        "text",
        " ",
        "\n",
        "\n\n",
        "```",
        "~~~",
        "`",
        "``",
        "\\",
        "    ",
        "\t",
        "> ",
        "- ",
        "1. ",
        "é😀",
        "\0",
    ]
)
TEXTS = st.lists(PIECES, max_size=40).map("".join)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_what_is_taken_and_why_not(vector):
    found = []
    for item in find(vector["text"]):
        row = {"type": item.type, "reason": item.reason}
        if item.marker:
            row |= {"content": item.marker.content, "attrs": item.marker.attrs}
        found.append(row)
    assert found == vector["want"]


def test_every_type_has_good_and_bad_samples():
    samples = {(row["type"], bool(row["reason"])) for v in VECTORS for row in v["want"]}
    assert samples >= {(kind.name, bad) for kind in MARKER_TYPES for bad in (True, False)}


def test_every_opener_holds_the_bytes_that_the_scan_looks_for():
    assert markers.HINT is hint.HINT
    assert markers.OPENING.encode().endswith(hint.HINT)


def test_what_only_the_sender_may_say_is_never_taken_from_the_model():
    header = " ".join(f"{name}=x {name.upper()}=x" for name in sorted(RESERVED))
    (found,) = find(f"<!-- @lesson {header} -->x<!-- @/lesson -->")
    assert found.marker is not None
    assert found.marker.attrs == {}
    assert {"ts", "class", "source", "attribution"} <= RESERVED
    assert {"user", "session", "project"} == SCOPES


def test_a_text_of_more_than_64_kib_stays_whole():
    content = "word " * 20_000 + "end"
    (found,) = find(LESSON.format(content))
    assert found.marker is not None
    assert found.marker.content == content


def test_the_seventh_marker_is_kept_like_the_first():
    found = find("\n".join(LESSON.format(n) for n in range(7)))
    assert [item.marker.content for item in found if item.marker] == list("0123456")


def test_a_header_longer_than_the_limit_opens_nothing():
    long = f'<!-- @lesson title="{"x" * markers.MAX_HEADER}" -->x<!-- @/lesson -->'
    assert [item.reason for item in find(long)] == ["unclosed", "close-without-open"]


@given(TEXTS)
@settings(deadline=None, max_examples=100)
def test_candidates_are_in_order_apart_and_sound(text):
    found = find(text)
    assert all(a.end <= b.start for a, b in pairwise(found))
    for item in found:
        assert text[item.start : item.end].startswith("<!--")
        assert (item.marker is None) == bool(item.reason)
        if item.marker:
            assert item.marker.content == item.marker.content.strip() != ""
            assert item.marker.type == item.type in markers.TYPES


@given(TEXTS, TEXTS)
@settings(deadline=None, max_examples=100)
def test_more_lines_never_change_what_was_taken(text, more):
    whole = text + "\n"
    before = [item for item in find(whole) if item.marker]
    after = [item for item in find(whole + more) if item.marker and item.start < len(whole)]
    assert after[: len(before)] == before


@given(st.text(max_size=300))
@settings(deadline=None, max_examples=100)
def test_a_marker_in_plain_prose_is_found_with_its_text(words):
    inside = words.replace("`", "").replace("<!--", "").replace("~", "").replace("\n", " ")
    (found,) = find(f"Well. {LESSON.format(inside + '.')}")
    assert found.marker is not None
    assert found.marker.content == markers.clean(inside + ".").strip()


HOSTILE = {
    "backticks": "` " * 500_000,
    "runs of growing length": " ".join("`" * (n % 900) for n in range(2_300)),
    "openers": "<!-- @lesson -->" * 65_000,
    "an opener without an end": "<!-- @" + "a" * 1_000_000,
    "long headers without an end": ("<!-- @" + "a" * 5_000) * 200,
    "list marks": "- " * 500_000 + "<!-- @",
    "blanks in a comment": "<!--" + " " * 1_000_000,
    "blanks in a closer": "<!-- /@lesson" + " " * 1_000_000 + "<!--",
    "backslashes": "\\" * 1_000_000 + "`<!-- @lesson -->",
    "open quotes in a header": ("<!-- @lesson " + 'a="' * 1_300 + "-->x<!-- @/lesson -->") * 250,
    "escaped quotes": ('<!-- @lesson a="' + '\\"b=' * 900 + "-->x<!-- @/lesson -->") * 250,
    "empty lines": "\n" * 1_000_000 + "<!-- @",
    "fences": "```\n" * 250_000 + "<!-- @",
    "pairs in code": "    " + LESSON.format("") * 30_000,
    "comment starts": "<!-- " * 200_000,
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_megabyte_of_hostile_text_ends(name):
    """Anything worse than linear would take hours; the timeout is the assertion."""
    found = find(HOSTILE[name])
    assert not any(item.reason == "" for item in found if item.marker is None)
