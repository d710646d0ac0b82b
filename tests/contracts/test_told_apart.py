"""Sessions, projects and pauses that a key or a clock could take for one another."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from hooks.settings import Http
from tests.support.brain_server import BrainServer
from tests.support.git import make_repo
from tests.support.keeping import Kept, lesson, turn


class Person(Kept):
    """A session whose brain is a service."""

    server: BrainServer

    @property
    def settings(self):
        http = Http(token=self.server.token, timeout_s=1)
        return super().settings._replace(brain_url=self.server.url, http=http)


def test_the_same_words_in_two_projects_are_sent_as_two_memories_of_their_own(
    home, project, tmp_path
):
    other = make_repo(tmp_path / "api", "https://git.example.org/shop/api.git")
    with BrainServer(tmp_path / "service") as server:
        for where in (project, other):
            one = Person(home, where)
            one.server = server
            turn(one, lesson("say the same"))
            one.collect()
            assert one.drain().committed == 1
        rows = server.requests("POST /marker")
        bodies = [json.loads(row["body"]) for row in rows]
    assert [body["content"] for body in bodies] == ["say the same"] * 2
    assert bodies[0] != bodies[1]
    assert ["shop/web" in str(body) for body in bodies] == [True, False]
    assert ["shop/api" in str(body) for body in bodies] == [False, True]
    assert len({row["headers"]["x-idempotency-key"] for row in rows}) == 2


def test_a_hyphen_in_a_session_makes_no_other_key_into_its_own(home, project):
    for session, text in (("a", "lesson-b-x"), ("a-lesson", "b-x"), ("a-lesson-b", "x")):
        one = Kept(home, project, session_id=session)
        turn(one, lesson(text))
        one.collect()
        one.drain()
    assert len({receipt.key for receipt in one.receipts()}) == 3
    assert sorted(one.texts()) == ["b-x", "lesson-b-x", "x"]


@pytest.mark.parametrize("idle", [timedelta(minutes=61), timedelta(hours=25), timedelta(days=31)])
def test_a_session_that_was_idle_for_long_sends_nothing_again(home, project, idle):
    one = Kept(home, project)
    turn(one, lesson("before the pause"))
    one.collect()
    one.drain()
    one.at += idle
    turn(one, "nothing to keep")
    assert not one.collect().kept
    done = one.drain()
    assert (done.committed, done.replayed) == (0, 0)
    turn(one, lesson("behind the pause"))
    one.collect()
    one.drain()
    assert sorted(one.texts()) == ["before the pause", "behind the pause"]


def test_what_one_session_was_told_is_news_to_the_next_all_the_same(session):
    first, second, third = session(), session(), session()
    for one in (first, second, third):
        one.start()
    third.settle()
    third.prompt("x")
    third.says(lesson("told to everybody"))
    third.stop()
    third.settle()
    for one in (first, second):
        assert "told to everybody" in one.prompt("what now?").context
        assert one.prompt("and now?").stdout == b""
