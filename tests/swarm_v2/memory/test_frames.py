from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.swarm_v2.memory.document import MAX_DEPTH, make_link, same
from scripts.swarm_v2.memory.errors import CODES, MemoryRefused
from scripts.swarm_v2.memory.frames import Remove, SyncFrame, Upsert, encode, parse
from scripts.swarm_v2.scope_key import Identity, resolve_scope_key
from scripts.swarm_v2.wire_json import dumps, loads

quick = settings(deadline=None, max_examples=100)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
ids = texts.filter(bool) | st.sampled_from(["memory/x", "a\0b", "é"])
scopes = st.sampled_from(["space", "user", "session"])
identities = st.builds(Identity, ids, ids)
seqs = st.integers(1, 2**63 - 1)
leaves = st.none() | st.booleans() | st.integers(-(2**63) + 1, 2**63 - 1) | texts
leaves |= st.floats(allow_nan=False, allow_infinity=False)
leaves |= st.builds(make_link, ids, scopes | st.none(), st.lists(texts, max_size=2))
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(texts.filter(lambda name: name != "$link"), inner, max_size=3)
    ),
    max_leaves=8,
)


@st.composite
def entries(draw: Any, upsert: bool) -> Any:
    scope = draw(scopes)
    key = resolve_scope_key(scope, draw(identities)) if draw(st.booleans()) else None
    if not upsert:
        return Remove(draw(ids), scope, key, draw(texts))
    deleted = draw(st.booleans())
    value = None if deleted else draw(values)
    return Upsert(draw(ids), scope, draw(seqs), value, deleted, key, draw(texts))


frames = st.builds(
    SyncFrame,
    ids.filter(lambda space: space != "unknown" and "\0" not in space),
    seqs,
    st.integers(0, 2**63 - 1),
    st.integers(0, 2**63 - 1),
    st.lists(entries(True), max_size=3).map(tuple),
    st.lists(entries(False), max_size=3).map(tuple),
    st.booleans(),
)
FRAME = SyncFrame(
    "proj",
    3,
    7,
    9,
    (Upsert("memory/x", "user", 8, {"text": "x"}, False, "user:p"), Upsert("i", "space", 9, None)),
    (Remove("notes", "session"),),
    True,
)


@quick
@given(frames)
def test_a_frame_comes_back_from_its_text(frame: SyncFrame) -> None:
    again = parse(loads(dumps(encode(frame))))
    assert again == frame
    for one, other in zip(frame.upserts, again.upserts, strict=True):
        assert same(one.value, other.value)  # 1, 1.0 and true are three values


def test_a_frame_without_keys_names_scopes_and_nothing_of_whose_it_is() -> None:
    body = encode(SyncFrame("proj", 1, 0, 2, (Upsert("notes", "session", 2, {}),)))
    assert body == {
        "space": "proj",
        "number": 1,
        "since": 0,
        "seq": 2,
        "upserts": [{"id": "notes", "scope": "session", "seq": 2, "value": {}}],
    }


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = list(value.items()) if isinstance(value, dict) else []
    inside = list(enumerate(value)) if isinstance(value, list) else inside
    return [path, *(found for name, one in inside for found in places(one, (*path, name)))]


def replaced(value: Any, path: tuple[Any, ...], by: Any) -> Any:
    if not path:
        return by
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], by)
    return copy


@settings(deadline=None, max_examples=100)
@given(json_values, st.data())
def test_any_json_is_a_frame_or_refused_with_a_code(noise: Any, data: Any) -> None:
    body = encode(FRAME)
    place = data.draw(st.sampled_from(places(body)))
    for one in (noise, replaced(body, place, noise)):
        found = outcome(one)
        assert found in CODES if isinstance(found, str) else parse(encode(found)) == found


def outcome(body: Any) -> SyncFrame | str:
    try:
        return parse(body)
    except MemoryRefused as refused:
        return refused.code


def without(name: str) -> Any:
    body = encode(FRAME)
    del body[name]
    return body


def with_entry(**fields: object) -> Any:
    entry = {"id": "x", "scope": "user", "seq": 1, "value": 1, **fields}
    return {**encode(FRAME), "upserts": [{k: v for k, v in entry.items() if v is not ...}]}


deep: Any = None
for _ in range(MAX_DEPTH + 1):
    deep = [deep]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ([], "request-invalid"),
        ({**encode(FRAME), "principal": "p"}, "field-unknown"),
        (without("space"), "space-invalid"),
        (without("number"), "request-invalid"),
        ({**encode(FRAME), "seq": True}, "request-invalid"),
        ({**encode(FRAME), "seq": 1.0}, "request-invalid"),
        ({**encode(FRAME), "number": 0}, "request-invalid"),
        ({**encode(FRAME), "reset": 1}, "request-invalid"),
        ({**encode(FRAME), "upserts": {}}, "request-invalid"),
        (with_entry(who="p"), "field-unknown"),
        (with_entry(id=""), "id-invalid"),
        (with_entry(id="\ud800"), "id-invalid"),
        (with_entry(scope="Space"), "scope-unknown"),
        (with_entry(scope=["user"]), "scope-unknown"),
        (with_entry(scope_key="user:a/b"), "scope-key-malformed"),
        (with_entry(scope_key="space"), "scope-key-malformed"),
        (with_entry(scope_key=None), "scope-key-malformed"),
        (with_entry(seq=0), "request-invalid"),
        (with_entry(seq=2**63), "request-invalid"),
        (with_entry(deleted=True), "request-invalid"),
        (with_entry(value=...), "request-invalid"),
        (with_entry(value="\ud800"), "document-invalid"),
        (with_entry(value={"$link": {"space": "other", "id": "x"}}), "link-cross-space"),
        (with_entry(value=deep), "document-too-deep"),
        (with_entry(branch=1), "request-invalid"),
        (with_entry(branch="\udfff"), "request-invalid"),
    ],
)
def test_what_is_no_frame_is_refused_by_its_code(body: Any, code: str) -> None:
    with pytest.raises(MemoryRefused) as refused:
        parse(body)
    assert refused.value.code == code


def test_an_empty_frame_has_nothing_to_tell_and_a_reset_has() -> None:
    assert SyncFrame("proj", 1, 0, 4).empty
    assert not SyncFrame("proj", 1, 0, 4, reset=True).empty
