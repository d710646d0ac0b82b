"""What a marker may claim, what is never kept, and what a lost ledger means."""

from __future__ import annotations

import os
import sys
from datetime import timedelta
from pathlib import Path

from hooks.clock import parse_iso
from hooks.context import marks, switch
from hooks.context.brain_adapter import namespace
from hooks.context.scope_log import LAUNCH_TOLERANCE_S, load
from scripts.swarm_v2 import keyspace
from tests.support.keeping import Kept, lesson, turn

WEB = "git.example.org/shop/web"
WEB = "git.example.org/shop/web"


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


def test_a_marker_that_says_it_was_written_just_before_the_launch_has_its_scope(kept):
    """Whole-second timestamps, or a clock that was stepped in between."""
    turn(kept, lesson("first"))
    kept.collect()
    [launch] = load(kept.home, kept.session.id)
    begun = parse_iso(launch.at)
    assert begun is not None
    tolerance = timedelta(seconds=LAUNCH_TOLERANCE_S)
    kept.session.says(lesson("near"), at=begun - tolerance)
    kept.collect()
    assert [(r.document["content"], r.project) for r in kept.receipts()] == [
        ("first", WEB),
        ("near", WEB),
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
