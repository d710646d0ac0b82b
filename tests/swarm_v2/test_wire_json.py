from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.swarm_v2.wire_json import (
    MAX_DEPTH,
    canonical,
    clean,
    dumps,
    load_object,
    loads,
    scan,
)
from tests.support.processes import run_code

TESTS = Path(__file__).resolve().parents[1]
quick = settings(deadline=None, max_examples=100)
anything = st.text(alphabet=st.characters(exclude_categories=()), max_size=8)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
documents = st.recursive(
    st.none() | st.booleans() | numbers | anything,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(anything, inner, max_size=4),
    max_leaves=20,
)


@quick
@given(documents)
def test_a_document_is_written_and_read_as_json_does_it(document: Any) -> None:
    text = json.dumps(document, separators=(",", ":"))
    assert dumps(document) == text
    assert loads(text) == loads(text.encode()) == json.loads(text)
    assert canonical(document).decode() == json.dumps(
        document, sort_keys=True, separators=(",", ":"), ensure_ascii=True
    )


@quick
@given(documents)
def test_raw_utf8_with_blanks_is_read_too(document: Any) -> None:
    text = json.dumps(document, indent=1, ensure_ascii=False)
    assert loads(f"\n {text} \t\r\n") == document
    assert loads("\ufeff" + text) == document


@quick
@given(st.text(alphabet='{}[]",:0123456789.eE+-truefalsn\\u \n', max_size=20))
def test_any_text_is_read_as_json_reads_it_or_refused_by_valueerror(text: str) -> None:
    def refuse(name: str) -> float:
        raise ValueError(name)

    try:
        wanted = json.loads(text, strict=False, parse_constant=refuse)
    except ValueError:
        wanted = refuse
    try:
        found = loads(text)
    except ValueError:
        found = refuse
    if wanted is refuse or not _has_infinity(wanted):
        assert found == wanted
    else:
        assert found is refuse


def _has_infinity(value: Any) -> bool:
    if isinstance(value, float):
        return math.isinf(value)
    return isinstance(value, (list, dict)) and any(
        _has_infinity(item) for item in (value.values() if isinstance(value, dict) else value)
    )


def test_every_line_of_real_transcripts_and_every_real_payload_is_read_as_json_reads_it() -> None:
    lines = [path.read_bytes() for path in (TESTS / "payloads").glob("*.json")]
    for path in (TESTS / "transcripts").glob("*.jsonl"):
        lines += [line for line in path.read_bytes().split(b"\n") if line]
    assert len(lines) > 100
    for line in lines:
        assert load_object(line) == json.loads(line)
        assert json.loads(dumps(load_object(line))) == json.loads(line)


