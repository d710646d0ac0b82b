"""The embedded brain's file of format 1, brought up to documents: all of it or nothing, once."""

from __future__ import annotations

import os
import shutil
import sqlite3

import pytest

from hooks.context.brains import local_words
from hooks.context.brains.local import LocalBrain
from hooks.context.brains.local_file import open_file
from hooks.context.database import Database
from hooks.errors import BrainUnreachable, StateError
from tests.support.older_brain import API, WEB, OlderBrain
from tests.support.processes import at_once

ANN, BOB = "ann", "bob"


@pytest.fixture
def older(tmp_path):
    """A brain with a memory of each kind; the attributes are their keys."""
    brain = OlderBrain(tmp_path / "brain" / "local.db", ANN)
    brain.plain = brain.add("The staging port is 8080", severity="high", message_id="m1")
    brain.api = brain.add("needle of api", project=API)
    brain.old = brain.add("Deploy on Monday")
    brain.new = brain.add("Deploy on Tuesday", cls="person", supersedes=brain.old)
    brain._db.execute("UPDATE memory SET superseded_by = ? WHERE id = ?", (brain.new, brain.old))
    brain.mine = brain.add("I like tabs", scope="user")
    brain.crossed = brain.add("I like short answers", scope="user", accepted=1)
    brain.run = brain.add("half way", scope="session")
    brain.signal = brain.add("The API changed", type="signal", accepted=1)
    brain.asks = brain.add("The build is red", type="signal")
    brain.fleet = brain.add("Rebase first", project="", space="fleet", accepted=1)
    brain.homeless = brain.add("of nowhere", project="")
    brain.odd = brain.add("nul \0 and ü 再起動", title="odd", attrs='{"$link": "x", "lane": "l"}')
    brain.gone = brain.bury("forgotten words")
    brain.close()
    return brain


def opened(older, who=ANN):
    return LocalBrain(str(older.path), who)


def texts(items):
    return [item.text for item in items]


def everything(path):
    """What the brain shows, by each of its ways."""
    found = {}
    for who in (ANN, BOB):
        brain = LocalBrain(str(path), who)
        for project in (WEB, API, "unknown"):
            found[who, project] = brain.project_memory(project, who)
        found[who, "rest"] = (brain.feed(), brain.waiting(), brain.unattributed(), brain.find(""))
        found[who, "counts"] = brain.counts(WEB)
        found[who, "search"] = texts(brain.search("api", API))
        brain.close()
    return found


def test_every_memory_is_shown_where_it_was_and_in_its_order(older):
    brain = opened(older)
    assert texts(brain.project_memory(WEB, ANN)) == [
        "The staging port is 8080",
        "Deploy on Tuesday",
        "I like tabs",
        "I like short answers",
        "half way",
        "The API changed",
        "The build is red",
        "nul \0 and ü 再起動",
    ]
    assert texts(brain.project_memory(API, ANN)) == ["needle of api", "I like short answers"]
    assert texts(brain.project_memory(API, BOB)) == ["needle of api"]
    assert texts(brain.feed()) == ["The API changed", "Rebase first"]
    assert texts(brain.waiting()) == ["I like tabs", "The build is red"]
    assert texts(brain.unattributed()) == ["of nowhere"]
    assert texts(brain.history(older.new)) == ["Deploy on Monday"]
    assert brain.attrs_of(older.odd) == {"lane": "l"}
    item = brain.find(older.plain)[0]
    assert (item.severity, item.message_id, item.project) == ("high", "m1", WEB)
    brain.close()


def test_what_was_acknowledged_or_forgotten_stays_so(older):
    brain = opened(older)
    body = {"type": "lesson", "content": "The staging port is 8080"}
    again = {**body, "attrs": {"project_id": WEB, "session_id": "fork", "message_id": "m1"}}
    assert brain.post_marker(again, "e" * 32) == ("replayed", older.plain, False)
    gone = {"type": "lesson", "content": "forgotten words", "attrs": {"session_id": "s1"}}
    assert brain.post_marker(gone, "d" * 32) == ("replayed", older.gone, True)
    assert brain.unknown_keys([older.plain, older.gone, "c" * 32]) == ["c" * 32]
    brain.close()


def test_what_crosses_projects_lies_in_its_own_space_and_the_rest_in_its_projects(older):
    brain = opened(older)
    rows = brain._db.rows("SELECT id, kept_in FROM memory")
    kept = {str(key): space for key, space in rows}
    assert (kept[older.crossed], kept[older.signal], kept[older.fleet]) == (
        "person",
        *["fleet"] * 2,
    )
    assert (kept[older.plain], kept[older.asks], kept[older.homeless]) == (WEB, WEB, "shelf")
    assert brain.move(older.homeless, API)
    assert brain.accept(older.mine)
    assert texts(brain.project_memory(API, ANN)) == [
        "needle of api",
        "I like tabs",
        "I like short answers",
        "of nowhere",
    ]
    brain.close()


