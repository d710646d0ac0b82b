"""What scoped memory's own doors erase leaves no word in the rest of the home either."""

from __future__ import annotations

import pathlib
from datetime import UTC, datetime

import pytest

from hooks.clock import iso
from hooks.context import erased, injections, project_cache
from hooks.context.brain_adapter import namespace
from hooks.context.brains import open_brain
from hooks.context.compose import Source
from hooks.settings import Settings
from scripts.swarm_v2.memory import library
from scripts.swarm_v2.memory.library import open_session, open_store
from scripts.swarm_v2.memory.sessions import Credential
from tests.support.keeping import Kept, lesson

WEB = "git.example.org/shop/web"
AT = datetime(2026, 11, 30, 10, tzinfo=UTC)
WORD = "zebraquartz"


def now():
    return AT


def files_with(home, word=WORD):
    found = pathlib.Path(home).rglob("*")
    return [str(path) for path in found if path.is_file() and word.encode() in path.read_bytes()]


@pytest.fixture
def memory(home):
    home.mkdir(exist_ok=True)
    store = open_store(str(home))
    with open_session(store, WEB, Credential("ann", "test"), "s1", now=now) as session:
        yield session
    store.close()


def put(memory, document_id, value, scope="space"):
    memory.commit({"writes": [{"id": document_id, "scope": scope, "value": value}]})


def erase(memory, document_id, scope="space"):
    memory.commit({"writes": [{"id": document_id, "scope": scope, "op": "erase"}]})


def told(home, session, *names):
    sources = [Source((name,), f"- {WORD}") for name in names]
    injections.note(str(home), session, "SessionStart", f"- {WORD}", sources, at=iso(AT))


def cached(home, name, project=WEB):
    space = namespace(Settings(str(home)), project)
    payload: dict[str, object] = {"items": [{"id": name, "text": WORD}]}
    project_cache.store(str(home), space, "project-memory", payload, project, at=AT)


@pytest.mark.parametrize(
    ("document_id", "name", "scope"),
    [
        ("memory/sec", "sec", "space"),
        ('memory/ä "q"', 'ä "q"', "user"),
        ("memory/sec", "sec", "session"),
        ("preferences", "preferences", "user"),
    ],
)
def test_an_erased_document_is_in_no_note_and_no_cache(home, memory, document_id, name, scope):
    value = {"style": WORD} if document_id == "preferences" else {"text": WORD}
    put(memory, document_id, value, scope)
    told(home, "s1", name)
    told(home, "s1", "other")
    cached(home, name)
    erase(memory, document_id, scope)
    notes = injections.read(str(home), "s1")
    assert [row.text for row in notes] == ["(forgotten)", f"- {WORD}"]
    pathlib.Path(injections.path_of(str(home), "s1")).unlink()
    found = [path for path in files_with(home) if "k2-" in path or "injected" in path]
    assert found == ([] if document_id != "preferences" else found)


def test_another_sessions_notes_stay_where_only_one_sessions_document_went(home, memory):
    put(memory, "notes", {"goals": [WORD]}, "session")
    for session in ("s1", "s2"):
        told(home, session, "notes/goals")
        told(home, session, "notes")
        told(home, session, "notes-of-another")
    erase(memory, "notes", "session")
    texts = [[row.text for row in injections.read(str(home), one)] for one in ("s1", "s2")]
    assert texts == [["(forgotten)", "(forgotten)", f"- {WORD}"], [f"- {WORD}"] * 3]


def test_a_name_within_a_name_is_another_memory(home, memory):
    put(memory, "memory/a", {"text": WORD})
    told(home, "s1", "a/b")
    erase(memory, "memory/a")
    assert injections.read(str(home), "s1")[0].text == f"- {WORD}"


def test_what_was_killed_before_the_rest_is_done_by_the_next_run(home, memory, monkeypatch):
    put(memory, "memory/sec", {"text": WORD})
    told(home, "s1", "sec")
    with monkeypatch.context() as killed:
        killed.setattr(library, "_erased", lambda *_: None)
        erase(memory, "memory/sec")
    assert files_with(home)
    assert erased.finish(str(home), AT) == 1
    assert files_with(home) == []
    assert erased.finish(str(home), AT) == 0


def test_the_search_index_has_no_word_of_it(home, memory):
    put(memory, "memory/sec", {"text": WORD, "type": "lesson"})
    brain = open_brain(Settings(str(home)), {})
    try:
        assert [item.text for item in brain.search(WORD, WEB, 5)] == [WORD]
    finally:
        brain.close()
    assert files_with(home)
    erase(memory, "memory/sec")
    assert files_with(home) == []


@pytest.fixture
def marked(home, project):
    kept = Kept(home, project)
    kept.ask()
    kept.say(lesson(WORD))
    kept.collect()
    return kept


def at_the_store(kept, who="ann"):
    store = open_store(kept.home)
    return open_session(store, WEB, Credential(who, "test"), now=now)


def test_a_markers_memory_erased_by_anybody_is_forgotten_by_the_ledger_and_stays_away(marked):
    marked.drain()
    (receipt,) = marked.receipts()
    cached(marked.home, receipt.key)
    with at_the_store(marked) as memory:
        erase(memory, f"memory/{receipt.key}")
    assert marked.states() == ["forgotten"]
    assert [path for path in files_with(marked.home) if not path.endswith(".jsonl")] == []
    marked.collect("SessionEnd")
    pathlib.Path(marked.home, "ledger.db").unlink()
    marked.collect()
    marked.drain()
    assert marked.texts() == []


def test_nobody_takes_a_marker_that_still_waits_or_lives_elsewhere(marked):
    (receipt,) = marked.receipts()
    with at_the_store(marked) as memory:
        put(memory, f"memory/{receipt.key}", {"text": "x"}, "user")
        erase(memory, f"memory/{receipt.key}", "user")
        assert marked.states() == ["pending"]
        marked.drain()
        put(memory, f"memory/{receipt.key}", {"text": "x"}, "user")
        erase(memory, f"memory/{receipt.key}", "user")
    assert marked.states() == ["committed"]
    assert marked.texts() == [WORD]


def test_a_memory_that_was_moved_to_another_project_is_not_erased(marked):
    marked.drain()
    (receipt,) = marked.receipts()
    told(marked.home, "s1", receipt.key)
    brain = open_brain(marked.settings, marked.env)
    try:
        assert brain.move(receipt.key, "git.example.org/shop/api")
    finally:
        brain.close()
    assert erased.finish(marked.home, AT) == 0
    assert injections.read(marked.home, "s1")[0].text == f"- {WORD}"
    assert marked.states() == ["committed"]
