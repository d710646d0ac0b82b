from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hooks.context.line_window import MAX_LINE
from hooks.context.position import encode_position, parse_position
from hooks.context.transcript import prompt_before, scan
from hooks.errors import StateError
from tests.support.transcript import lesson, line, read, said, sightings, write

REAL = Path(__file__).parents[2] / "transcripts"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "session.jsonl"


def test_the_real_transcripts_hold_two_lessons_and_one_place_each():
    taken = {}
    for file in sorted(REAL.glob("*.jsonl")):
        texts, moves, found = read(file)
        assert moves == [("/home/dev/proj", "main")], file.name
        assert found.position.offset == file.stat().st_size
        assert not any(found.counts), file.name
        if texts:
            taken[file.name] = texts
    once = ["always run the tests before a commit"]
    assert taken == {"plain.jsonl": once, "tools.jsonl": once}


def test_a_sighting_says_where_and_when_it_stood():
    (seen,) = sightings(REAL / "plain.jsonl")
    raw = (REAL / "plain.jsonl").read_bytes()
    assert json.loads(raw[seen.line.offset :].split(b"\n")[0])["uuid"] == seen.line.uuid
    assert seen.line.message_id == "msg_fake000001"
    assert seen.line.at == datetime(2026, 11, 30, 10, 8, 50, 852_000, UTC)
    assert seen.line.at_text == "2026-11-30T10:08:50.852Z"
    assert (seen.line.cwd, seen.line.branch) == ("/home/dev/proj", "main")
    assert (seen.block, seen.ordinal, seen.line.sidechain) == (0, 0, False)


def test_a_forks_copied_line_keeps_the_session_that_asked(path):
    write(path, said(lesson("x"), sessionId="new", requestSessionId="old"))
    assert [seen.line.session_id for seen in sightings(path)] == ["old"]


def test_only_the_assistants_own_text_counts(path):
    mark = lesson("no")
    inside = [
        {"type": "thinking", "thinking": mark, "text": mark},
        {"type": "tool_use", "input": {"command": mark, "note": '"assistant"'}},
        {"type": "text", "text": "   "},
        {"type": "text", "text": None},
        "assistant",
        {"type": "text", "text": lesson("yes")},
    ]
    write(
        path,
        line("user", message={"role": "user", "content": mark}, note="assistant"),
        line("attachment", attachment={"stdout": mark, "role": "assistant"}),
        line("api-request-blob", message={"role": "assistant", "content": mark}),
        said(mark, isMeta=True),
        said(mark, isApiErrorMessage=True),
        said(mark, isCompactSummary=True),
        line("assistant", message={"model": "<synthetic>", "content": mark}),
        line("assistant", message={"role": "user", "content": mark}),
        line("assistant", message=mark),
        line("assistant", message={"content": {"text": mark}}),
        said(inside),
    )
    assert [(s.block, s.candidate.marker.content) for s in sightings(path)] == [(5, "yes")]


def test_string_content_sidechains_and_lines_without_a_message_id_count(path):
    message = {"role": "assistant", "content": lesson("text")}
    write(path, line("assistant", message=message, isSidechain=True, n=7))
    (seen,) = sightings(path)
    assert (seen.line.sidechain, seen.line.message_id, seen.block) == (True, "u7", 0)


def test_the_clients_block_index_is_used_where_there_is_one(path):
    old = [{"type": "thinking"}, {"type": "text", "text": lesson("b") + lesson("c")}]
    write(path, said(lesson("a"), apiBlockIndex=3), said(old, "msg_2"))
    assert [(s.block, s.ordinal) for s in sightings(path)] == [(3, 0), (1, 0), (1, 1)]


def test_a_marker_never_straddles_two_messages(path):
    write(path, said("<!-- @lesson -->half"), said("other<!-- @/lesson -->", "msg_2"))
    assert [s.candidate.reason for s in sightings(path)] == ["unclosed", "close-without-open"]


def test_a_repeated_line_is_reported_again_with_the_same_identity(path):
    write(path, said(lesson("x"), n=1), said(lesson("x"), n=1))
    assert [(s.line.message_id, s.line.uuid, s.block) for s in sightings(path)] == [
        ("msg_1", "u1", 0)
    ] * 2


def test_two_objects_on_one_line_are_both_read(path):
    write(path, said(lesson("a")) + said(lesson("b"), "msg_2"), said(lesson("c")))
    texts, _, found = read(path)
    assert texts == ["a", "b", "c"]
    assert found.counts.glued == 1


def test_only_newline_bytes_end_a_line(path):
    write(path, said("a\u2028b\u0085c\x0b " + lesson("one")), said(lesson("two")))
    assert read(path)[0] == ["one", "two"]


