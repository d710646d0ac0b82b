"""A starting session is told its context instance: stored where nothing moved, else run."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

import pytest

from hooks.context import own_context, registry
from hooks.context.brain_adapter import principal
from hooks.context.brains import open_brain
from hooks.context.keep_context import keep_context
from hooks.context.own_context import context_for, roots_of
from hooks.settings import Settings
from scripts.swarm_v2.memory.document import make_link
from scripts.swarm_v2.memory.library import open_session, open_store
from scripts.swarm_v2.memory.sessions import Credential, Lease
from scripts.swarm_v2.memory.store import Commit, Write
from scripts.swarm_v2.scope_key import Identity, resolve_scope_key
from scripts.swarm_v2.wire_json import canonical

WEB, API = "git.example.org/shop/web", "git.example.org/shop/api"
AT = datetime(2026, 11, 30, 10, tzinfo=UTC)
ONE, TWO = "s1", "s2"


@pytest.fixture
def settings(tmp_path):
    return Settings(str(tmp_path / "agentihooks"))


class Place:
    """One home's brain, and what its sessions are told."""

    def __init__(self, settings):
        self.settings = settings

    def say(self, text, project=WEB, session=ONE, **attrs):
        key = uuid.uuid4().hex
        named = {"project_id": project, "session_id": session, **attrs}
        body = {"type": attrs.pop("type", "lesson"), "content": text, "attrs": named}
        self.brain("post_marker", body, key)
        return key

    def brain(self, name, *args):
        brain = open_brain(self.settings, {})
        try:
            return getattr(brain, name)(*args)
        finally:
            brain.close()

    def told(self, session=ONE, project=WEB, who=""):
        value = context_for(self.settings._replace(principal=who), project, session)
        return [item["text"] for section in value["sections"] for item in section["items"]]

    def keep(self, session=ONE, project=WEB, who=""):
        return keep_context(self.settings._replace(principal=who), project, session, AT)

    def is_stored(self, session=ONE, who=""):
        """Say whether what a session is told is the stored instance."""
        return bool(self._found(session, who))

    def _found(self, session, who):
        ran = []
        run, own_context._run = own_context._run, lambda *args: ran.append(args)
        try:
            context_for(self.settings._replace(principal=who), WEB, session)
        finally:
            own_context._run = run
        return not ran


@pytest.fixture
def place(settings):
    return Place(settings)


def test_what_is_stored_is_told_to_every_session_until_an_input_moves(place):
    place.say("first")
    assert place.told() == ["first"]
    assert not place.is_stored()
    assert place.keep()
    assert place.is_stored(ONE)
    assert place.is_stored(TWO)
    place.say("second")
    assert not place.is_stored()
    assert sorted(place.told()) == ["first", "second"]
    assert place.keep()
    assert place.is_stored()


def test_a_stored_context_equals_one_that_is_run(place):
    place.say("first", severity="high")
    place.say("mine", scope="user")
    ran = context_for(place.settings, WEB, ONE)
    place.keep()
    assert place.is_stored()
    assert context_for(place.settings, WEB, ONE) == ran


def test_with_nothing_moved_nothing_is_written(place):
    place.say("first")
    assert place.keep()
    assert not place.keep()
    assert not place.keep(TWO)


def test_a_sessions_own_note_is_told_to_it_alone_and_leaves_the_others_what_is_stored(place):
    place.say("everybody's")
    place.keep()
    place.say("of this run", scope="session", session=TWO)
    assert place.is_stored(ONE)
    assert not place.is_stored(TWO)
    assert sorted(place.told(TWO)) == ["everybody's", "of this run"]
    assert place.keep(TWO)
    assert place.is_stored(TWO)
    assert place.told(ONE) == ["everybody's"]


def test_a_personal_memory_narrows_its_persons_context_and_nobody_elses(place):
    place.say("everybody's")
    mine = place.settings._replace(principal="ann")
    Place(mine).say("ann's", scope="user")
    assert sorted(place.told(who="ann")) == ["ann's", "everybody's"]
    assert place.told(who="bob") == ["everybody's"]
    assert place.keep(who="ann")
    place.keep(who="bob")
    assert sorted(place.told(who="ann")) == ["ann's", "everybody's"]
    assert place.told(who="bob") == ["everybody's"]


