"""What brains that this home owns promise beside ``test_brains``; a kind is a row in ``KINDS``."""

from __future__ import annotations

import uuid

import pytest

from hooks.context.brains import Item
from hooks.context.brains.file import FileBrain
from hooks.context.brains.local import LocalBrain
from hooks.errors import BrainConflict, BrainRefused

WEB, API, SHOP = (f"git.example.org/shop/{name}" for name in ("web", "api", "shop"))
ANN, BOB = "ann", "bob"


def local(folder, who, aliases):
    return LocalBrain(str(folder / "local.db"), who, aliases)


def file(folder, who, aliases):
    return FileBrain(str(folder), who, aliases)


KINDS = {"local": local, "file": file}


@pytest.fixture(params=KINDS.values(), ids=KINDS.keys())
def opened(request, tmp_path):
    """Open the one brain of this test: ``opened(who)``, as often as a test wants."""
    folder = tmp_path / "brain"
    folder.mkdir()
    brains = []

    def make(who=ANN, aliases=()):
        brains.append(request.param(folder, who, dict(aliases)))
        return brains[-1]

    yield make
    for brain in brains:
        brain.close()


@pytest.fixture
def brain(opened):
    return opened()


def key():
    return uuid.uuid4().hex


def body(text="Run the tests first", type_="lesson", **attrs):
    named = {"project_id": WEB, "session_id": "s1", **attrs}
    return {"type": type_, "content": text, "attrs": named}


def texts(items):
    return [item.text for item in items]


def test_everything_that_a_reader_sees_comes_back(brain):
    one = key()
    at = "2026-11-30T10:00:00+00:00"
    said = body(severity="high", ts=at, title="First: tests", path="a/b.py", message_id="m")
    assert brain.post_marker(said, one) == ("committed", one, False)
    (item,) = brain.project_memory(WEB, ANN)
    assert item == Item(
        id=one,
        type="lesson",
        text="Run the tests first",
        severity="high",
        title="First: tests",
        at=at,
        project=WEB,
        session="s1",
        message_id="m",
        path="a/b.py",
    )


