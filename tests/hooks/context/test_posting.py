"""From the outbox to a brain service: whole, in parts or cut; once, whatever breaks on the way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hooks.context import outbox
from hooks.context.brain_adapter import brain_id
from hooks.context.brains import open_brain, remembers_keys, service_notes
from hooks.context.flush import pause
from hooks.settings import Http
from scripts.swarm_v2.digest import uuid5_url_hex
from scripts.swarm_v2.keyspace import legacy_marker_key
from tests.support.brain_server import BrainServer
from tests.support.keeping import Kept, lesson

MARKER = "POST /marker"
LONG = " ".join(f"word{number}" for number in range(1_500))  # 13 KB: four parts


@pytest.fixture
def server(tmp_path):
    with BrainServer(tmp_path / "service") as found:
        yield found


class Person(Kept):
    """A session whose brain is a service."""

    server: BrainServer

    @property
    def settings(self):
        http = Http(token=self.server.token, timeout_s=1)
        return super().settings._replace(brain_url=self.server.url, http=http)

    def memory_of_service(self):
        brain = open_brain(self.settings, self.env)
        try:
            items = brain.project_memory("git.example.org/shop/web", "anybody")
        finally:
            brain.close()
        return [(item.id, item.text) for item in items]

    def keep(self, *texts):
        self.ask()
        self.say(*(lesson(text) for text in texts))
        return [one.key for one in self.collect().kept]


@pytest.fixture
def person(home, project, server):
    person = Person(home, project)
    person.server = server
    return person


def files(person):
    folder = Path(outbox.folder(person.home))
    return [json.loads((folder / name).read_text()) for name in person.waiting()]


def posts(server):
    return [
        {**json.loads(row["body"]), "key": row["headers"]["x-idempotency-key"]}
        for row in server.requests(MARKER)
    ]


def test_fifty_markers_go_over_one_connection_in_their_order_and_never_again(person, server):
    texts = [f"thought {number}" for number in range(50)]
    person.keep(*texts)
    assert person.drain().committed == 50
    assert server.contents() == texts
    assert len({row["connection"] for row in server.requests()}) == 1
    person.collect()
    person.drain()
    assert len(server.requests(MARKER)) == 50
    assert person.states() == ["committed"] * 50


@pytest.mark.parametrize("way", ["status:503", "html", "queued", "silent", "reset", "store-silent"])
def test_a_failing_service_keeps_everything_and_the_healed_one_has_each_once(person, server, way):
    person.keep("first", "second")
    server.script(MARKER, way)
    done = person.drain()
    assert (done.committed, done.left, bool(done.stopped)) == (0, 2, True)
    assert pause(person.home)["why"]
    assert len(server.requests(MARKER)) == 1  # one failure ends the run
    person.drain()
    assert server.contents() == ["first", "second"]
    assert person.waiting() == []


def test_stored_then_dead_before_it_answered_is_found_again_and_not_sent_twice(person, server):
    person.keep("first", "second")
    server.script(MARKER, "store-die")
    assert person.drain().left == 2
    server.wait_until_dead()
    server.restart()  # its keys are gone
    done = person.drain()
    assert (done.replayed, done.committed, done.left) == (1, 1, 0)
    assert server.contents() == ["first", "second"]


def test_what_was_acknowledged_is_not_sent_to_a_service_that_forgot_its_keys(person, server):
    person.keep("first")
    person.drain()
    server.restart()
    person.collect()
    person.drain()
    assert server.contents() == ["first"]


def test_a_refused_marker_is_put_aside_and_those_behind_it_go(person, server):
    person.keep("first", "second")
    server.script(MARKER, "status:422")
    done = person.drain()
    assert (done.quarantined, done.committed) == (1, 1)
    assert server.contents() == ["second"]
    (receipt,) = [row for row in person.receipts() if row.state == "quarantined"]
    assert "422" in receipt.reason


def test_a_wrong_address_puts_nothing_aside(person, server):
    person.keep("first")
    server.script(MARKER, "status:404")
    server.script("GET /health", "html")
    done = person.drain()
    assert (done.quarantined, done.left) == (0, 1)


def test_a_long_marker_goes_in_parts_with_keys_of_their_own_and_is_one_memory(person, server):
    (key,) = person.keep(LONG)
    done = person.drain()
    assert (done.committed, done.left) == (1, 0)
    sent = posts(server)
    names = [post["attrs"]["part"] for post in sent]
    assert names == ["1/4", "2/4", "3/4", "4/4"]
    assert [post["key"] for post in sent] == [
        uuid5_url_hex(f"k2-part:{key}:{name}") for name in names
    ]
    for post in sent:
        assert 1 <= len(post["content"].strip()) <= 4_096
        assert post["content"] == post["content"].strip()
    assert "".join(post["content"] for post in sent) == LONG
    assert [(row.key, row.state) for row in person.receipts()] == [(key, "committed")]
    assert person.memory_of_service() == [(key, LONG)]


def test_what_may_have_been_stored_waits_while_the_feed_cannot_say(person, server):
    person.keep("the staging database is reset")
    server.script(MARKER, "store-die")
    assert person.drain().left == 1
    server.wait_until_dead()
    server.restart()  # its keys are gone
    server.always("GET /feed", "status:500")
    done = person.drain()
    assert (done.left, server.requests(MARKER), done.stopped != "") == (1, [], True)
    server.heal()
    assert person.drain().replayed == 1
    assert server.contents() == ["the staging database is reset"]


def test_a_part_that_arrived_is_not_sent_again_and_another_brain_gets_all(person, server, tmp_path):
    person.keep(LONG)
    server.script(MARKER, "", "", "status:503")
    assert person.drain().left == 1
    assert files(person)[0]["parts"] == {brain_id(person.settings): ["1/4", "2/4"]}
    with BrainServer(tmp_path / "other") as other:
        other.script(MARKER, "", "status:503")
        person.server = other
        person.drain()
        assert [post["attrs"]["part"] for post in posts(other)] == ["1/4", "2/4"]
        person.server = server
        assert person.drain().committed == 1
        assert [post["attrs"]["part"] for post in posts(server)] == [
            *("1/4", "2/4", "3/4"),
            *("3/4", "4/4"),
        ]
        assert "".join(server.contents()) == LONG
    assert person.states() == ["committed"]
    assert person.waiting() == []


def test_the_parts_that_arrived_are_known_when_the_file_is_made_again_from_the_row(person, server):
    person.keep(LONG)
    server.script(MARKER, "", "status:503")
    person.drain()
    for name in person.waiting():
        (Path(outbox.folder(person.home)) / name).unlink()
    person.drain()
    assert len(server.contents()) == 4


def test_a_legacy_marker_goes_cut_under_its_own_key_and_the_receipt_says_so(person, server):
    text = LONG[:5_000]
    key = legacy_marker_key("old-session", "lesson", text[:4_096])
    document = {"type": "lesson", "content": text, "attrs": {"session_id": "old-session"}}
    folder = Path(person.home) / "brain-outbox"
    folder.mkdir(parents=True)
    (folder / "x.json").write_text(json.dumps({**document, "session_id": "old-session"}))
    assert person.drain().committed == 1
    (sent,) = posts(server)
    assert (sent["key"], sent["content"]) == (key, text[:4_096].strip())
    assert "part" not in sent["attrs"]
    (receipt,) = person.receipts()
    assert (receipt.key, receipt.state) == (key, "committed")
    assert "cut" in receipt.reason


def test_the_model_cannot_sign_as_a_part_or_under_another_key(person, server):
    person.ask()
    person.say(lesson("X", part="1/2", key="0" * 32, gap="-", owner="0" * 32))
    (kept,) = person.collect().kept
    person.drain()
    (sent,) = posts(server)
    assert sent["attrs"]["key"] == kept.key
    assert not {"part", "gap"} & sent["attrs"].keys()
    assert sent["attrs"]["owner"] != "0" * 32


def test_the_recorded_key_is_sent_whichever_brain_is_configured_by_then(person, server, tmp_path):
    (key,) = person.keep("X")
    with BrainServer(tmp_path / "other") as other:
        person.server = other
        person.drain()
        assert [post["key"] for post in posts(other)] == [key]
        person.server = server
        person.collect()
        person.drain()
        assert server.requests(MARKER) == []


def test_no_token_lies_in_any_file_of_the_home(person, server):
    person.keep("X")
    server.script(MARKER, "status:401")
    person.drain()
    person.drain()
    files = [path for path in Path(person.home).rglob("*") if path.is_file()]
    assert files
    assert [path for path in files if server.token.encode() in path.read_bytes()] == []


def test_a_forgotten_memory_is_told_to_a_hub_once(home, project, tmp_path):
    from hooks.context import keep

    with BrainServer(tmp_path / "hub", hub=True) as hub:
        person = Person(home, project)
        person.server = hub
        (key,) = person.keep("gone")
        person.drain()
        keep.forget(person.settings, person.env, person.tick(), key)
        hub.script("POST /forget", "status:503")
        assert person.drain().stopped
        person.drain()
        person.drain()
        assert len(hub.requests("POST /forget")) == 2
        assert hub.contents() == []
        assert service_notes.read(person.home, brain_id(person.settings)).is_hub


@pytest.mark.parametrize("hub", [True, False])
def test_only_a_hub_is_known_to_remember_its_keys_for_ever(home, project, tmp_path, hub):
    with BrainServer(tmp_path / "brain", hub=hub) as server:
        person = Person(home, project)
        person.server = server
        assert not remembers_keys(person.settings)  # nobody has asked it yet
        person.keep("X")
        person.drain()
        assert remembers_keys(person.settings) is hub
