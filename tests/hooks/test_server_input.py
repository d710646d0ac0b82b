from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hooks.payload import Event, event_of, parse_event
from hooks.server import SERVED
from hooks.server_input import restored
from tests.support.server_door import ENTRIES, filled

PAYLOADS = sorted((Path(__file__).resolve().parents[1] / "payloads").glob("*.json"))
MINE = [path for path in PAYLOADS if path.stem.partition(".")[0] in SERVED]
# No list of fields fits all events; this one asks for whatever is in any payload.
EVERYTHING = {name: f"${{{name}}}" for path in PAYLOADS for name in json.loads(path.read_bytes())}
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=4)
    ),
    max_leaves=12,
)
documents = st.dictionaries(st.text(st.characters(codec="utf-8"), min_size=1), values, max_size=6)


def as_served(name: str, payload: dict[str, object], template: object) -> Event:
    given = filled(template, payload)
    assert isinstance(given, dict)
    return event_of(name, restored(given))


def test_there_are_real_payloads_of_each_event_that_is_served() -> None:
    assert {path.stem.partition(".")[0] for path in MINE} == set(SERVED) == set(ENTRIES)


@pytest.mark.parametrize("path", MINE, ids=lambda path: path.stem)
def test_a_real_payload_is_the_same_event_by_both_doors(path: Path) -> None:
    name = path.stem.partition(".")[0]
    by_process = parse_event(name, path.read_bytes())
    assert as_served(name, json.loads(path.read_bytes()), ENTRIES[name]["input"]) == by_process


@pytest.mark.parametrize("path", PAYLOADS, ids=lambda path: path.stem)
def test_a_real_payload_of_any_event_would_be(path: Path) -> None:
    name = path.stem.partition(".")[0]
    by_process = parse_event(name, path.read_bytes())
    assert as_served(name, json.loads(path.read_bytes()), EVERYTHING) == by_process


@given(tool_input=documents, answer=documents | st.lists(values), error=st.text())
@settings(deadline=None, max_examples=100)
def test_whatever_a_tool_was_given_comes_through(
    tool_input: dict[str, object], answer: object, error: str
) -> None:
    payload = {"tool_input": tool_input, "tool_response": answer, "is_interrupt": True}
    event = as_served("PostToolUse", payload, EVERYTHING)
    assert (event.tool_input, event.tool_response) == (tool_input, answer)
    assert event.interrupted


@pytest.mark.parametrize("said", ["17", "true", "", "null", "-1", "{not json", "[", "a {} b", "0"])
def test_a_text_stays_a_text_whatever_it_looks_like(said: str) -> None:
    payload: dict[str, object] = dict.fromkeys(("session_id", "delta", "error", "cwd"), said)
    event = as_served("PostToolUse", payload, EVERYTHING)
    assert {event.session_id, event.delta, event.error, event.cwd} == {said}
    assert (event.tool_response, event.tool_input) == (None, {})


@pytest.mark.parametrize("said", ["{not json", "[", "plain", "17", '"quoted"', "{} {}"])
def test_a_tools_answer_that_is_a_text_stays_one(said: str) -> None:
    assert as_served("PostToolUse", {"tool_response": said}, EVERYTHING).tool_response == said


@pytest.mark.parametrize("index", ["1" * 30, "٣", "1.5", "-1", "x"])
def test_a_number_that_is_none_is_the_first(index: str) -> None:
    assert event_of("MessageDisplay", restored({"index": index})).index == 0


@pytest.mark.parametrize("value", [None, 5, True, [1], {"a": 1}])
def test_a_value_that_the_client_did_not_make_a_text_passes(value: object) -> None:
    assert restored({"tool_response": value}) == {"tool_response": value}
