"""Nothing lost, nothing doubled: what one session's hooks keep, however its transcript grows."""

from __future__ import annotations

import json
import os
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from hooks.context import marks, switch
from hooks.context.brain_adapter import namespace
from hooks.context.scope import Scope
from hooks.context.scope_log import load, record
from scripts.swarm_v2 import keyspace
from tests.support.keeping import FOUNDED, START, Kept, copy_as_fork, lesson
from tests.support.session import compact, recorded_lines

WEB = "git.example.org/shop/web"


@pytest.fixture
def kept(home, project):
    return Kept(home, project)


def turn(kept, *texts):
    kept.ask()
    kept.say(*texts)


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


def test_lines_after_the_last_message_do_not_hide_it(kept):
    turn(kept, lesson("X"))
    with kept.session.transcript.open("ab") as file:
        for line in recorded_lines("tools"):
            if line["type"] not in ("user", "assistant"):
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


def test_the_project_is_the_one_in_force_when_the_marker_was_written(kept, repo):
    other = repo("api", "https://git.example.org/shop/api.git")
    turn(kept, lesson("in web"))
    kept.session.cwd = str(other)
    kept.say(lesson("in api"))
    kept.session.cwd = str(kept.session.project)
    kept.say(lesson("in web again"))
    kept.collect()
    assert [r.project.rpartition("/")[2] for r in kept.receipts()] == ["web", "api", "web"]
    assert [t.project_id.rpartition("/")[2] for t in load(kept.home, kept.session.id)] == [
        "web",
        "api",
        "web",
    ]


def test_an_unknown_project_is_kept_unattributed(home, tmp_path):
    folder = tmp_path / "plain"
    folder.mkdir()
    kept = Kept(home, folder)
    turn(kept, lesson("X"))
    (one,) = kept.collect().kept
    assert one.key == keyspace.marker_key(
        namespace(kept.settings), kept.session.id, "lesson", "", "X"
    )
    assert kept.receipts()[0].project == ""


def test_what_the_model_writes_under_a_reserved_name_is_dropped(kept):
    turn(kept, lesson("X", ts="2020-01-01T00:00:00Z", session_id="other", project_id="a/b/c"))
    kept.collect()
    attrs = kept.receipts()[0].document["attrs"]
    assert attrs["ts"].startswith("2026-11-30")
    assert attrs["session_id"] == kept.session.id
    assert attrs["attribution"] == "refused"
    assert "project_id" not in attrs


def test_a_secret_is_redacted_before_anything_is_stored(kept):
    secret = "ghp_" + "a1B2" * 9
    turn(kept, lesson(f"use {secret} to push", title=f"token {secret}"))
    (one,) = kept.collect().kept
    assert secret not in one.text
    assert one.redacted
    kept.drain()
    for folder, _, names in os.walk(kept.home):
        for name in names:
            assert secret.encode() not in (Path(folder) / name).read_bytes(), name
    assert kept.receipts()[0].redacted


def test_what_was_written_while_memory_was_off_is_never_kept(kept):
    turn(kept, lesson("before"))
    switch.turn(kept.home, False, switch.ALL, kept.tick())
    turn(kept, lesson("while off"))
    assert kept.collect(last_assistant_message=lesson("also off")).kept[0].text == "before"
    switch.turn(kept.home, True, switch.ALL, kept.tick())
    turn(kept, lesson("after"))
    assert [one.text for one in kept.collect().kept] == ["after"]
    os.unlink(os.path.join(kept.home, marks.LEDGER))
    kept.collect()
    assert [r.body.count("while off") for r in kept.receipts()] == [0, 0]
    assert [s.reason for s in kept.ignored()] == ["memory-off"]


def test_a_lost_ledger_is_made_again_and_nothing_is_posted_twice(kept):
    turn(kept, lesson("one"), lesson("two"))
    kept.collect()
    kept.drain()
    os.unlink(os.path.join(kept.home, marks.LEDGER))
    turn(kept, "nothing new")
    assert len(kept.collect().kept) == 2
    assert kept.drain().replayed == 2
    assert kept.texts() == ["one", "two"]
    assert kept.states() == ["replayed", "replayed"]


