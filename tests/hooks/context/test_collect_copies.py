"""Copies, forks, rewrites, torn lines: a transcript may become anything between two hooks."""

from __future__ import annotations

from datetime import timedelta

import pytest

from hooks.context.brain_adapter import namespace
from scripts.swarm_v2 import keyspace
from tests.support.keeping import Kept, copy_as_fork, lesson, turn
from tests.support.session import compact, recorded_lines

WEB = "git.example.org/shop/web"


@pytest.mark.parametrize("marked", [True, False], ids=["fork", "background copy"])
def test_a_copied_transcript_adds_nothing(kept, home, project, marked):
    turn(kept, lesson("X"))
    kept.collect()
    fork = copy_as_fork(kept, home, project, marked=marked)
    assert fork.collect().kept == ()
    turn(fork, lesson("new in the copy"))
    assert len(fork.collect().kept) == 1
    fork.drain()
    assert fork.texts() == ["X", "new in the copy"]


def test_a_fork_read_before_its_original_gives_the_originals_key(kept, home, project):
    turn(kept, lesson("X"))
    fork = copy_as_fork(kept, home, project)
    (one,) = fork.collect().kept
    assert kept.collect().kept == ()
    space = namespace(kept.settings, WEB)
    # the fork's own scope log knows nothing of the original's time: no project, its session
    assert one.key in {
        keyspace.marker_key(namespace(kept.settings), kept.session.id, "lesson", "", "X"),
        keyspace.marker_key(space, kept.session.id, "lesson", "", "X"),
    }


def test_subagents_that_repeat_the_lines_add_nothing_and_their_own_are_kept(kept):
    turn(kept, lesson("X"))
    folder = kept.session.transcript.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    data = kept.session.transcript.read_bytes()
    for number in range(5):
        (folder / f"agent-{number}.jsonl").write_bytes(data)
    kept.collect()
    for number in range(5):
        path = folder / f"agent-{number}.jsonl"
        assert kept.collect("SubagentStop", agent_transcript_path=str(path)).kept == ()
    own = {**recorded_lines("subagent-sidechain")[-1], "sessionId": kept.session.id}
    own["message"]["content"] = [{"type": "text", "text": lesson("from the subagent")}]
    with path.open("ab") as file:
        file.write(compact(own))
    assert len(kept.collect("SessionEnd").kept) == 1


def test_a_compaction_that_ends_as_a_subagent_is_not_believed(kept):
    summary = "<summary>" + lesson("X") + "</summary>"
    fields = {"agent_transcript_path": "/gone.jsonl", "last_assistant_message": summary}
    assert kept.collect("SubagentStop", **fields).kept == ()


def rewrite(path, data):
    path.write_bytes(data)


def replace(path, data):
    other = path.with_suffix(".new")
    other.write_bytes(data)
    other.replace(path)


@pytest.mark.parametrize("change", [rewrite, replace])
def test_a_truncated_rewritten_or_replaced_transcript_is_read_again_and_doubles_nothing(
    kept, change
):
    for number in range(3):
        turn(kept, lesson(f"lesson {number}"))
    assert len(kept.collect().kept) == 3
    lines = kept.session.transcript.read_bytes().splitlines(keepends=True)
    change(kept.session.transcript, b"".join(lines[:-1]))
    assert kept.collect().kept == ()
    turn(kept, lesson("after"))
    assert [one.text for one in kept.collect().kept] == ["after"]


def test_cut_at_any_byte_and_continued_every_marker_is_kept_once(home, project, tmp_path):
    whole = Kept(home, project)
    turn(whole, lesson("first ◆"), "plain")
    turn(whole, lesson("second"))
    data = whole.session.transcript.read_bytes()
    for cut in range(0, len(data), 97):
        one = Kept(tmp_path / f"h{cut}", project, session_id=whole.session.id)
        one.session.transcript = tmp_path / "cut.jsonl"
        one.session.transcript.write_bytes(data[:cut])
        found = len(one.collect().kept)
        one.session.transcript.write_bytes(data)
        assert found + len(one.collect().kept) == 2, cut
        assert len(one.receipts()) == 2


