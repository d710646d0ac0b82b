from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from hooks.clock import iso
from hooks.context import session_index
from hooks.context.brain_adapter import LOCAL_DATABASE, principal
from hooks.context.brains import local_words
from hooks.context.brains.local_file import open_file
from hooks.context.ended_sessions import let_go
from hooks.settings import load
from scripts.swarm_v2.memory.memories import writes_for
from scripts.swarm_v2.memory.retention import KEPT_DAYS
from scripts.swarm_v2.memory.store import Commit
from scripts.swarm_v2.memory.store_sqlite import SqliteStore
from scripts.swarm_v2.scope_key import Identity, resolve_scope_key
from tests.conftest import NOON

LATER = NOON + timedelta(days=KEPT_DAYS, minutes=1)
SPACE = "proj"


class Home:
    """A home with a brain, and sessions that noted something there."""

    def __init__(self, folder):
        self.settings = load({"HOME": str(folder)})
        self.path = os.path.join(self.settings.home, LOCAL_DATABASE)
        os.makedirs(os.path.dirname(self.path))

    def key(self, session_id, who=""):
        person = who or principal(self.settings)
        return resolve_scope_key("session", Identity(person, session_id))

    def start(self, session_id, who="", pid="", transcript=""):
        entry = session_index.Entry(
            session_id, iso(NOON), SPACE, client_pid=pid, principal=who, transcript_path=transcript
        )
        session_index.append(self.settings.home, entry)

    def note(self, session_id, text, who="", at=NOON):
        value = {"text": text, "title": text, "type": "note", "at": iso(at)}
        writes = writes_for(f"m-{session_id}", value, self.key(session_id, who), "session")
        store = SqliteStore(self.path, opener=open_file)
        store.commit(SPACE, Commit("system", tuple(writes), at=iso(at)))
        store.close()

    def noted(self):
        db = open_file(self.path)
        try:
            return {str(row[0]) for row in db.rows("SELECT text FROM memory")}
        finally:
            db.close()

    def let_go(self, at, starting=""):
        return let_go(self.settings, {}, starting, at)


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


def test_what_a_session_noted_goes_a_stated_time_after_its_end(home):
    for session_id, who in (("s1", ""), ("s1", "ann"), ("s10", "")):
        home.start(session_id, who)
        home.note(session_id, f"quokka {session_id} {who}", who)
    assert home.let_go(NOON, starting="s10") == []  # seen to have ended
    assert home.let_go(NOON + timedelta(days=KEPT_DAYS)) == []
    assert len(home.noted()) == 3
    # The index knows one session by each id: the newest start counts, and that was ann's.
    assert home.let_go(LATER, starting="s10") == [(SPACE, home.key("s1", "ann"))]
    assert home.noted() == {"quokka s1 ", "quokka s10 "}


def test_no_word_of_it_is_left_in_the_file(home):
    home.start("s1")
    home.note("s1", "quokka")
    home.start("s2")
    home.note("s2", "wombat")
    db = open_file(home.path)
    assert len(local_words.matches(db, "quokka")) == 1
    db.close()
    home.let_go(NOON, starting="s2")
    assert home.let_go(LATER, starting="s2")
    files = [Path(home.path + end) for end in ("", "-wal", "-journal")]
    data = b"".join(path.read_bytes() for path in files if path.exists())
    assert b"wombat" in data
    assert b"quokka" not in data


def test_a_session_that_goes_on_keeps_its_notes(home, tmp_path):
    transcript = tmp_path / "t.jsonl"
    transcript.write_text("{}\n")
    os.utime(transcript, (LATER.timestamp(), LATER.timestamp()))
    home.start("resumed")
    home.start("works", pid=str(os.getpid()), transcript=str(transcript))
    for session_id in ("resumed", "works"):
        home.note(session_id, session_id)
    home.let_go(NOON)  # its client is silent now, says the clock of then
    assert home.let_go(LATER, starting="resumed") == []
    assert home.noted() == {"resumed", "works"}


def test_a_home_without_a_brain_of_its_own_is_left_as_it_is(home, tmp_path):
    assert home.let_go(NOON) == []
    assert not os.path.exists(home.path)
    home.start("s1")
    home.note("s1", "x")
    other = load({"HOME": str(tmp_path), "BRAIN_SOURCE_TYPE": "none"})
    assert other.home == home.settings.home
    for at in (NOON, LATER):
        assert let_go(other, {}, "", at) == []
    assert home.noted() == {"x"}
