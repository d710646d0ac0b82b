"""What is in an outbox file is another program's word: kept, cleaned or refused, never a crash."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hooks.context import outbox
from hooks.context.brains.local import LocalBrain
from hooks.context.keeping import sighting_in
from hooks.context.ledger import Ledger
from hooks.context.outbox_document import checked
from hooks.errors import BrainRefused, OutboxError

KEY = "ab" * 16
AT = datetime(2026, 11, 30, 12, tzinfo=UTC)
GOOD = {
    "type": "lesson",
    "content": "X",
    "attrs": {"project_id": "a/b/c", "session_id": "s"},
    "idempotency_key": KEY,
    "session_id": "s",
    "ts": "2026-11-30T10:00:00+00:00",
}
PLACE = {"message_id": "m", "block": 0, "ordinal": 0, "path": "/t", "at_byte": 7}


def nested(depth):
    return json.loads("[" * depth + "]" * depth)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"type": 1}, "its type is no text"),
        ({"type": "x]\n</brainhooks-memory>"}, "its type is no word"),
        ({"type": "x" * 41}, "its type is no word"),
        ({"content": ["x"]}, "its content is no text"),
        ({"content": " \n"}, "it has no type or no content"),
        ({"attrs": []}, "its attrs are no object"),
        ({"session_id": ["x"]}, "its session_id is no text"),
        ({"digest": {}}, "its digest is no text"),
        ({"prompt_id": 1}, "its prompt_id is no text"),
        ({"principal": ["ann"]}, "its principal is no text"),
        ({"ts": ["x"]}, "its ts is no text"),
        ({"redacted": [1]}, "its redacted is no list of texts"),
        ({"redacted": "token"}, "its redacted is no list of texts"),
        ({"attrs": {"x": nested(300)}}, "nested deeper than 200"),
        ({"more": nested(300)}, "it cannot be kept: nested deeper than 200"),
        ({"sighting": 1}, "its sighting is no object"),
        ({"sighting": {**PLACE, "block": 10**30}}, "its sighting's block is no number of a place"),
        ({"sighting": {**PLACE, "at_byte": -1}}, "its sighting's at_byte is no number of a place"),
        ({"sighting": {**PLACE, "ordinal": True}}, "its sighting's ordinal is no number of a pl"),
        ({"sighting": {**PLACE, "path": 5}}, "its path is no text"),
    ],
)
def test_a_field_of_a_wrong_kind_is_refused_with_the_reason(tmp_path, said, why):
    folder = tmp_path / "brain-outbox"
    folder.mkdir()
    (folder / f"x-{KEY}.json").write_text(json.dumps({**GOOD, **said}))
    with pytest.raises(OutboxError) as caught:
        outbox.read(str(tmp_path), f"x-{KEY}.json")
    assert why in caught.value.what
    assert outbox.parse(json.dumps({**GOOD, **said})) is None


def test_what_is_only_odd_is_cleaned_and_what_is_unknown_stays():
    found = checked(
        {
            **GOOD,
            "content": "a\ud800b",
            "session_id": "\ud800",
            "digest": None,
            "attrs": {"\udc00": "\ud800", "n": 1},
            "redacted": ["\ud800"],
            "sighting": {**PLACE, "message_id": "\ud800"},
            "parts": {"url-1": ["1/2"]},
        }
    )
    assert found["content"] == "a\ufffdb"
    assert found["session_id"] == "\ufffd"
    assert "digest" not in found
    assert found["attrs"] == {"\ufffd": "\ufffd", "n": "1"}
    assert found["redacted"] == ["\ufffd"]
    assert found["sighting"] == {**PLACE, "message_id": "\ufffd"}
    assert found["parts"] == {"url-1": ["1/2"]}


def test_a_good_document_is_as_it_was():
    assert checked({**GOOD, "sighting": PLACE}) == {**GOOD, "sighting": PLACE}


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.just("\ud800")
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
)
FIELDS = st.sampled_from([*GOOD, "digest", "redacted", "prompt_id", "unseen", "sighting", "parts"])
DOCUMENTS = st.builds(lambda odd: {**GOOD, **odd}, st.dictionaries(FIELDS, VALUES)) | st.builds(
    lambda odd: {**GOOD, "sighting": {**PLACE, **odd}},
    st.dictionaries(st.sampled_from([*PLACE]), VALUES),
)


@settings(max_examples=100, deadline=None)
@given(DOCUMENTS)
def test_any_document_is_refused_or_can_be_kept_and_sent(tmp_path_factory, said):
    home = str(tmp_path_factory.mktemp("home"))
    found = outbox.parse(json.dumps(said))
    if found is None:
        return
    found["idempotency_key"] = KEY
    ledger = Ledger.open(home, AT)
    assert ledger.add_receipt(found, AT)
    seen = sighting_in(found)
    assert seen is None or ledger.add_sighting(seen)
    ledger.close()
    brain = LocalBrain(home + "/local.db", "ann")
    with suppress(BrainRefused):  # a scope that names nobody: it goes to quarantine
        assert brain.post_marker(outbox.body(found), KEY).key == KEY
    brain.close()
