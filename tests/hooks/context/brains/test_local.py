"""The embedded brain: once for ever, hidden by scope, gone when forgotten."""

from __future__ import annotations

import sqlite3
import uuid

import pytest

from hooks.context.brains import local_words, open_brain
from hooks.context.brains.local import LocalBrain
from hooks.errors import BrainConflict, BrainRefused, BrainUnreachable
from hooks.settings import Settings
from scripts.swarm_v2.memory import sqlite_rows
from scripts.swarm_v2.memory.sqlite_rows import Place

WEB, API = "git.example.org/shop/web", "git.example.org/shop/api"
ANN, BOB = "ann", "bob"


def key() -> str:
    return uuid.uuid4().hex


def body(text="Run the tests first", type_="lesson", **attrs):
    named = {"project_id": WEB, "session_id": "s1", **attrs}
    return {"type": type_, "content": text, "attrs": named}


@pytest.fixture
def brain(tmp_path):
    found = LocalBrain(str(tmp_path / "brain" / "local.db"), ANN)
    yield found
    found.close()


class Other:
    """The same file opened by another principal, for one call."""

    def __init__(self, brain, who):
        self._path, self._who = brain._db.path, who

    def __getattr__(self, name):
        def call(*args):
            brain = LocalBrain(self._path, self._who)
            try:
                return getattr(brain, name)(*args)
            finally:
                brain.close()

        return call


def other(brain, who):
    return Other(brain, who)


def texts(items):
    return [item.text for item in items]


def test_a_posted_marker_is_that_projects_memory_and_no_other_projects(brain):
    one = key()
    assert brain.post_marker(body(severity="high", ts="2026-11-30T10:00:00+00:00"), one) == (
        "committed",
        one,
        False,
    )
    (item,) = brain.project_memory(WEB, ANN)
    assert (item.id, item.text, item.severity, item.project) == (
        one,
        "Run the tests first",
        "high",
        WEB,
    )
    assert item.at == "2026-11-30T10:00:00+00:00"
    assert item.scope_key == "space"
    assert brain.project_memory(API, ANN) == []
    assert brain.feed() == []


def test_the_same_key_is_one_memory_for_ever(brain):
    one = key()
    brain.post_marker(body(), one)
    assert brain.post_marker(body(title="later"), one).kind == "replayed"
    assert len(brain.project_memory(WEB, ANN)) == 1


def test_another_key_for_the_same_message_and_thought_is_a_replay_of_the_first(brain):
    one, two = key(), key()
    brain.post_marker(body(message_id="msg_1"), one)
    assert brain.post_marker(body(message_id="msg_1", session_id="fork"), two) == (
        "replayed",
        one,
        False,
    )
    assert brain.post_marker(body(message_id="msg_1", session_id="fork"), two).key == one
    assert brain.post_marker(body("Another", message_id="msg_1"), key()).kind == "committed"
    assert brain.post_marker(body(message_id="msg_2"), key()).kind == "committed"


def test_a_personal_memory_is_its_own_thought_and_only_its_principals(brain):
    brain.post_marker(body(message_id="m"), key())
    mine = key()
    assert brain.post_marker(body(message_id="m", scope="user"), mine).kind == "committed"
    assert len(brain.project_memory(WEB, ANN)) == 2
    assert [i.scope_key for i in brain.project_memory(WEB, BOB)] == ["space"]
    assert other(brain, BOB).find(mine[:8]) == []
    assert len(brain.find(mine[:8])) == 1


@pytest.mark.parametrize(
    ("ours", "theirs"), [("a", "ab"), ("a", "a:b"), ("a:b", "a%3Ab"), ("user", "user1")]
)
def test_no_principal_is_the_beginning_of_another(tmp_path, ours, theirs):
    path = str(tmp_path / "local.db")
    for who in (ours, theirs):
        brain = LocalBrain(path, who)
        for scope in ("user", "session"):
            brain.post_marker(body(f"needle of {who}, {scope}", scope=scope), key())
        brain.close()
    for who in (ours, theirs):
        brain = LocalBrain(path, who)
        own = [f"needle of {who}, user", f"needle of {who}, session"]
        assert texts(brain.project_memory(WEB, who)) == own
        assert sorted(texts(brain.search("needle", WEB))) == sorted(own)
        assert sorted(texts(brain.find(""))) == sorted(own)
        brain.close()


def test_search_shows_nothing_that_the_projects_memory_would_not(brain):
    for project, scope in ((WEB, "project"), (API, "project"), (WEB, "user")):
        brain.post_marker(body(f"needle {project} {scope}", project_id=project, scope=scope), key())
    assert len(brain.search("needle", WEB)) == 2
    assert len(other(brain, BOB).search("needle", WEB)) == 1
    assert brain.search("needle", "unknown") == []


