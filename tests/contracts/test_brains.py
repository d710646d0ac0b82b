"""One contract, every brain that a person can configure. A new one is done when it passes this."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from hooks.context import parts
from hooks.context.brains import BRAINS, open_brain
from hooks.errors import BrainRefused
from hooks.settings import Http, Settings
from scripts.swarm_v2.installation import installation
from tests.conftest import NOON
from tests.support.brain_server import BrainServer

WEB, API = "git.example.org/shop/web", "git.example.org/shop/api"
ANN = "ann"
KINDS = ("local", "file", "http", "hub")
HTTP_TYPES = {"lesson", "milestone", "signal", "decision"}


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def settings(kind, home, tmp_path):
    """Settings that lead to an empty brain of ``kind``; a new kind is a branch here."""
    installation(str(home), NOON)
    plain = Settings(str(home), principal=ANN)
    if kind == "file":
        (tmp_path / "notes").mkdir()
        yield plain._replace(brain_source="file", brain_path=str(tmp_path / "notes"))
    elif kind in ("http", "hub"):
        with BrainServer(tmp_path / "service", hub=kind == "hub") as server:
            http = Http(token=server.token)
            yield plain._replace(brain_url=server.url, http=http)
    else:
        yield plain


class Opened:
    """The brain, opened anew for each call, as each process does."""

    def __init__(self, settings):
        self.settings = settings

    def __getattr__(self, name):
        def call(*args):
            brain = open_brain(self.settings, {})
            try:
                return getattr(brain, name)(*args)
            finally:
                brain.close()

        return call


@pytest.fixture
def brain(settings):
    return Opened(settings)


def key():
    return uuid.uuid4().hex


def body(text="Run the tests first", type_="lesson", **attrs):
    named = {"project_id": WEB, "session_id": "s1", "ts": "2026-11-30T10:00:00+00:00", **attrs}
    return {"type": type_, "content": text, "attrs": {k: v for k, v in named.items() if v}}


def texts(items):
    return sorted(item.text for item in items)


def test_every_kind_that_can_be_spoken_to_is_here():
    spoken = {name for name, row in BRAINS.items() if row.module}
    assert spoken == set(KINDS) - {"hub"}


def test_a_posted_marker_is_acknowledged_and_is_its_projects_memory_alone(brain):
    one = key()
    assert brain.post_marker(body(severity="high", title="tests"), one) == ("committed", one, False)
    (item,) = brain.project_memory(WEB, ANN)
    said = (item.id, item.type, item.text, item.severity, item.project, item.session, item.cls)
    assert said == (one, "lesson", "Run the tests first", "high", WEB, "s1", "agent")
    assert item.at == "2026-11-30T10:00:00+00:00"
    assert (item.scope_key, item.accepted) == ("space", False)
    assert brain.project_memory(API, ANN) == []
    assert brain.project_memory("unknown", ANN) == []
    assert brain.feed() == []


def test_a_replay_is_acknowledged_as_one_and_adds_nothing(brain):
    one = key()
    brain.post_marker(body(), one)
    again = brain.post_marker(body(ts="2026-12-01T10:00:00+00:00", title="later"), one)
    assert again == ("replayed", one, False)
    assert len(brain.project_memory(WEB, ANN)) == 1


def test_the_text_comes_back_as_it_was(brain):
    text = '"quoted" ÄÖÜ 設定 😀 <b>&amp;</b>\n---\n  two lines\tand a tab: [x](y) # no'
    brain.post_marker(body(text), key())
    assert texts(brain.project_memory(WEB, ANN)) == [text]


@pytest.mark.parametrize("type_", sorted(HTTP_TYPES))
def test_every_type_is_kept_as_what_it_is(brain, type_):
    brain.post_marker(body(type_=type_), key())
    assert [item.type for item in brain.project_memory(WEB, ANN)] == [type_]


def test_what_is_no_marker_is_refused_for_good(brain):
    with pytest.raises(BrainRefused):
        brain.post_marker({"type": 7, "content": "x", "attrs": {}}, key())
    assert brain.project_memory(WEB, ANN) == []


def test_a_personal_memory_is_its_principals_alone(brain, settings):
    brain.post_marker(body("mine", scope="user"), key())
    brain.post_marker(body("all's"), key())
    assert texts(brain.project_memory(WEB, ANN)) == ["all's", "mine"]
    assert texts(brain.project_memory(API, ANN)) == []
    if settings.brain_url:  # there the credential says who it is
        other = Opened(settings._replace(principal="bob"))
        wanted = ["all's", "mine"] if other.health()["hub"] else ["all's"]
        assert texts(other.project_memory(WEB, "bob")) == wanted
    else:
        assert texts(brain.project_memory(WEB, "bob")) == ["all's"]


def test_a_sessions_note_is_kept_for_that_session(brain):
    brain.post_marker(body("for now", scope="session"), key())
    (item,) = brain.project_memory(WEB, ANN)
    assert item.scope_key == f"session:{ANN}:s1"


@pytest.mark.parametrize(
    "attrs",
    [
        pytest.param({"share": "fleet", "project_id": ""}, id="shared with everybody"),
        pytest.param({"project_id": "", "attribution": "unknown"}, id="of no known project"),
        pytest.param({"project_id": "", "attribution": "refused"}, id="of a project not granted"),
    ],
)
def test_nothing_reaches_every_project_by_the_agents_own_hand(brain, attrs):
    brain.post_marker(body(**attrs), key())
    assert brain.feed() == []
    assert brain.project_memory(WEB, ANN) == []


def test_a_signal_stays_in_its_project_until_it_is_accepted(brain):
    brain.post_marker(body("port 8080 is taken", "signal"), key())
    assert brain.feed() == []
    assert texts(brain.project_memory(WEB, ANN)) == ["port 8080 is taken"]


def test_what_was_forgotten_is_gone_and_stays_away(brain):
    one, two = key(), key()
    brain.post_marker(body("gone"), one)
    brain.post_marker(body("stays"), two)
    assert brain.forget(one) is True
    assert texts(brain.project_memory(WEB, ANN)) == ["stays"]
    assert brain.post_marker(body("gone"), one).forgotten
    assert texts(brain.project_memory(WEB, ANN)) == ["stays"]
    assert brain.forget(key()) is False


def test_memories_that_lack_session_and_message_are_never_taken_for_one_another(brain):
    """What is absent is equal in all of them; that makes them neither doubles nor forgotten."""
    bare = body("same words", session_id="", ts="")
    keys = [key() for _ in range(3)]
    assert [brain.post_marker(bare, one).kind for one in keys] == ["committed"] * 3
    assert texts(brain.project_memory(WEB, ANN)) == ["same words"] * 3
    brain.forget(keys[0])
    assert len(brain.project_memory(WEB, ANN)) == 2
    assert not brain.post_marker(bare, key()).forgotten
    assert len(brain.project_memory(WEB, ANN)) == 3


def test_a_long_text_goes_whole_or_in_parts_and_comes_back_whole(brain, settings, kind):
    text = " ".join(f"word{number}" for number in range(1_500))
    limit = BRAINS["http" if settings.brain_url else kind].max_chars
    one = key()
    for part in parts.split(text, one, limit):
        own = {"key": one, "part": part.name, "gap": part.gap}
        brain.post_marker(body(part.text, **own), part.key)
    (item,) = brain.project_memory(WEB, ANN)
    assert (item.id, item.text) == (one, text)


def test_it_says_that_it_is_well(brain):
    assert brain.health()["ok"] is True


def test_nothing_of_it_is_written_outside_its_place(brain, settings, home, tmp_path):
    brain.post_marker(body(), key())
    places = {home.parent.name, "notes", "service"}
    assert {path.name for path in Path(tmp_path).iterdir()} <= places
