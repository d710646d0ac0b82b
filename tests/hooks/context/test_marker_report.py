from __future__ import annotations

from pathlib import Path

import pytest

from hooks.context.line_window import MAX_LINE
from hooks.context.marker_report import SHOWN, Row, explain
from hooks.context.transcript import scan
from hooks.errors import StateError
from tests.support.transcript import lesson, line, said

REAL = Path(__file__).parents[2] / "transcripts"
TEXT = "always run the tests before a commit"


def test_the_real_transcripts_hold_exactly_two_candidates():
    rows = {file.name: explain(str(file)) for file in sorted(REAL.glob("*.jsonl"))}
    assert len(rows) == 10
    assert {name: found for name, found in rows.items() if found} == {
        "plain.jsonl": [Row(22, "msg_fake000001", "lesson", True, "", TEXT)],
        "tools.jsonl": [Row(57, "msg_fake000010", "lesson", True, "", TEXT)],
    }


@pytest.fixture
def path(tmp_path):
    return tmp_path / "t.jsonl"


def test_every_place_that_looks_like_a_marker_has_a_row_with_its_reason(path):
    blocks = [
        {"type": "thinking", "thinking": lesson("thought")},
        {"type": "tool_use", "input": {"command": [lesson("input")]}},
        {
            "type": "text",
            "text": f"`{lesson('code')}` <!-- @lesson -->{'long ' * 30}<!-- @/lesson -->",
        },
    ]
    lines = [
        line("user", message={"content": lesson("user")}, n=1),
        line("attachment", attachment={"stdout": lesson("note")}, n=2),
        said(lesson("meta"), isMeta=True),
        said(lesson("error"), isApiErrorMessage=True),
        said(lesson("summary"), isCompactSummary=True),
        said(blocks, "msg_9", n=3),
        said(blocks[2:], "msg_9", n=3),
        b"{torn " + lesson("x").encode(),
        said(lesson("glued"), n=6) + said("<!-- @todo -->", n=7),
        b"x" * (MAX_LINE + 1),
        said("<!-- @lesson -->\nnever\nclosed", n=5),
    ]
    path.write_bytes(b"\n".join(lines) + b"\n" + said(lesson("last"), n=4))
    rows = [(row.line, row.reason, row.text) for row in explain(str(path))]
    long = ("long " * 30)[:SHOWN].strip()
    code = lesson("code")
    assert rows == [
        (1, "user-line", "user"),
        (2, "attachment-line", "note"),
        (3, "meta", "meta"),
        (4, "client-message", "error"),
        (5, "compact-summary", "summary"),
        (6, "inline-code", code),
        (6, "", long),
        (6, "thinking-block", "thought"),
        (6, "tool_use-block", "input"),
        (7, "inline-code", code),
        (7, "repeated-line", long),
        (8, "unparsed", ""),
        (9, "", "glued"),
        (9, "unknown-type", "<!-- @todo -->"),
        (10, "line-too-long", ""),
        (11, "unclosed", "<!-- @lesson --> never closed"),
        (12, "", "last"),
    ]
    assert all(row.taken == (row.reason == "") for row in explain(str(path)))


def test_what_it_says_is_taken_is_what_a_scan_takes(path):
    texts = [
        lesson("a"),
        f"```\n{lesson('b')}\n```",
        f"{lesson('c')}\n{lesson('d')}",
        "<!-- @x -->",
    ]
    path.write_bytes(b"".join(said(text, f"m{n}", n=n) + b"\n" for n, text in enumerate(texts)))
    taken = [row.text for row in explain(str(path)) if row.taken]
    found = [s.candidate for batch in scan(str(path), None).batches() for s in batch.sightings]
    assert taken == [item.marker.content for item in found if item.marker] == ["a", "c", "d"]


def test_a_torn_last_line_and_a_missing_file_have_no_rows(path):
    path.write_bytes(said(lesson("a"))[:-3])
    assert explain(str(path)) == explain(f"{path}.none") == explain("") == []
    with pytest.raises(StateError):
        explain(str(path.parent))
