"""Nothing lost, nothing doubled: what one session's hooks keep, however its transcript grows."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from pathlib import Path

import pytest

from hooks.context.brain_adapter import namespace
from hooks.context.scope import Scope
from hooks.context.scope_log import record
from scripts.swarm_v2 import keyspace
from tests.support.keeping import FOUNDED, START, lesson, turn

WEB = "git.example.org/shop/web"


def test_a_marker_is_kept_once_over_many_stops(kept):
    turn(kept, "Hello. " + lesson("Run the tests first", severity="high"))
    first = kept.collect()
    assert [(one.type, one.text) for one in first.kept] == [("lesson", "Run the tests first")]
    assert first.spawn_needed
    for _ in range(3):
        turn(kept, "nothing to remember")
        assert kept.collect().kept == ()
    assert len(kept.waiting()) == 1
    assert kept.drain().committed == 1
    assert kept.texts() == ["Run the tests first"]
    assert kept.states() == ["committed"]
    assert kept.waiting() == []


def test_the_key_is_made_of_session_type_task_and_text_in_the_projects_namespace(kept):
    turn(kept, lesson("Run the tests first"))
    (one,) = kept.collect().kept
    space = namespace(kept.settings, WEB)
    wanted = keyspace.marker_key(space, kept.session.id, "lesson", "", "Run the tests first")
    assert one.key == wanted
    (name,) = kept.waiting()
    document = json.loads((Path(kept.home) / "brain-outbox" / name).read_bytes())
    assert name.endswith(f"-{wanted}.json")
    assert document["idempotency_key"] == wanted
    assert document["ts"] == document["attrs"]["ts"] == "2026-11-30T12:02:00.000000+00:00"
    assert document["attrs"]["project_id"] == WEB
    assert document["attrs"]["attribution"] == "scoped"


def test_scope_is_part_of_what_is_hashed(kept):
    turn(kept, lesson("mine", scope="user"))
    (one,) = kept.collect().kept
    space = namespace(kept.settings, WEB)
    assert one.key == keyspace.marker_key(space, kept.session.id, "lesson", "", "user\nmine")


@pytest.mark.parametrize("when", [FOUNDED - timedelta(days=1), None], ids=["before", "no time"])
def test_a_marker_from_before_the_cutover_or_of_no_time_keeps_its_legacy_key(kept, when):
    long = "password=hunter2hunter2 " + "x" * 5000
    kept.ask()
    if when:
        kept.session.says(lesson(long), at=when)
    else:
        message = {
            "id": "m",
            "role": "assistant",
            "content": [{"type": "text", "text": lesson(long)}],
        }
        kept.session.write("assistant", message, timestamp="yesterday")
    (one,) = kept.collect().kept
    assert one.key == keyspace.legacy_marker_key(kept.session.id, "lesson", long[:4096])
    assert "hunter2" not in one.text
    assert one.text.endswith("x" * 5000)
    assert one.redacted


def test_seven_markers_over_seven_turns_are_seven(kept):
    for number in range(7):
        turn(kept, lesson(f"lesson {number}"))
        assert len(kept.collect().kept) == 1
    kept.drain()
    assert kept.texts() == [f"lesson {number}" for number in range(7)]


def test_a_marker_of_five_thousand_characters_is_kept_whole(kept):
    long = "word " * 1000 + "end"
    turn(kept, lesson(long))
    (one,) = kept.collect().kept
    kept.drain()
    assert one.text == long
    assert kept.texts() == [long]


def test_a_marker_only_the_payload_has_is_kept_and_its_line_adopts_it(kept):
    turn(kept, lesson("on disk"))
    kept.ask()
    (said,) = kept.collect(last_assistant_message=lesson("not yet on disk")).kept[1:]
    assert [r.unseen for r in kept.receipts()] == [0, 1]
    assert kept.collect(last_assistant_message=lesson("not yet on disk")).kept == ()
    kept.say(lesson("not yet on disk"))
    assert kept.collect(last_assistant_message=lesson("not yet on disk")).kept == ()
    assert [r.unseen for r in kept.receipts()] == [0, 0]
    kept.drain()
    assert kept.texts() == ["on disk", "not yet on disk"]
    assert said.key == kept.receipts()[1].key


def test_a_line_that_comes_after_the_task_changed_still_adopts_the_row(kept):
    kept.ask()
    scope = Scope(project_id=WEB, task="one")
    record(kept.home, kept.session.id, START, scope)
    (said,) = kept.collect(last_assistant_message=lesson("X")).kept
    kept.say(lesson("X"))
    record(kept.home, kept.session.id, kept.at - timedelta(seconds=1), scope._replace(task="two"))
    assert kept.collect().kept == ()
    assert [r.key for r in kept.receipts()] == [said.key]
    # and only the first line: under another prompt the same words are this task's own
    turn(kept, lesson("X"))
    assert len(kept.collect().kept) == 1


def test_a_message_that_is_on_disk_already_is_not_kept_again_from_the_payload(kept):
    turn(kept, lesson("X"))
    assert len(kept.collect(last_assistant_message=lesson("X")).kept) == 1
    assert len(kept.receipts()) == 1


def test_without_a_transcript_the_payload_alone_is_kept_once(kept):
    for path in (
        "",
        "/nowhere/at/all.jsonl",
        kept.home,
        "~/x.jsonl",
        "relative.jsonl",
        "/dev/null",
    ):
        kept.collect(transcript_path=path, last_assistant_message=lesson("X"))
    assert len(kept.receipts()) == 1


def test_a_pipe_for_a_transcript_holds_nobody_up(kept, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert kept.collect(transcript_path=str(tmp_path / "pipe")).kept == ()


def test_the_same_words_later_in_the_session_are_ignored_as_the_same(kept):
    turn(kept, lesson("X"))
    (one,) = kept.collect().kept
    turn(kept, lesson("X", severity="high"))
    found = kept.collect()
    assert (found.kept, found.ignored) == ((), 1)
    assert [s.reason for s in kept.ignored()] == [f"same as {one.key}"]


def test_what_stands_in_code_is_ignored_with_its_reason(kept):
    turn(kept, f"```\n{lesson('X')}\n```\nand `{lesson('Y')}`")
    found = kept.collect()
    assert (found.kept, found.ignored) == ((), 2)
    assert {s.reason for s in kept.ignored()} == {"in-code-fence", "inline-code"}
    assert kept.collect().ignored == 0


def test_a_marker_never_straddles_two_messages(kept):
    turn(kept, "<!-- @lesson -->begin")
    kept.say("end<!-- @/lesson -->")
    assert kept.collect().kept == ()