def test_what_a_person_accepted_is_told_in_other_projects_also_over_a_stored_context(place):
    place.say("of api", project=API)
    mine = place.say("I like tabs", scope="user")
    signal = place.say("The API changed", **{"class": "agent"}, type="signal")
    assert place.keep(project=API)
    for key in (mine, signal):
        place.brain("accept", key)
    assert sorted(place.told(project=API)) == ["I like tabs", "The API changed", "of api"]
    assert sorted(place.told()) == ["I like tabs", "The API changed"]


def test_what_is_forgotten_is_in_no_stored_context_and_in_no_byte_of_the_file(place, tmp_path):
    doomed = place.say("xylophone in the attic")
    place.say("stays")
    place.keep()
    place.say("another")
    place.keep()
    place.brain("forget", doomed)
    assert not place.is_stored()
    assert sorted(place.told()) == ["another", "stays"]
    data = (tmp_path / "agentihooks" / "brain" / "local.db").read_bytes()
    assert b"stays" in data
    assert b"xylophone" not in data


def test_an_alias_that_is_added_makes_the_stored_context_void(place):
    place.say("here")
    place.say("of before", project=API)
    place.keep()
    registry.add_alias(place.settings.home, API, WEB)
    assert not place.is_stored()
    assert sorted(place.told()) == ["here", "of before"]
    assert roots_of(place.settings.home, WEB).joined == (API,)


def test_where_another_process_has_the_lease_nothing_is_committed(place):
    place.say("first")
    store = open_store(place.settings.home)
    try:
        lease = Lease(store, WEB, "server")
        assert lease.acquire()
        assert not place.keep()
        assert place.told() == ["first"]
        assert store.read(WEB, "space", "context") is None
        lease.release()
        assert place.keep()
    finally:
        store.close()


def test_a_context_that_is_stored_again_keeps_no_text_of_the_one_before(place):
    for number in range(4):
        place.say(f"lesson {number}")
        assert place.keep()
    store = open_store(place.settings.home)
    try:
        kept = store.history(WEB, "space", "context")
        assert [(one.op, one.value is None) for one in kept] == [("set", False), ("erase", True)]
    finally:
        store.close()


def test_a_hook_and_a_runtime_give_the_same_bytes_and_neither_commits_what_is_unchanged(place):
    place.say("everybody's", severity="high")
    place.say("mine", scope="user")
    place.say("of this run", scope="session", session=TWO)
    home, who = place.settings.home, principal(place.settings)
    for session in (ONE, TWO):
        ran = canonical(context_for(place.settings, WEB, session))
        store = open_store(home)
        served = open_session(
            store,
            WEB,
            Credential(who, "token"),
            session,
            now=lambda: AT,
            roots=lambda space, _: roots_of(home, space),
        )
        try:
            assert canonical(served.read("context")["value"]) == ran
            place.keep(session)
            seq = store.seq(WEB)
            assert place.is_stored(session)
            assert not place.keep(session)
            assert canonical(context_for(place.settings, WEB, session)) == ran
            assert canonical(served.read("context")["value"]) == ran
            assert store.seq(WEB) == seq
        finally:
            served.close()
            store.close()


def test_what_cannot_be_made_now_is_told_as_it_was_last_as_a_server_does(place):
    place.say("everybody's")
    place.say("of this run", scope="session")
    place.keep()
    good = canonical(context_for(place.settings, WEB, ONE))
    home, who = place.settings.home, principal(place.settings)
    store = open_store(home)
    key = resolve_scope_key("user", Identity(who))
    circle = make_link("preferences", "user")
    store.commit(WEB, Commit("system", (Write("preferences", key, "set", circle),)))
    place.say("later")
    told = canonical(context_for(place.settings, WEB, ONE))
    roots = lambda space, _: roots_of(home, space)  # noqa: E731 - as a server's
    with open_session(store, WEB, Credential(who, "token"), ONE, now=lambda: AT, roots=roots) as at:
        assert canonical(at.read("context")["value"]) == told == good
    store.close()


def test_there_is_no_context_of_no_project_or_of_another_brain_or_of_none(place, settings):
    assert context_for(settings, WEB, ONE) is None
    assert not keep_context(settings, WEB, ONE, AT)
    place.say("first")
    assert context_for(settings, "unknown", ONE) is None
    other = settings._replace(brain_source="none")
    assert context_for(other, WEB, ONE) is None
    assert principal(settings)