TEXTS = {
    "several lines": "first\n\n  second\n# third\n---\nfourth: x",
    "quotes": 'it\'s "quoted" \\ and <tag> & 名前 😀',
    "control characters": "a\0b\x07c\x1bd",
    "carriage returns": "a\r\nb\rc",
    "a merge": "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> c",
    "line ends of other systems": "a\u2028b\x85c",
    "long": "word " * 20_000 + "end",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_any_text_comes_back_as_it_was(brain, text):
    brain.post_marker(body(text, title=text[:200]), key())
    (item,) = brain.project_memory(WEB, ANN)
    assert (item.text, item.title) == (text, text[:200])


def test_memories_come_oldest_first(brain):
    for number in range(6):
        brain.post_marker(body(f"lesson {number}"), key())
    assert texts(brain.project_memory(WEB, ANN)) == [f"lesson {n}" for n in range(6)]


def test_another_key_for_the_same_message_and_thought_is_a_replay_of_the_first(opened):
    one, two = key(), key()
    opened().post_marker(body(message_id="msg_1"), one)
    other = opened(BOB)
    again = body(message_id="msg_1", session_id="fork")
    assert other.post_marker(again, two) == ("replayed", one, False)
    assert other.post_marker(again, two).key == one
    assert other.post_marker(body("Another", message_id="msg_1"), key()).kind == "committed"
    assert other.post_marker(body(message_id="msg_2"), key()).kind == "committed"
    assert other.post_marker(body(message_id="msg_1", type_="decision"), key()).kind == "committed"
    assert other.post_marker(body(message_id="msg_1", scope="user"), key()).kind == "committed"


@pytest.mark.parametrize(
    ("ours", "theirs"), [("a", "ab"), ("a", "a:b"), ("a:b", "a%3Ab"), ("user", "user1")]
)
def test_no_principal_is_the_beginning_of_another(opened, ours, theirs):
    for who in (ours, theirs):
        for scope in ("user", "session"):
            opened(who).post_marker(body(f"needle of {who}, {scope}", scope=scope), key())
    for who in (ours, theirs):
        brain = opened(who)
        own = [f"needle of {who}, user", f"needle of {who}, session"]
        assert texts(brain.project_memory(WEB, who)) == own
        assert sorted(texts(brain.search("needle", WEB))) == sorted(own)
        assert sorted(texts(brain.find(""))) == sorted(own)


def test_search_shows_nothing_that_the_projects_memory_would_not(opened):
    for project, scope in ((WEB, "project"), (API, "project"), (WEB, "user")):
        said = body(f"needle {project} {scope}", project_id=project, scope=scope)
        opened().post_marker(said, key())
    assert len(opened().search("needle", WEB)) == 2
    assert len(opened(BOB).search("needle", WEB)) == 1
    assert opened().search("needle", "unknown") == []


def test_search_finds_beginnings_of_words_and_text_without_blanks(brain):
    brain.post_marker(body("Always vacuum the Café database"), key())
    brain.post_marker(body("設定は再起動で読む"), key())
    assert len(brain.search("vacu data", WEB)) == 1
    assert len(brain.search("cafe", WEB)) == 1
    assert len(brain.search("再起動", WEB)) == 1
    assert brain.search('"quoted" OR (', WEB) == []
    assert brain.search("  ", WEB) == []


def test_what_would_cross_projects_does_so_only_once_accepted(opened):
    brain = opened()
    signal, fleet, mine = key(), key(), key()
    brain.post_marker(body("signal", type_="signal"), signal)
    brain.post_marker(body("fleet", share="fleet"), fleet)
    brain.post_marker(body("mine", scope="user"), mine)
    assert brain.feed() == []
    assert brain.project_memory(API, ANN) == []
    assert texts(brain.waiting()) == ["signal", "fleet", "mine"]
    assert texts(opened(BOB).waiting()) == ["signal", "fleet"]
    for one in (signal, fleet, mine):
        assert brain.accept(one)
    assert texts(brain.feed()) == ["signal", "fleet"]
    assert texts(brain.project_memory(API, ANN)) == ["mine"]
    assert brain.project_memory(API, BOB) == []
    assert brain.waiting() == []
    assert not brain.accept(key())


def test_a_marker_cannot_accept_itself_or_say_who_it_is(brain):
    said = {"accepted": "true", "id": "f" * 32, "principal": BOB, "state": "forgotten"}
    one = key()
    brain.post_marker(body("signal", type_="signal", **said), one)
    assert brain.feed() == []
    assert [item.id for item in brain.waiting()] == [one]
    assert brain.attrs_of(one)["accepted"] == "true"


def test_a_memory_of_no_known_project_is_kept_and_shown_to_no_project(brain):
    one = key()
    brain.post_marker(body("none", project_id=""), one)
    brain.post_marker(body("unknown", project_id="unknown"), key())
    for project in ("", "unknown", WEB, "fleet"):
        assert brain.project_memory(project, ANN) == []
    assert brain.feed() == []
    assert len(brain.find(one)) == 1
    assert texts(brain.unattributed()) == ["none", "unknown"]


def test_a_project_shows_what_an_alias_leads_to_it(opened):
    for project in (WEB, API, SHOP):
        opened().post_marker(body(project, project_id=project), key())
    joined = opened(aliases={WEB: SHOP, API: SHOP})
    assert sorted(texts(joined.project_memory(SHOP, ANN))) == sorted([WEB, API, SHOP])
    assert texts(opened().project_memory(SHOP, ANN)) == [SHOP]


def test_a_moved_memory_is_the_other_projects_with_its_history_and_no_new_record(brain):
    old, new, shared = key(), key(), key()
    brain.post_marker(body("v1", project_id="", cwd="/x", message_id="m"), old)
    brain.edit(old, body("v2", project_id=""), new)
    brain.post_marker(body("shared", share="fleet"), shared)
    assert brain.move(new, WEB)
    assert texts(brain.project_memory(WEB, ANN)) == ["v2"]
    assert texts(brain.history(new)) == ["v1"]
    assert brain.attrs_of(new)["project_id"] == WEB
    assert brain.unattributed() == []
    assert brain.post_marker(body("v1", message_id="m"), key()) == ("replayed", old, False)
    for one in (old, shared, key()):  # replaced, everybody's, unknown
        assert not brain.move(one, WEB)


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


def test_an_edit_wins_once_and_the_second_one_learns_what_stands_there_now(opened):
    old, first, second = key(), key(), key()
    brain = opened()
    brain.post_marker(body("v1"), old)
    assert brain.edit(old, body("v2"), first).kind == "committed"
    with pytest.raises(BrainConflict) as lost:
        opened().edit(old, body("v3"), second)
    assert (lost.value.current, lost.value.text) == (first, "v2")
    assert texts(brain.project_memory(WEB, ANN)) == ["v2"]
    assert brain.project_memory(WEB, ANN)[0].cls == "person"
    assert brain.edit(old, body("v2"), first).kind == "replayed"
    with pytest.raises(BrainRefused):
        brain.edit(key(), body("v4"), key())


def test_a_chain_of_edits_is_its_history_and_is_forgotten_with_its_head(brain):
    keys = [key() for _ in range(4)]
    brain.post_marker(body("v0"), keys[0])
    for number in range(1, 4):
        brain.edit(keys[number - 1], body(f"v{number}"), keys[number])
    assert texts(brain.project_memory(WEB, ANN)) == ["v3"]
    assert texts(brain.history(keys[3])) == ["v2", "v1", "v0"]
    assert brain.forget(keys[3])
    assert brain.find("") == []
    assert brain.post_marker(body("v0"), keys[0]).forgotten


def test_a_forgotten_memory_stays_away_by_key_by_message_and_by_session(opened):
    one = key()
    opened().post_marker(body(message_id="m"), one)
    brain = opened()
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


def test_no_byte_of_a_forgotten_text_is_left_in_the_folder(brain, tmp_path):
    doomed = [key() for _ in range(10)]
    for number, one in enumerate(doomed):
        brain.post_marker(body(f"xylophone{number} " + "zanzibar " * 50, title="quixotic"), one)
        brain.post_marker(body(f"kept {number}"), key())
    for one in doomed:
        brain.forget(one)
    brain.close()
    files = [path for path in (tmp_path / "brain").rglob("*") if path.is_file()]
    data = b"".join(path.read_bytes() for path in files)
    assert b"kept 9" in data
    for word in (b"xylophone", b"zanzibar", b"quixotic"):
        assert word not in data.lower()


def test_the_attributes_come_back(brain):
    one = key()
    attrs = {
        "ts": "2026-11-30T10:00:00+00:00",
        "project": "web",
        "repo": "web",
        "branch": "main",
        "scope": "user",
        "class": "agent",
        "severity": "high",
        "x-odd name": "a: b",
        "source": "agent",
    }
    brain.post_marker(body(**attrs), one)
    assert brain.attrs_of(one) == {"project_id": WEB, "session_id": "s1", **attrs}
    assert brain.attrs_of(key()) == {}


def test_counts_say_what_is_there(brain):
    brain.post_marker(body(), key())
    brain.post_marker(body("x", type_="signal"), key())
    brain.post_marker(body("this session's", scope="session"), key())
    brain.post_marker(body("of no project", project_id=""), key())
    brain.forget(key())
    assert brain.counts(WEB) == {
        "project": 2,
        "no_project": 1,
        "all": 4,
        "waiting": 1,
        "forgotten": 1,
    }
