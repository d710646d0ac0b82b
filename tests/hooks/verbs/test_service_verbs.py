"""The person's verbs with a brain service: off what is on disk, at once, and never by the net."""

from __future__ import annotations

import json
import re

import pytest

from hooks.context.brain_adapter import brain_id
from hooks.context.brains import open_brain, service_notes
from hooks.context.flush import drain
from hooks.context.memory_view import Where, view
from hooks.context.refresh import refresh
from hooks.errors import BrainUnreachable, HookError, NotOneMemory
from hooks.settings import Http
from hooks.status import collect_status, render
from hooks.verbs import run_named
from scripts.swarm_v2.installation import installation
from tests.conftest import NOON
from tests.support.brain_server import BrainServer
from tests.support.run_hook import wait_for_workers

WEB, API = "git.example.org/shop/web", "git.example.org/shop/api"
MINE = {"project_id": WEB, "session_id": "s1", "ts": "2026-11-29T10:00:00Z"}


@pytest.fixture
def server(tmp_path):
    with BrainServer(tmp_path / "service") as found:
        yield found


@pytest.fixture
def asked(ctx, server, home):
    """The person's place with a service; workers that verbs start find it as well."""
    installation(str(home), NOON)
    settings = ctx.settings._replace(brain_url=server.url, http=Http(token=server.token))
    env = {**ctx.env, "BRAIN_URL": server.url, "BRAIN_HTTP_TOKEN": server.token}
    yield ctx._replace(settings=settings, env=env)
    wait_for_workers(home)


def row(text, number=1, **meta):
    return {"id": f"r{number}", "title": "", "content": text, "priority": 1, "metadata": meta}


def fetch(ctx):
    brain = open_brain(ctx.settings, ctx.env)
    try:
        refresh(ctx.settings, brain, ctx.at, [WEB, API])
    finally:
        brain.close()


def told(ctx, project=WEB):
    items = view(ctx.settings, ctx.env, Where(project, "s9", ctx.at)).items
    return sorted(item.text for item in items)


def the_id(ctx, word):
    return re.search(rf"([0-9a-f]{{8}})  .*{word}", run_named("lessons", "", ctx))[1]


def test_items_of_every_list_reach_the_context_by_what_they_name(asked, server):
    server.seed("hot_arcs", row("an arc for all", 1))
    server.seed("inject_blocks", row("a block for web", 2, project_id=WEB))
    server.seed("entries", row("an entry for api", 3, project_id=API))
    server.seed("entries", row("an older client's", 4, project="web"))
    fetch(asked)
    assert told(asked) == ["a block for web", "an arc for all"]
    assert told(asked, API) == ["an arc for all", "an entry for api"]


def test_another_projects_item_comes_once_accepted_and_changed_text_not_without_a_new_yes(
    asked, server
):
    server.seed("entries", row("shared with care", 1, project_id=API, key="a" * 32))
    fetch(asked)
    assert "shared with care" in run_named("accept", "", asked)
    assert "Accepted aaaaaaaa" in run_named("accept", "aaaaaaaa", asked)
    assert told(asked) == ["shared with care"]
    fetch(asked)
    assert told(asked) == ["shared with care"]
    changed = row("something else", 1, project_id=API, key="a" * 32)
    server.restart()
    server.seed("entries", changed)
    fetch(asked)
    assert told(asked) == []


def test_a_forgotten_memory_is_gone_at_once_and_from_every_later_feed(asked, server):
    server.seed("entries", row("wrong", 1, **MINE), row("right", 2, **MINE))
    fetch(asked)
    said = run_named("forget", the_id(asked, "wrong"), asked)
    assert "The brain service cannot forget" in said
    assert told(asked) == ["right"]
    assert "wrong" not in run_named("lessons", "", asked)
    fetch(asked)
    assert told(asked) == ["right"]