def test_a_run_of_nuls_costs_one_line_and_is_counted(path):
    path.write_bytes(
        said(lesson("a")) + b"\n" + b"\0" * 512 + b"\n" + b"\0" * 300 + said(lesson("b")) + b"\n"
    )
    texts, _, found = read(path)
    assert texts == ["a", "b"]
    assert (found.counts.nul, found.counts.unparsed) == (2, 0)


def test_a_raw_nul_inside_a_string_is_data(path):
    write(path, said(lesson("aXb")).replace(b"aXb", b"a\0b"))
    assert read(path)[0] == ["a\0b"]


def test_bad_utf8_spoils_characters_of_one_line_and_the_position_goes_on(path):
    write(path, said(lesson("a\u00e9b")).replace("é".encode(), b"\xff"), said(lesson("é")))
    texts, _, found = read(path)
    assert texts == ["a\ufffdb", "é"]
    assert found.counts.bad_utf8 == 1
    assert found.position.offset == path.stat().st_size


def test_lone_surrogates_are_kept_as_u_fffd(path):
    write(path, said(lesson("aXb")).replace(b"aXb", b"a\\ud83d\\udc88b\\udc88"))
    assert read(path)[0] == ["a\U0001f488b\ufffd"]


def test_damaged_lines_are_passed_over_and_counted(path):
    torn = said(lesson("lost"))[:-20]
    write(path, b"not json", torn, b'{"type":"user","cut":', b"[1]", b"7}", b"", said(lesson("a")))
    texts, _, found = read(path)
    assert texts == ["a"]
    assert found.counts.unparsed == 4  # "[1]" is one too: it is no line of a transcript


def test_whatever_stands_on_a_line_nothing_is_raised(path):
    mark = json.dumps(lesson("x")).encode()
    deep = b'{"type":"assistant","message":' + b"[" * 100_000 + mark
    odd = [b'["assistant",%s]' % mark, b"NaN " + mark, b'"assistant"' + mark, deep]
    odd += [b'{"type":"assistant","message":{"content":[%s]},"cwd":7,"n":%s}' % (mark, b"9" * 5000)]
    write(path, *odd, said(lesson("a"), uuid=7, timestamp=[], sessionId=None, gitBranch={}))
    assert read(path)[0] == ["a"]


def test_a_line_over_two_mib_is_passed_over_and_counted(path):
    fits = said(lesson("fits") + "x" * (MAX_LINE - len(said(lesson("fits")))))
    assert len(fits) == MAX_LINE
    long = said(lesson("long") + "x" * (MAX_LINE - len(said(lesson("long"))) + 1))
    huge = said(lesson("huge") + "x" * (3 * MAX_LINE))
    write(path, said(lesson("a")), long, fits, huge, huge, said(lesson("b")))
    texts, _, found = read(path)
    assert texts == ["a", "fits", "b"]
    assert found.counts.oversized == 3
    assert found.position.offset == path.stat().st_size


def test_an_unfinished_line_over_two_mib_is_left_where_it_starts(path):
    path.write_bytes(said(lesson("a")) + b"\n" + b"x" * (3 * MAX_LINE))
    texts, _, found = read(path)
    assert (texts, found.position.offset) == (["a"], len(said(lesson("a"))) + 1)


def test_a_whole_last_line_is_read_and_the_position_stays_before_it(path):
    first = said(lesson("a")) + b"\n"
    path.write_bytes(first + said(lesson("b"), "msg_2"))
    texts, _, found = read(path)
    assert (texts, found.position.offset) == (["a", "b"], len(first))
    with path.open("ab") as file:
        file.write(b"\n" + said(lesson("c"), "msg_3") + b"\n")
    assert read(path, found.position)[0] == ["b", "c"]


def test_a_torn_last_line_is_left_for_next_time_and_not_counted(path):
    whole = said(lesson("a"))
    path.write_bytes(whole[:-5])
    texts, _, found = read(path)
    assert (texts, found.position.offset, found.counts.unparsed) == ([], 0, 0)
    write(path, whole)
    assert read(path, found.position)[0] == ["a"]


def test_a_scan_goes_on_where_the_last_one_ended(path):
    write(path, said(lesson("a")))
    _, _, first = read(path)
    saved = parse_position(encode_position(first.position))
    with path.open("ab") as file:
        file.write(said(lesson("b"), "msg_2") + b"\n")
    texts, moves, second = read(path, saved, first.cwd, first.branch)
    assert (texts, moves, second.restarted) == (["b"], [], False)


def rewrite(path, data):
    path.write_bytes(data)