BROKEN = {
    "nothing": "",
    "blanks": " \n",
    "torn key": '{"a',
    "torn object": '{"a":1',
    "torn list": "[1,",
    "torn text": '"abc',
    "no colon": '{"a" 1}',
    "comma at the end": '{"a":1,}',
    "unquoted key": "{a:1}",
    "bad escape": '{"a":"\\x"}',
    "short escape": '{"a":"\\u12"}',
    "NaN": '{"a":NaN}',
    "Infinity": '{"a":-Infinity}',
    "a number beyond floats": '{"a":1e999}',
    "a number beyond int's limit": '{"a":' + "1" * 5000 + "}",
    "two objects": "{}{}",
    "text behind": "{} x",
    "too deep": "[" * 200_000,
    "a word": "nul",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
def test_what_is_not_one_json_document_is_a_valueerror(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        loads(text)
    assert load_object(text) is None


def test_broken_json_is_a_valueerror_also_where_nobody_has_loaded_the_json_package() -> None:
    """Python 3.11's scanner answers with a SystemError there."""
    code = """
from scripts.swarm_v2.wire_json import load_object, loads
for text in sys.argv[1:]:
    try:
        loads(text)
    except ValueError:
        print("refused", load_object(text))
"""
    texts = [text for text in BROKEN.values() if len(text) < 10_000]
    assert run_code(code, *texts) == "refused None\n" * len(texts)


def test_an_interpreter_without_the_accelerator_reads_and_writes_the_same() -> None:
    code = """
sys.modules["_json"] = None  # what an absent module looks like to import
from scripts.swarm_v2.wire_json import dumps, loads, scan
print(dumps(loads(sys.argv[1])), scan("{}x"))
for text in sys.argv[2:]:
    try:
        loads(text)
    except ValueError:
        print("refused")
"""
    text = '{"b":["\\u00e9",1.5,null,true],"a":"raw\ttab"}'
    broken = [text for text in BROKEN.values() if len(text) < 10_000]
    wanted = f"{dumps(loads(text))} ({{}}, 2)\n" + "refused\n" * len(broken)
    assert run_code(code, text, *broken) == wanted


@pytest.mark.parametrize("data", [b"\xff{}", b'{"a":"\xed\xa0\x80"}', b'{"a":"\xc3"}'], ids=repr)
def test_bytes_that_are_not_utf8_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="utf-8"):
        loads(data)
    assert load_object(data + b"}") is None


@pytest.mark.parametrize("data", [None, b"", b"[]", b'"{}"', b"5", "null", '[{"a":1}]'], ids=repr)
def test_only_an_object_is_an_object(data: bytes | str | None) -> None:
    assert load_object(data) is None


def test_an_escaped_pair_is_one_character_and_half_a_pair_stays() -> None:
    assert loads('"\\ud83c\\udfaf"') == "🎯"
    assert loads('"\\ud83c"') == "\ud83c"
    assert dumps("\ud83c") == '"\\ud83c"'


def test_scan_reads_the_next_value_of_several() -> None:
    text = '{"a":1}  {"b":2}[3]'
    value, end = scan(text)
    assert (value, text[end:]) == ({"a": 1}, '  {"b":2}[3]')
    value, end = scan(text, end)
    assert (value, scan(text, end)) == ({"b": 2}, ([3], len(text)))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_number_that_json_lacks_is_never_written(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON"):
        dumps({"a": [value]})


@pytest.mark.parametrize(
    "value", [b"", {1}, pytest.param(object(), id="object"), Path("x"), 1j], ids=repr
)
def test_a_type_that_json_lacks_is_never_written(value: object) -> None:
    with pytest.raises(TypeError, match="not JSON"):
        dumps([value])


@pytest.mark.parametrize("key", [1, None, True, 1.5, b"a", ("a",)], ids=repr)
def test_a_key_that_is_no_text_is_refused_not_turned_into_one(key: Any) -> None:
    with pytest.raises(TypeError, match="key"):
        dumps({key: 1})


def test_nesting_is_written_down_to_the_limit_and_refused_below_it() -> None:
    def nested(depth: int) -> list[Any]:
        return [nested(depth - 1)] if depth else []

    assert dumps(nested(MAX_DEPTH)) == "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1)
    with pytest.raises(ValueError, match="deeper"):
        dumps(nested(MAX_DEPTH + 1))


@quick
@given(anything)
def test_clean_text_can_be_encoded_and_only_lone_surrogates_changed(text: str) -> None:
    found = clean(text)
    assert clean(found) == found
    found.encode("utf-8")
    # An independent reading: walk the code units, pair what pairs, replace what does not.
    data = text.encode("utf-16-be", "surrogatepass")
    units = [int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2)]
    out, at = "", 0
    while at < len(units):
        unit, following = units[at], [*units, 0][at + 1]
        if 0xD800 <= unit < 0xDC00 <= following < 0xE000:
            out += chr(0x10000 + (unit - 0xD800) * 0x400 + following - 0xDC00)
            at += 2
            continue
        out += "\ufffd" if 0xD800 <= unit < 0xE000 else chr(unit)
        at += 1
    assert found == out
