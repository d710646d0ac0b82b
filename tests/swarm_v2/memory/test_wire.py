"""Client and server: one JSON object a line, and nothing in it that could name whose it is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.swarm_v2.memory.answers import gathered, pushes
from scripts.swarm_v2.memory.errors import CODES, MemoryRefused
from scripts.swarm_v2.memory.frames import Remove, SyncFrame, Upsert
from scripts.swarm_v2.memory.frames import encode as encode_frame
from scripts.swarm_v2.memory.wire import (
    ASKS,
    IDENTITY,
    MAX_ASKS,
    MAX_VALUES,
    REQUIRED,
    Answer,
    Ask,
    Hello,
    Pushed,
    Refusal,
    Welcome,
    check_values,
    encode,
    parse,
)
from scripts.swarm_v2.wire_json import dumps

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
INTEGERS = st.integers(-(2**63), 2**63)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | INTEGERS | FLOATS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(TEXTS, JSON, max_size=4)
NUMBERS = st.integers(1, MAX_ASKS - 1)
OF_TYPE = {
    str: TEXTS,
    int: INTEGERS,
    bool: st.booleans(),
    dict: OBJECTS,
    list: st.lists(JSON, max_size=3),
    (dict, bool): OBJECTS | st.booleans(),
}


@st.composite
def asks(draw):
    name = draw(st.sampled_from(sorted(ASKS)))
    table = ASKS[name]
    optional = sorted(set(table) - set(REQUIRED.get(name, ())))
    chosen = (
        [*REQUIRED.get(name, ()), *draw(st.lists(st.sampled_from(optional), unique=True))]
        if (optional)
        else [*REQUIRED.get(name, ())]
    )
    return Ask(draw(NUMBERS), name, {one: draw(OF_TYPE[table[one]]) for one in chosen})


def refusal_of(line):
    try:
        parse(line)
    except MemoryRefused as err:
        return err.code
    return None


MESSAGES = st.one_of(
    st.builds(Hello, TEXTS, TEXTS, TEXTS, INTEGERS),
    st.builds(Welcome, st.none() | TEXTS, INTEGERS, INTEGERS),
    asks(),
    st.builds(Answer, INTEGERS, OBJECTS),
    st.builds(Refusal, INTEGERS, TEXTS, TEXTS, TEXTS, OBJECTS),
    st.builds(Pushed, OBJECTS, st.booleans()),
)


@settings(deadline=None, max_examples=100)
@given(MESSAGES)
def test_what_is_written_is_read_back_from_one_line(message):
    line = encode(message)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert parse(line[:-1]) == message


@settings(deadline=None, max_examples=100)
@given(st.binary(max_size=60) | JSON.map(lambda value: dumps(value).encode()))
def test_anything_else_is_refused_by_a_known_code_and_never_an_error(line):
    assert refusal_of(line) in (None, *CODES)


@settings(deadline=None, max_examples=100)
@given(asks(), st.sampled_from(IDENTITY), JSON)
def test_no_question_has_a_field_that_names_whose_instance_it_is(ask, name, value):
    line = encode(ask._replace(fields={**ask.fields, name: value}))
    with pytest.raises(MemoryRefused) as refused:
        parse(line)
    assert (refused.value.code, refused.value.facts["n"]) == ("identity-in-commit", ask.n)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"", "request-invalid"),
        (b"[]", "request-invalid"),
        (b'{"kind":"nothing"}', "request-invalid"),
        (b'{"kind":"ask","n":0,"ask":"read","fields":{"id":"a"}}', "request-invalid"),
        (b'{"kind":"ask","n":true,"ask":"read","fields":{"id":"a"}}', "request-invalid"),
        (b'{"kind":"ask","n":1,"ask":"drop","fields":{}}', "request-invalid"),
        (b'{"kind":"ask","n":1,"ask":"read","fields":{}}', "request-invalid"),
        (b'{"kind":"ask","n":1,"ask":"read","fields":{"id":1}}', "request-invalid"),
        (b'{"kind":"ask","n":1,"ask":"read","fields":{"id":"a","more":1}}', "field-unknown"),
        (b'{"kind":"hello","token":"t"}', "request-invalid"),
        (b'{"kind":"hello","token":"t","space":"s","principal":"me"}', "identity-in-commit"),
        (b'{"kind":"hello","token":"t","space":"s","color":"red"}', "field-unknown"),
        (b'{"kind":"ask","n":1,"ask":"read","fields":' + b"[" * 5000, "request-invalid"),
    ],
)
def test_each_wrong_line_has_its_code(line, code):
    with pytest.raises(MemoryRefused) as refused:
        parse(line)
    assert refused.value.code == code


def test_what_is_missing_is_named_as_it_is_sent_and_what_may_be_left_out_is_not():
    with pytest.raises(MemoryRefused) as refused:
        parse(b'{"kind":"hello","session":"s"}')
    assert str(refused.value) == "token, space is missing"


@pytest.mark.parametrize("item", ["{}", "[]", "1", '"a,b"', '{"a":1}', "[[]]"])
def test_a_line_of_too_many_values_is_refused_before_it_is_read(item):
    each = 2 if item in ('{"a":1}', "[[]]") else 1
    most = (MAX_VALUES - 10) // each

    def line(count):
        value = "[" + ",".join([item] * count) + "]"
        return b'{"kind":"ask","n":7,"ask":"commit","fields":{"proposal":%s}}' % value.encode()

    check_values(line(most))
    with pytest.raises(MemoryRefused) as refused:
        check_values(line(most + 10))
    assert (refused.value.code, refused.value.facts) == ("request-too-large", {"n": 7})


def test_what_stands_in_texts_is_no_value():
    text = 'a,[{\\"\\\\' * MAX_VALUES
    check_values(b'{"kind":"ask","n":1,"ask":"read","fields":{"id":"%s"}}' % text.encode())


def test_a_line_over_its_size_is_not_even_read():
    line = encode(Ask(1, "read", {"id": "x" * 200}))[:-1]
    assert parse(line, most=len(line)) == Ask(1, "read", {"id": "x" * 200})
    with pytest.raises(MemoryRefused) as refused:
        parse(line, most=len(line) - 1)
    assert refused.value.code == "request-too-large"


ENTRIES = st.lists(
    st.builds(
        Upsert, TEXTS.filter(bool), st.sampled_from(["space", "user"]), st.integers(1, 9), TEXTS
    ),
    max_size=8,
)


@settings(deadline=None, max_examples=50)
@given(ENTRIES, st.lists(st.builds(Remove, TEXTS.filter(bool), st.just("space")), max_size=3))
def test_a_frame_in_parts_is_the_same_frame_again(upserts, removes):
    big = [
        one._replace(value="x" * 400_000) if number % 3 == 0 else one
        for number, one in enumerate(upserts)
    ]
    frame = SyncFrame("proj", 1, 0, 9, tuple(big), tuple(removes))
    parts = pushes(frame)
    assert [part.more for part in parts] == [True] * (len(parts) - 1) + [False]
    assert gathered(parts) == encode_frame(frame)
    assert all(len(encode(part)) < 1_500_000 for part in parts)


def test_a_large_frame_does_not_go_in_one_line():
    upserts = tuple(Upsert(f"m{n}", "space", n, "x" * 500_000) for n in range(1, 9))
    assert len(pushes(SyncFrame("proj", 1, 0, 9, upserts))) == 4