@pytest.mark.parametrize("words", [True, False])
def test_search_finds_what_was_there_before_and_what_came_since(tmp_path, words):
    older = OlderBrain(tmp_path / "local.db")
    older.add("alpha before")
    older.close(words=words)
    brain = opened(older)
    body = {"type": "lesson", "content": "alpha since", "attrs": {"project_id": WEB}}
    brain.post_marker(body, "f" * 32)
    assert sorted(texts(brain.search("alp", WEB))) == ["alpha before", "alpha since"]
    if local_words.available(brain._db):
        assert local_words.is_current(brain._db)
    brain.close()


def test_forgetting_leaves_no_byte_of_what_format_1_wrote(older):
    brain = opened(older)
    brain.forget(older.plain)
    brain.forget(older.new)
    brain.close()
    data = older.path.read_bytes()
    assert b"I like tabs" in data
    for word in (b"staging port", b"Deploy on", b"Tuesday"):
        assert word not in data


def test_killed_before_any_statement_it_comes_to_the_same_end(older, tmp_path):
    before = older.path.read_bytes()
    shutil.copy(older.path, tmp_path / "whole.db")
    wanted = everything(tmp_path / "whole.db")
    kills = 0
    for limit in range(1, 1000):
        older.path.write_bytes(before)
        pid = os.fork()
        if not pid:
            _die_before(limit, str(older.path))
        killed = os.waitpid(pid, 0)[1] != 0
        kills += killed
        if limit % 20 == 1 or not killed:  # to see all takes longer than to kill
            assert everything(older.path) == wanted, limit
        else:
            with sqlite3.connect(older.path) as raw:
                assert raw.execute("PRAGMA user_version").fetchone() == (1,), limit
                assert raw.execute("SELECT count(*) FROM memory").fetchone() == (12,), limit
            raw.close()
        if not killed:
            break
    assert kills > 50


def _die_before(limit, path):
    """Never returns: ends like a killed process before the n-th statement."""
    count, run = 0, Database.run

    def counted(self, *args):
        nonlocal count
        count += 1
        if count == limit:
            os._exit(9)
        return run(self, *args)

    Database.run = counted
    open_file(path).close()
    os._exit(0)


def test_several_first_openers_upgrade_once(older):
    code = """
brain = LocalBrain(sys.argv[1], "ann")
print(len(brain.find("")))
"""
    setup = "from hooks.context.brains.local import LocalBrain\nfrom hooks.context.database import "
    counts = at_once(4, setup + "be_patient\nbe_patient()", code, older.path)
    assert {line.strip() for line in counts} == {"12"}
    brain = opened(older)
    assert brain._db.number("SELECT count(*) FROM commit_log WHERE class = 'system'") == 11
    brain.close()


def test_an_older_version_says_what_the_file_is_and_changes_nothing(older):
    opened(older).close()
    before = older.path.read_bytes()
    with pytest.raises(StateError, match="it has format 2, this version knows 1"):
        Database(str(older.path), "CREATE TABLE memory (seq)", 1)
    assert older.path.read_bytes() == before


def test_a_file_of_a_newer_version_is_unreachable_and_left_alone(older):
    with sqlite3.connect(older.path) as raw:
        raw.execute("PRAGMA user_version=3")
    raw.close()
    before = older.path.read_bytes()
    with pytest.raises(BrainUnreachable, match="format 3"):
        opened(older)
    assert older.path.read_bytes() == before


def test_a_row_that_can_be_no_document_leaves_the_file_as_it_was(older):
    with sqlite3.connect(older.path) as raw:
        raw.execute("UPDATE memory SET scope_key = 'user:%zz' WHERE id = ?", (older.mine,))
    raw.close()
    before = older.path.read_bytes()
    with pytest.raises(BrainUnreachable, match="cannot be brought up"):
        opened(older)
    assert older.path.read_bytes() == before


def test_a_text_that_no_document_holds_is_cut_and_kept_whole_beside_it(tmp_path, monkeypatch):
    monkeypatch.setattr("hooks.context.brains.local_upgrade.MAX_BYTES", 6000)
    older = OlderBrain(tmp_path / "local.db")
    key = older.add("word " * 2000)
    older.add("short")
    older.close()
    brain = opened(older)
    assert texts(brain.find(key))[0].startswith("word word")
    assert brain._db.rows("SELECT key, text FROM oversize") == [(key, "word " * 2000)]
    brain.forget(key)
    assert brain._db.rows("SELECT key FROM oversize") == []
    brain.close()