@pytest.mark.parametrize("fts", [True, False])
def test_search_finds_beginnings_of_words_and_text_without_blanks(brain, monkeypatch, fts):
    if not fts:
        monkeypatch.setattr(local_words, "available", lambda db: False)
    brain.post_marker(body("Always vacuum the Café database"), key())
    brain.post_marker(body("設定は再起動で読む"), key())
    assert len(brain.search("vacu data", WEB)) == 1
    assert len(brain.search("再起動", WEB)) == 1
    assert brain.search('"quoted" OR (', WEB) == []
    assert brain.search("  ", WEB) == []


def test_an_index_that_an_interpreter_without_fts5_left_behind_is_made_again(brain, monkeypatch):
    first = key()
    brain.post_marker(body("alpha"), first)
    assert texts(brain.search("alp", WEB)) == ["alpha"]
    with monkeypatch.context() as without:
        without.setattr(local_words, "available", lambda db: False)
        brain.post_marker(body("beta"), key())
        brain.forget(first)
    brain.post_marker(body("gamma"), key())
    assert not local_words.is_current(brain._db)
    assert texts(brain.search("bet", WEB)) == ["beta"]
    assert local_words.is_current(brain._db)
    assert texts(brain.search("gam", WEB)) == ["gamma"]
    assert brain.search("alpha", WEB) == []


def test_a_signal_and_a_fleet_memory_reach_other_projects_only_once_accepted(brain):
    signal, fleet, mine = key(), key(), key()
    brain.post_marker(body("signal", type_="signal"), signal)
    brain.post_marker(body("fleet", share="fleet"), fleet)
    brain.post_marker(body("mine", scope="user"), mine)
    assert brain.feed() == []
    assert texts(brain.project_memory(API, ANN)) == []
    assert texts(brain.waiting()) == ["signal", "fleet", "mine"]
    assert texts(other(brain, BOB).waiting()) == ["signal", "fleet"]
    for one in (signal, fleet, mine):
        assert brain.accept(one)
    assert texts(brain.feed()) == ["signal", "fleet"]
    assert texts(brain.project_memory(API, ANN)) == ["mine"]
    assert texts(brain.project_memory(API, BOB)) == []
    assert brain.waiting() == []
    assert not brain.accept(key())


def test_a_memory_of_no_known_project_is_kept_and_shown_to_no_project(brain):
    one = key()
    brain.post_marker(body(project_id=""), one)
    brain.post_marker(body(project_id="unknown"), key())
    for project in ("", "unknown", WEB, "fleet"):
        assert brain.project_memory(project, ANN) == []
    assert len(brain.find(one)) == 1


def test_a_correction_hides_what_it_supersedes_and_keeps_it_as_history(brain):
    old, new = key(), key()
    brain.post_marker(body("The port is 80"), old)
    brain.post_marker(body("The port is 8080", supersedes=old[:8]), new)
    assert texts(brain.project_memory(WEB, ANN)) == ["The port is 8080"]
    assert texts(brain.search("port", WEB)) == ["The port is 8080"]
    assert texts(brain.history(new)) == ["The port is 80"]
    assert brain.find(old)[0].state == "superseded"


def test_an_agent_supersedes_nothing_of_another_project_of_a_person_or_by_a_lucky_guess(brain):
    foreign, persons, short = key(), key(), key()
    brain.post_marker(body("foreign", project_id=API), foreign)
    brain.post_marker(body("person's", **{"class": "person"}), persons)
    brain.post_marker(body("short"), short)
    for wanted in (foreign[:8], persons[:8], short[:3]):
        brain.post_marker(body("new", supersedes=wanted), key())
    assert texts(brain.project_memory(API, ANN)) == ["foreign"]
    assert texts(brain.project_memory(WEB, ANN))[:2] == ["person's", "short"]


def test_an_edit_wins_once_and_the_second_one_learns_what_stands_there_now(brain):
    old, first, second = key(), key(), key()
    brain.post_marker(body("v1"), old)
    assert brain.edit(old, body("v2"), first).kind == "committed"
    with pytest.raises(BrainConflict) as lost:
        brain.edit(old, body("v3"), second)
    assert (lost.value.current, lost.value.text) == (first, "v2")
    assert texts(brain.project_memory(WEB, ANN)) == ["v2"]
    assert brain.project_memory(WEB, ANN)[0].cls == "person"
    assert brain.edit(old, body("v2"), first).kind == "replayed"
    with pytest.raises(BrainRefused):
        brain.edit(key(), body("v4"), key())