def test_an_edit_takes_the_old_words_away_at_once_and_posts_the_new_ones(asked, server, home):
    server.seed("entries", row("port 80", 1, severity="high", **MINE))
    fetch(asked)
    one = the_id(asked, "port 80")
    assert "port 8080" in run_named("edit", f"{one} port 8080", asked)
    assert told(asked) == ["port 8080"]
    wait_for_workers(home)
    drain(asked.settings, asked.env, asked.at)
    (entry,) = server.entries()
    assert (entry["content"], entry["attrs"]["class"]) == ("port 8080", "person")
    assert entry["attrs"]["supersedes"].startswith(one)
    assert entry["attrs"]["project_id"] == WEB
    fetch(asked)
    assert told(asked) == ["port 8080"]
    with pytest.raises(NotOneMemory):
        run_named("edit", f"{one} port 9090", asked)


def test_lessons_lists_finds_and_shows_without_asking_the_service(asked, server):
    server.seed("entries", row("the parser is slow", 1, **MINE), row("for all", 2))
    fetch(asked)
    before = len(server.requests())
    listed = run_named("lessons", "", asked)
    assert "the parser is slow" in listed
    assert "for all" in listed
    assert "the parser is slow" in run_named("lessons", "PARSER", asked)
    assert "the parser is slow" in run_named("lessons", the_id(asked, "parser"), asked)
    assert len(server.requests()) == before


def test_a_service_that_was_never_reached_is_said_so_and_stops_no_verb(asked, server):
    server.stop()
    assert "nothing" in run_named("lessons", "", asked).lower()
    assert run_named("remember", "keep this", asked).startswith("Remembered")
    assert "keep this" in run_named("lessons", "", asked)


def test_a_memory_that_only_waits_can_be_forgotten(asked, server, home):
    server.stop()
    said = run_named("remember", "keep this", asked)
    wait_for_workers(home)
    run_named("forget", re.search(r"[0-9a-f]{8}", said)[0], asked)
    assert told(asked) == []


def test_another_persons_memories_never_come_and_ones_own_do(asked, server):
    http = asked.settings
    body = {"type": "lesson", "content": "mine", "attrs": {**MINE, "scope": "user"}}
    for who, text in (("ann", "ann's"), ("bob", "bob's")):
        brain = open_brain(http._replace(principal=who), asked.env)
        brain.post_marker({**body, "content": text}, (who[0] * 32).replace("o", "0"))
        brain.close()
    server.seed("entries", row("nobody knows whose", 9, scope="user", **MINE))
    ann = asked._replace(settings=http._replace(principal="ann"))
    fetch(ann)
    assert told(ann) == ["ann's"]


def test_the_caches_of_another_service_never_serve(asked, server, tmp_path):
    server.seed("entries", row("of the first", 1))
    fetch(asked)
    with BrainServer(tmp_path / "other") as other:
        there = asked._replace(settings=asked.settings._replace(brain_url=other.url))
        assert told(there) == []
        other.seed("entries", row("of the second", 1))
        fetch(there)
        assert told(there) == ["of the second"]
        assert told(asked) == ["of the first"]


def test_the_cache_changes_with_the_content_whatever_hash_the_service_gives(asked, server):
    same = "a beginning of more than thirty-two characters, then "
    server.seed("entries", row(same + "one end", 1))
    fetch(asked)
    server.restart()
    server.seed("entries", row(same + "another end", 1))
    fetch(asked)
    assert told(asked) == [same + "another end"]


def test_status_says_what_is_known_without_asking_and_what_is_wrong_with_the_token(
    asked, server, tmp_path
):
    server.seed("entries", row("x", 1, **MINE))
    fetch(asked)
    before = len(server.requests())
    status = collect_status(asked.settings, asked.env, asked.at, asked.cwd, "s1")
    brain = status["brain"]
    assert (brain["kind"], brain["service"], brain["token"]) == ("http", "brain-api", "set")
    assert brain["health"]["project"] == 1
    assert server.token not in json.dumps(status)
    assert brain["place"] == server.url  # scheme, host and port: nothing secret is in them
    assert len(server.requests()) == before
    secret = tmp_path / "token"
    secret.write_text(server.token)
    secret.chmod(0o644)
    open_file = asked.settings._replace(http=Http(token_file=str(secret)))
    status = collect_status(open_file, asked.env, asked.at, asked.cwd, "s1")
    assert status["level"] == "red"
    assert any("group or others" in problem["what"] for problem in status["problems"])