def replace(path, data):
    aside = path.with_suffix(".new")
    aside.write_bytes(data)
    os.replace(aside, path)


@pytest.mark.parametrize(
    ("how", "change"),
    [
        pytest.param(rewrite, lambda data: data[: len(data) // 2], id="truncated"),
        pytest.param(rewrite, lambda data: b"", id="emptied"),
        pytest.param(replace, lambda data: data + b"{}\n", id="replaced by a longer copy"),
        pytest.param(rewrite, lambda data: b" " + data[1:], id="first byte rewritten"),
        pytest.param(rewrite, lambda data: data[:-2] + b" \n", id="last byte rewritten"),
        pytest.param(rewrite, lambda data: b"{}\n" + data, id="rotated"),
    ],
)
def test_a_file_that_changed_is_read_from_the_start(path, how, change):
    write(path, *(said(lesson(str(n)), f"msg_{n}") for n in range(40)))
    _, _, before = read(path)
    how(path, change(path.read_bytes()))
    texts, moves, after = read(path, before.position, before.cwd, before.branch)
    assert after.restarted
    assert texts == read(path)[0]
    assert (moves, after.position.offset) == (read(path)[1], read(path)[2].position.offset)


@pytest.mark.parametrize(
    "raw",
    [
        None,
        {},
        {"v": 2},
        {"v": 1, "device": 1, "inode": 1, "offset": -1},
        {"v": 1, "device": 1, "inode": True, "offset": 0, "head_hash": "0" * 64, "tail_hash": "0"},
    ],
)
def test_a_damaged_position_is_none(raw):
    assert parse_position(raw) is None


def test_no_file_yet_is_an_empty_scan(tmp_path):
    for absent in ("", str(tmp_path / "none.jsonl"), f"{__file__}/below"):
        texts, moves, found = read(absent)
        assert (texts, moves, found.position) == ([], [], None)
        assert prompt_before(absent, 10) == ""


def test_what_is_no_readable_file_is_said(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for wrong in ("fifo", ".", "loop", "nul\0byte", "lone\ud800", "x" * 300):
        with pytest.raises(StateError, match="transcript cannot be read") as caught:
            scan(os.path.join(tmp_path, wrong), None)
        assert caught.value.hint


def test_a_scan_that_is_not_iterated_can_be_closed(path):
    write(path, said("x"))
    found = scan(str(path), None)
    found.close()
    assert list(found.batches()) == []


def test_the_prompt_before_an_offset_is_the_last_user_lines(path):
    lines = [
        line("user", promptId="p1"),
        line("user", promptId="p2", message={"content": "x" * 200_000}),
        line("user", message={"content": [{"type": "tool_result", "promptId": "inner"}]}),
        line("attachment", promptId="not-a-user"),
        b'{"torn "promptId',
        said(lesson("a")),
        line("user", promptId="p3"),
    ]
    write(path, *lines)
    ends = [sum(len(item) + 1 for item in lines[: n + 1]) for n in range(len(lines))]
    prompts = [prompt_before(str(path), end) for end in ends]
    assert prompts == ["p1", "p2", "p2", "p2", "p2", "p2", "p3"]
    assert prompt_before(str(path), 0) == ""
    assert prompt_before(str(path), ends[0] - 1) == "p1"  # the newline is not the line


def test_the_prompt_is_found_behind_lines_too_long_to_read(path):
    write(path, line("user", promptId="p1"), b'"promptId"' + b"x" * (MAX_LINE + 70_000), said("x"))
    assert prompt_before(str(path), path.stat().st_size) == "p1"


def test_a_scan_that_finds_nothing_loads_no_grammar_and_little_memory(path):
    block = b"".join(line(note="x" * 900 + str(n)) + b"\n" for n in range(1_000))
    path.write_bytes(block * 24)
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from hooks.context.transcript import scan\n"
        "found = scan(sys.argv[2], None)\n"
        "assert [len(batch.moves) for batch in found.batches()] == [1]\n"
        "status = open('/proc/self/status').read() if sys.platform == 'linux' else ''\n"
        "print(found.position.offset, status.partition('VmHWM:')[2].split()[:1] or 0)\n"
        "print(*sorted({'re', 'json', 'typing', 'hashlib', 'pathlib'} & sys.modules.keys()))\n"
    )
    root = str(Path(__file__).parents[3])
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, root, str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    figures, modules = ran.stdout.splitlines()
    offset, peak_kib = (int(figure.strip("[']")) for figure in figures.split())
    assert offset == len(block) * 24 > 24 << 20
    assert peak_kib < 24 << 10
    assert modules == ""