def test_after_a_lost_ledger_only_the_person_knows_what_a_brain_service_has(home, project):
    class Served(Kept):
        @property
        def settings(self):
            return super().settings._replace(brain_url="https://brain.example")

    kept = Served(home, project)
    turn(kept, lesson("delivered long ago"), lesson("waiting"))
    (first, _) = kept.collect().kept
    (name,) = [name for name in kept.waiting() if first.key in name]
    os.unlink(os.path.join(kept.home, "brain-outbox", name))
    os.unlink(os.path.join(kept.home, marks.LEDGER))
    assert kept.collect().kept == ()
    kept.ask()
    kept.at += timedelta(days=1)
    kept.collect()
    states = {r.document["content"]: r.state for r in kept.receipts()}
    assert states == {"delivered long ago": "unknown", "waiting": "pending"}
    assert len(kept.waiting()) == 1
    turn(kept, lesson("new"))
    assert len(kept.collect().kept) == 1


def test_a_broken_ledger_is_put_aside_and_made_again(kept):
    turn(kept, lesson("one"))
    kept.collect()
    path = Path(kept.home) / marks.LEDGER
    path.write_bytes(b"no database, " * 1000)
    turn(kept, lesson("two"))
    assert len(kept.collect().kept) == 1  # the first one's row comes from its outbox file
    assert len(kept.receipts()) == 2
    assert list(Path(kept.home).glob("ledger.db.damaged-*"))
    assert len(kept.waiting()) == 2


def test_a_record_of_the_installation_that_breaks_its_grammar_leaves_markers_waiting(kept):
    path = Path(kept.home) / "installation.json"
    before = path.read_bytes()
    path.write_bytes(b"{}")
    turn(kept, lesson("X"))
    found = kept.collect(last_assistant_message=lesson("X"))
    assert found.kept == ()
    assert "installation" in found.note
    assert path.read_bytes() == b"{}"
    path.write_bytes(before)
    assert len(kept.collect().kept) == 1


def test_a_stop_without_a_candidate_leaves_only_a_scan_mark(kept):
    turn(kept, "nothing to keep")
    kept.collect()
    names = {name for _, _, names in os.walk(kept.home) for name in names}
    assert "ledger.db" not in names
    assert "local.db" not in names
    assert f"{marks.transcript_id(str(kept.session.transcript))}.json" in names
    assert marks.nothing_new(kept.home, str(kept.session.transcript))
    kept.say("more")
    assert not marks.nothing_new(kept.home, str(kept.session.transcript))


def test_a_mark_does_not_outlive_the_ledger_it_stands_on(kept):
    path = str(kept.session.transcript)
    turn(kept, lesson("X"))
    kept.collect()
    assert marks.nothing_new(kept.home, path)
    os.unlink(os.path.join(kept.home, marks.LEDGER))
    assert not marks.nothing_new(kept.home, path)


def test_a_damaged_mark_only_costs_another_read(kept):
    turn(kept, lesson("X"))
    kept.collect()
    ident = marks.transcript_id(str(kept.session.transcript))
    for damage in (b"", b"{", b"[]", b'{"seen":1}', b"\xff\xfe"):
        Path(marks.mark_path(kept.home, ident)).write_bytes(damage)
        assert kept.collect().kept == ()
    assert len(kept.receipts()) == 1


def test_a_transcript_that_is_gone_takes_nothing_with_it(kept):
    turn(kept, lesson("X"))
    kept.collect()
    kept.session.transcript.unlink()
    assert kept.collect().note == ""
    assert kept.drain().committed == 1
    assert kept.texts() == ["X"]


def test_a_stop_that_has_nothing_to_keep_loads_no_database_and_no_grammar():
    import subprocess

    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import hooks.context.collect, hooks.context.marks\n"
        "heavy = {'sqlite3', 're', 'json', 'typing', 'pathlib', 'hashlib', 'uuid'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    root = str(Path(__file__).resolve().parents[3])
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, root], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"