def test_a_last_line_without_a_newline_is_read_when_it_is_whole(kept):
    turn(kept, lesson("X"))
    data = kept.session.transcript.read_bytes()
    kept.session.transcript.write_bytes(data[:-1])
    assert len(kept.collect().kept) == 1
    kept.session.transcript.write_bytes(data)
    turn(kept, lesson("Y"))
    assert len(kept.collect().kept) == 1


def behind(name):
    """Return what a client wrote that is nobody's message, of the person's own type too."""
    lines = recorded_lines(name)
    found = [row for row in lines if row["type"] not in ("user", "assistant") or row.get("isMeta")]
    snapshot = {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}
    progress = {**lines[-1], "type": "progress", "data": {"type": "hook_progress"}}
    return [*found, snapshot, progress]


@pytest.mark.parametrize("name", ["tools", "compacted", "cleared-2-after"])
def test_lines_after_the_last_message_do_not_hide_it(kept, name):
    turn(kept, lesson("X"))
    with kept.session.transcript.open("ab") as file:
        for line in behind(name):
            file.write(compact(line))
    assert len(kept.collect().kept) == 1


def test_strange_lines_lose_nothing_and_crash_nothing(kept):
    turn(kept, lesson("before"))
    message = {"role": "assistant", "id": "m9", "content": lesson("a\u2028b\0c as a string")}
    kept.session.write("assistant", message, at=kept.tick())
    with kept.session.transcript.open("ab") as file:
        file.write(b'["a","list",7]\n' + b"\0" * 512 + b"\n" + b'{"x":"\xff"}\n{"torn\n')
    half = {"role": "assistant", "id": "m10", "content": lesson("after HALF half")}
    kept.session.write("assistant", half, at=kept.tick())
    data = kept.session.transcript.read_bytes().replace(b"HALF", b"\\ud83d")
    kept.session.transcript.write_bytes(data)
    assert [one.text for one in kept.collect().kept] == [
        "before",
        "a\u2028b\0c as a string",
        "after \ufffd half",
    ]


def test_a_background_copy_read_before_the_originals_own_line_adds_nothing(kept, home, project):
    kept.ask()
    kept.collect(last_assistant_message=lesson("once"))  # the transcript is a message behind
    kept.say(lesson("once"))
    copy = copy_as_fork(kept, home, project, marked=False)
    copy.collect()
    kept.at = copy.at
    kept.collect()
    kept.drain()
    assert kept.texts() == ["once"]


def test_the_same_words_in_another_session_are_their_own_memory(kept, home, project):
    kept.ask()
    kept.collect(last_assistant_message=lesson("same"))
    other = Kept(home, project)
    other.at = kept.at
    turn(other, lesson("same"))
    assert len(other.collect().kept) == 1


def test_a_fork_read_before_its_original_belongs_to_the_forks_project(kept, home, project):
    turn(kept, lesson("X"))
    fork = copy_as_fork(kept, home, project)
    (one,) = fork.collect().kept
    # the key is still that of a session without a scope log
    assert one.key == keyspace.marker_key(
        namespace(kept.settings), kept.session.id, "lesson", "", "X"
    )
    fork.drain()
    assert fork.texts() == ["X"]


def test_a_marker_from_before_the_sessions_first_transition_belongs_to_that_one(kept):
    turn(kept, lesson("first"))
    kept.collect()  # notes where the session stands, at the line's time
    kept.at -= timedelta(minutes=5)  # the clock was set back
    kept.session.says(lesson("earlier"), at=kept.at)
    (one,) = kept.collect().kept
    kept.at += timedelta(minutes=9)
    kept.drain()
    assert kept.texts() == ["earlier", "first"]
    assert one.key == keyspace.marker_key(
        namespace(kept.settings), kept.session.id, "lesson", "", "earlier"
    )
