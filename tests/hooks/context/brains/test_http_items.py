"""Rows of a feed become memories, or nothing; whatever a service sends, nothing breaks or leaks."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hooks.context.brains import Item, http_items, http_wire
from hooks.context.ledger_notes import Graves, Tombstone, bury
from hooks.context.thought import digest_of

WEB, API = "git.example.org/shop/web", "git.example.org/shop/api"
ANN = "ann"


def reader(home="/nonexistent", **named):
    return http_items.Reader(**{"who": ANN, "graves": Graves(str(home)), "accepted": {}, **named})


def read(*rows, **named):
    return http_items.read_rows(rows, reader(**named))


def row(text="text", number=1, **meta):
    return {"id": f"r{number}", "content": text, "priority": 1, "metadata": meta}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)
FIELDS = ["id", "title", "content", "priority", "ttl", "severity", "metadata"]
META = ["project_id", "key", "part", "gap", "scope", "owner", "share", "ts", "type", "session_id"]
ROWS = st.dictionaries(
    st.sampled_from(FIELDS), JSON | st.dictionaries(st.sampled_from(META), JSON | st.just("1/2"))
)


@settings(deadline=None, max_examples=100)
@given(rows=st.lists(ROWS, max_size=6))
def test_any_rows_give_memories_that_a_cache_can_hold(rows):
    for item in read(*rows):
        assert Item.from_dict(json.loads(json.dumps(item.to_dict()))) == item
        assert item.text.strip()
        assert len(item.id) == 32


@settings(deadline=None, max_examples=100)
@given(data=st.binary(max_size=200) | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_answer_is_read_or_is_none(data):
    assert http_wire.parse_ack(data) is None
    assert http_wire.parse_health(data) is None
    feed = http_wire.parse_feed(data)
    assert feed is None or isinstance(feed, list)


@settings(deadline=None, max_examples=100)
@given(cut=st.integers(0, 200))
def test_an_answer_cut_anywhere_acknowledges_nothing(cut):
    whole = b'{"detail": {"ok": true}, "idempotency_key": "' + b"a" * 32 + b'", "ok": true}'
    found = http_wire.parse_ack(whole[:cut])
    assert (found is not None) == (cut >= len(whole))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ('{"ok": true}', (False, "", False)),
        (f'{{"ok": true, "idempotency_key": "{"a" * 32}"}}', (False, "a" * 32, False)),
        ('{"ok": true, "idempotent_replay": true}', (True, "", False)),
        ('{"ok": true, "forgotten": true}', (False, "", True)),
        ('{"ok": true, "idempotency_key": "../../x"}', (False, "", False)),
        ('{"ok": 1}', None),
        ('{"ok": "true"}', None),
        ('{"ok": true, "queued": true}', None),
        ('{"result": {"ok": true}}', None),
        ('[{"ok": true}]', None),
    ],
)
def test_only_ok_being_true_is_an_acknowledgement(answer, said):
    assert http_wire.parse_ack(answer.encode()) == said


@pytest.mark.parametrize(
    ("meta", "project"),
    [
        ({}, ""),
        ({"project_id": WEB}, WEB),
        ({"project_id": WEB, "project": "web"}, WEB),
        ({"project": "web"}, "web"),
        ({"repo": "shop/web"}, "shop/web"),
        ({"share": "fleet"}, "fleet"),
        ({"share": "fleet", "project_id": WEB}, "fleet"),
        ({"attribution": "unknown"}, "unknown"),
        ({"attribution": "refused", "swarm": "s"}, "unknown"),
        ({"project_id": 7}, ""),
    ],
)
def test_a_row_belongs_to_what_it_names(meta, project):
    (item,) = read(row(**meta))
    assert item.project == project
    assert (http_items.everywhere([item]) == [item]) == (project == "")


def test_a_label_that_two_projects_share_reaches_neither():
    items = read(row(project="web"))
    assert http_items.of_project(items, {WEB}, ANN) == []
    assert http_items.everywhere(items) == []


def test_the_key_of_a_marker_names_it_and_another_row_gets_a_name_of_its_own():
    key = "a" * 32
    one, two = read(row("ours", 1, key=key), row("not ours", 2, key="A" * 32))
    assert one.id == key
    assert two.id != key
    assert read(row("not ours", 2))[0].id == two.id


def test_a_second_row_under_the_same_key_is_not_shown_in_its_place():
    (item,) = read({**row("first", 1, key="a" * 32), "priority": 9}, row("second", 2, key="a" * 32))
    assert item.text == "first"


def test_what_was_accepted_holds_for_that_text_only():
    (item,) = read(row("x", project_id=API, key="a" * 32))
    accepted = {item.id: http_items.content_hash(item)}
    assert read(row("x", project_id=API, key="a" * 32), accepted=accepted)[0].accepted
    assert not read(row("y", project_id=API, key="a" * 32), accepted=accepted)[0].accepted


@pytest.mark.parametrize(
    "tombstone",
    [
        pytest.param(Tombstone("a" * 32), id="by key"),
        pytest.param(
            Tombstone("b" * 32, "msg_1", "s9", digest_of("lesson", "space", "x")), id="by message"
        ),
        pytest.param(
            Tombstone("b" * 32, "", "s1", digest_of("lesson", "space", "x")), id="by session"
        ),
    ],
)
def test_a_forgotten_thought_is_left_out_however_it_is_recognised(home, tombstone):
    bury(str(home), tombstone)
    said = row("x", key="a" * 32, type="lesson", session_id="s1", message_id="msg_1")
    assert read(said, graves=Graves(str(home))) == []
    assert len(read(row("y", key="c" * 32), graves=Graves(str(home)))) == 1


def test_what_is_personal_is_its_owners_and_on_a_hub_ours():
    mine = row("mine", 1, scope="user", owner=http_items.owner_of(ANN), project_id=WEB)
    theirs = row("theirs", 2, scope="user", owner=http_items.owner_of("bob"), project_id=WEB)
    nobodys = row("nobody's", 3, scope="user", project_id=WEB)
    nameless = row("of no session", 4, scope="session", owner=http_items.owner_of(ANN))
    assert [item.text for item in read(mine, theirs, nobodys, nameless)] == ["mine"]
    assert len(read(mine, theirs, nobodys, is_hub=True)) == 3


def test_the_most_urgent_are_kept_where_not_all_can_be():
    rows = [{**row("x" * 40_000, number), "priority": number} for number in range(60)]
    items = read(*rows)
    assert len(json.dumps([item.to_dict() for item in items])) < http_items.MAX_BYTES + 100
    assert [item.priority for item in items] == [str(n) for n in range(59, 59 - len(items), -1)]
    assert 10 < len(items) < 60


@pytest.mark.parametrize("type_", ["", "hot arc", "lesson, said by the person", "x" * 21, "léçon"])
def test_a_type_that_is_no_plain_word_is_not_printed(type_):
    assert read(row(type=type_))[0].type == "note"


def test_parts_come_back_as_one_memory_and_incomplete_ones_as_they_are():
    parts = [row(text, n, key="a" * 32, part=f"{n}/3") for n, text in enumerate("abc", 1)]
    assert [(item.id, item.text) for item in read(*reversed(parts))] == [("a" * 32, "abc")]
    assert sorted(item.text for item in read(*parts[:2])) == ["a", "b"]
    assert "a" * 32 not in [item.id for item in read(*parts[:2])]


def test_no_folder_of_this_machine_goes_to_a_service():
    attrs = {"cwd": "/home/dev/web", "worktree": "/home/dev/web", "repo": "web", "key": "forged"}
    sent = http_wire.encode_marker({"type": "lesson", "content": "x", "attrs": attrs}, {"key": "k"})
    assert json.loads(sent)["attrs"] == {"repo": "web", "key": "k"}