def test_what_a_person_accepted_is_noted_per_service(asked, server):
    server.seed("entries", row("x", 1, project_id=API, key="b" * 32))
    fetch(asked)
    run_named("accept", "bbbb", asked)
    notes = service_notes.read(asked.settings.home, brain_id(asked.settings))
    assert set(notes.accepted) == {"b" * 32}


def test_accepting_again_what_is_another_projects_says_that_it_was_accepted(asked, server):
    server.seed("entries", row("shared with care", 1, project_id=API, key="a" * 32))
    server.seed("entries", row("not yet", 2, project_id=API, key="b" * 32))
    server.seed("entries", row("names no project", 3, key="c" * 32))
    fetch(asked)
    run_named("accept", "aaaaaaaa", asked)
    said = run_named("accept", "aaaaaaaa", asked)
    assert said == "aaaaaaaa was accepted before: shared with care"
    assert run_named("accept", "bbbbbbbb", asked).startswith("Accepted bbbbbbbb")
    assert "is for every project already" in run_named("accept", "cccccccc", asked)


def test_where_the_feed_was_never_readable_lessons_says_so_and_what_to_do(asked, server):
    server.always("GET /feed", "html")
    with pytest.raises(BrainUnreachable):
        fetch(asked)
    said = run_named("lessons", "", asked)
    head = "From what is on disk, since nothing that the brain service has could be read yet."
    assert said.startswith(head + "\n  hint: brainhooks doctor asks it and says why")
    assert "cannot be used" not in said
    with pytest.raises(BrainUnreachable, match="could be read yet"):
        run_named("forget", "abcdabcd", asked)


def test_forgetting_what_a_service_has_says_so_also_under_another_brain(asked):
    said = run_named("remember", "Warm the cache", asked)
    drain(asked.settings, asked.env, asked.at)
    key = said.split()[1].rstrip(":")
    none = asked._replace(settings=asked.settings._replace(brain_url="", brain_source="none"))
    assert "The brain service cannot forget" in run_named("forget", key, none)


@pytest.mark.parametrize("kind", ["lesson", "decision", "milestone"])
def test_what_a_project_learned_stays_in_it_on_a_service_too(asked, server, kind):
    server.seed("entries", row("only web's", 1, type=kind, key="a" * 32, **MINE))
    fetch(asked)
    assert run_named("accept", "", asked).startswith("Nothing waits")
    assert "stays in its project" in run_named("accept", "a" * 8, asked)
    status = collect_status(asked.settings, asked.env, asked.at, asked.cwd, "")
    assert status["brain"]["health"]["waiting"] == 0


def test_a_service_is_said_to_be_unable_to_move_a_memory(asked, server):
    server.seed("entries", row("elsewhere", 1, project_id=API, key="a" * 32))
    fetch(asked)
    with pytest.raises(HookError, match="the http brain cannot move a memory"):
        run_named("move", "a" * 8, asked)


def test_a_sentence_for_a_service_that_is_away_is_said_to_wait(asked, server):
    server.stop()
    run_named("remember", "one", asked)
    wait_for_workers(asked.settings.home)
    drain(asked.settings, asked.env, asked.at)
    assert "It waits in the outbox" in run_named("remember", "two", asked)


def test_the_status_names_the_host_of_a_service_and_nothing_else_of_its_address(asked):
    url = "https://ann:hunter2@brain.example.org:8443/path?token=hunter2"
    settings = asked.settings._replace(brain_url=url)
    status = collect_status(settings, asked.env, asked.at, asked.cwd, "")
    said = render(status)
    assert "a service, https://brain.example.org:8443\n" in said
    assert "hunter2" not in said + render(status, verbose=True) + json.dumps(status)