def test_a_forgotten_memory_stays_away_by_key_by_message_and_by_session(brain):
    one = key()
    brain.post_marker(body(message_id="m"), one)
    assert brain.forget(one)
    for again in (
        (body(message_id="m"), one),
        (body(message_id="m", session_id="fork"), key()),
        (body(message_id="other line"), key()),
    ):
        assert brain.post_marker(*again)[::2] == ("replayed", True)
    assert brain.project_memory(WEB, ANN) == []
    assert brain.find(one) == []
    assert not brain.forget(one)


def test_a_memory_forgotten_before_it_arrives_never_arrives(brain):
    one = key()
    assert not brain.forget(one)
    assert brain.post_marker(body(), one).forgotten
    assert brain.project_memory(WEB, ANN) == []


def test_a_person_may_say_again_what_was_forgotten(brain):
    one = key()
    brain.post_marker(body("say"), one)
    brain.forget(one)
    again = brain.post_marker(body("say", **{"class": "person"}), key())
    assert again.kind == "committed"


def test_forgetting_takes_what_the_memory_replaced_with_it(brain):
    old, new = key(), key()
    brain.post_marker(body("secret v1"), old)
    brain.edit(old, body("secret v2"), new)
    brain.forget(new)
    assert brain.find(old) == []
    assert brain.post_marker(body("secret v1"), old).forgotten


def test_no_byte_of_a_forgotten_text_is_left_in_the_file(brain, tmp_path):
    doomed = [key() for _ in range(40)]
    for number, one in enumerate(doomed):
        brain.post_marker(body(f"xylophone{number} " + "zanzibar " * 50, title="quixotic"), one)
        brain.post_marker(body(f"kept {number}"), key())
    for one in doomed:
        brain.forget(one)
    brain.close()
    files = list((tmp_path / "brain").iterdir())
    data = b"".join(path.read_bytes() for path in files)
    assert b"kept 39" in data
    for word in (b"xylophone", b"zanzibar", b"quixotic"):
        assert word not in data.lower()


def test_a_marker_whose_scope_names_nobody_is_refused(brain):
    with pytest.raises(BrainRefused):
        brain.post_marker(body(scope="session", session_id=""), key())


def test_counts_and_health_say_what_is_there(brain):
    brain.post_marker(body(), key())
    brain.post_marker(body("x", type_="signal"), key())
    brain.forget(key())
    assert brain.counts(WEB) == {
        "project": 2,
        "no_project": 0,
        "all": 2,
        "waiting": 1,
        "forgotten": 1,
    }
    assert brain.health()["ok"] is True


def test_a_brain_that_is_no_database_is_unreachable_and_left_as_it_is(tmp_path):
    path = tmp_path / "brain" / "local.db"
    path.parent.mkdir()
    path.write_bytes(b"not a database, " * 500)
    before = path.read_bytes()
    with pytest.raises(BrainUnreachable):
        open_brain(Settings(str(tmp_path)), {})
    assert path.read_bytes() == before


@pytest.mark.parametrize("source", ["none", "file"])
def test_without_a_brain_to_talk_to_opening_says_why(tmp_path, source):
    with pytest.raises(BrainUnreachable):
        open_brain(Settings(str(tmp_path), brain_source=source), {})


def test_a_brain_service_is_not_reached_and_its_address_not_echoed(tmp_path):
    url = "http://user:hunter2@127.0.0.1:9"
    with pytest.raises(BrainUnreachable) as err:
        open_brain(Settings(str(tmp_path), brain_url=url), {}).health()
    assert "hunter2" not in str(err.value)


def test_the_file_is_private_and_its_identity_random(brain, tmp_path):
    LocalBrain(str(tmp_path / "two.db"), ANN).close()
    paths = [tmp_path / "brain" / "local.db", tmp_path / "two.db"]
    assert len({path.read_bytes()[68:72] for path in paths}) == 2
    assert (tmp_path / "two.db").stat().st_mode & 0o777 == 0o600
    with sqlite3.connect(paths[0]) as raw:
        assert raw.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    raw.close()


def test_an_index_that_is_full_unlinks_its_oldest_and_refuses_no_memory(brain, monkeypatch):
    monkeypatch.setattr("hooks.context.brains.local_changes.MOST_INDEX", 4_000)
    for number in range(60):
        ts = f"2026-11-30T10:{number:02}:00+00:00"
        assert brain.post_marker(body(f"memory {number}", ts=ts), key()).kind == "committed"
    assert len(brain.project_memory(WEB, ANN)) == 60
    at = Place(WEB, "", "index", "space")
    index = sqlite_rows.value(brain._db, at, sqlite_rows.head(brain._db, at))
    summaries = [entry["summary"] for entry in index["links"].values()]
    assert 5 < len(summaries) < 30
    assert f"memory {59}" in summaries
    assert "memory 0" not in summaries
