"""Editing settings as text: what is not ours stays, byte for byte, whatever the file looks like."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.settings_edit import (
    UnusableSettingsError,
    add_groups,
    containers,
    decode,
    entries,
    read_box,
    read_root,
    remove_ours,
)

EVENTS = ("SessionStart", "Stop", "SessionEnd")


def ours(command: str) -> bool:
    return command.endswith("# brainhooks")


def group(command: str) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": command, "timeout": 5}]}


GROUPS = {event: group(f"run {event} # brainhooks") for event in EVENTS}
THEIRS = group("theirs")


def add(text: str) -> str:
    return add_groups(text, GROUPS)


def take(text: str, before: dict[str, str | None] | None) -> str:
    return remove_ours(text, ours, before)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("{}", id="empty"),
        pytest.param(" {  }\n\n", id="empty with blanks"),
        pytest.param('{"a":1}', id="minified"),
        pytest.param('{"a": 1, "b": [1, 2]}\n', id="one line"),
        pytest.param('{\n\t"a": 1\n}\n', id="tabs"),
        pytest.param('{\r\n    "hooks": {\r\n        "Stop": [  ]\r\n    }\r\n}', id="CRLF"),
        pytest.param('{\r  "a": 1\r}', id="CR only"),
        pytest.param('\ufeff{\n  "a": "ó"\n}', id="byte order mark"),
        pytest.param('{"a":1\n,"b":2}', id="commas first"),
        pytest.param('{\n"a": 1\n}', id="no indentation"),
        pytest.param('{"hooks": { }, "z": null}', id="empty hooks"),
        pytest.param('{"hooks":\n\n{\n\n"Stop":[]\n}}', id="odd lines"),
        pytest.param('{"hooks": {"Stop": [ {"hooks": []} , 7 ]}}', id="groups not ours"),
        pytest.param('{\n  "hooks": {\n    "Stop": [\n      []\n    ]\n  }\n}', id="nested"),
    ],
)
def test_adding_and_removing_gives_the_same_text_back(text):
    base = decode(text.encode())
    added = add(base)
    assert {event: len(found) for event, found in entries(added, ours).items()} == dict.fromkeys(
        EVENTS, 1
    )
    assert decode(added.encode()) == added
    assert take(added, containers(base)) == base


def test_the_style_of_the_file_is_taken_on():
    added = add('{\r\n\t"model": "opus"\r\n}\r\n')
    assert added.startswith(
        '{\r\n\t"model": "opus",\r\n\t"hooks": {\r\n\t\t"SessionStart": [\r\n\t\t\t{\r\n'
    )
    assert "\n" not in added.replace("\r\n", "")
    assert added.endswith("\r\n\t}\r\n}\r\n")
    assert add('{"a":1}').startswith('{"a":1,"hooks":{"SessionStart":[{"hooks":[{"type":')
    assert "\n" not in add('{"a": 1}')


@pytest.mark.parametrize(
    ("data", "why"),
    [
        pytest.param(b"", "empty", id="0 bytes"),
        pytest.param(b" \n", "empty", id="blanks"),
        pytest.param(b'{"a": 1', "not JSON", id="cut"),
        pytest.param(b'{"a": 1,}', "not JSON", id="trailing comma"),
        pytest.param(b'// x\n{"a": 1}', "not JSON", id="a comment"),
        pytest.param(b'{"a": 1} {}', "behind", id="two documents"),
        pytest.param(b'{"a": NaN}', "NaN", id="NaN"),
        pytest.param(b"[]", "not a JSON object", id="an array"),
        pytest.param(b"null", "not a JSON object", id="null"),
        pytest.param(b'{"a": "\xff"}', "not UTF-8", id="not UTF-8"),
        pytest.param('{"a": 1}'.encode("utf-16"), "not UTF-8", id="UTF-16"),
        pytest.param(b'{"hooks": []}', "not an object", id="hooks is an array"),
        pytest.param(b'{"hooks": null}', "not an object", id="hooks is null"),
        pytest.param(b'{"hooks": {"Stop": {}}}', "no array under 'Stop'", id="event is an object"),
        pytest.param(b'{"hooks": {}, "hooks": {}}', "'hooks' stands there twice", id="hooks twice"),
        pytest.param(b'{"a": 1, "a": 2}', "'a' stands there twice", id="a key twice"),
        pytest.param(b'{"hooks": {"Stop": [], "Stop": []}}', "'Stop' stands", id="event twice"),
        pytest.param(b'{"a": "\t"}', "not JSON", id="a raw tab in a string"),
        pytest.param(b'{"a":' * 99_999, "nested too deeply", id="nested"),
    ],
)
def test_what_cannot_be_edited_without_guessing_is_refused(data, why):
    with pytest.raises(UnusableSettingsError, match=why):
        decode(data)


def test_a_file_cut_anywhere_is_refused():
    whole = add('{\n  "model": "ó",\n  "hooks": {"Stop": []}\n}').encode()
    for cut in range(len(whole)):
        with pytest.raises(UnusableSettingsError):
            decode(whole[:cut])


def test_a_group_that_the_person_extended_keeps_what_is_theirs():
    added = add("{}")
    mixed = added.replace('"timeout": 5\n', '"timeout": 5\n          },\n          {"x": 1\n', 1)
    assert json.loads(take(mixed, {"/": ""})) == {
        "hooks": {"SessionStart": [{"hooks": [{"x": 1}]}]}
    }


def test_without_a_memory_every_container_that_we_emptied_goes():
    assert json.loads(take(add('{"a": 1}'), None)) == {"a": 1}
    assert json.loads(take(add('{"hooks": {"Stop": []}}'), None)) == {}


def test_a_container_that_was_there_stays_when_its_last_other_entry_was_deleted():
    base = '{"hooks": {"Stop": [1]}}'
    edited = add(base).replace('"Stop": [1, ', '"Stop": [')
    assert take(edited, containers(base)) == '{"hooks": {"Stop": []}}'


# -- properties

WORDS = st.text("ab{}[],:\"\\/ \n\té😀#'", max_size=6)
SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | WORDS
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)
HOOKS = st.dictionaries(
    st.sampled_from([*EVENTS, "PreToolUse"]),
    st.lists(st.just(THEIRS) | VALUES.filter(lambda v: not ours(str(v))), max_size=3),
    max_size=3,
)


@st.composite
def documents(draw) -> str:
    """Settings as people and programs write them: any indentation, line end, order and blanks."""
    root = {f"k{key}": value for key, value in draw(st.dictionaries(WORDS, VALUES)).items()}
    if draw(st.booleans()):
        items = list(root.items())
        items.insert(draw(st.integers(0, len(items))), ("hooks", draw(HOOKS)))
        root = dict(items)
    root |= {"token": "TOKEN-1"} if draw(st.booleans()) else {}
    indent = draw(st.sampled_from([None, 0, 1, 2, 4, "\t"]))
    comma, colon = draw(st.sampled_from([(", ", ": "), (",", ":"), (" , ", " : ")]))
    text = json.dumps(
        root,
        indent=indent,
        ensure_ascii=draw(st.booleans()),
        separators=(comma if indent is None else ",", colon),
    )
    for empty, full in (("{}", "{ }"), ("[]", "[\n ]")):
        if draw(st.booleans()):
            text = _outside_strings(text, empty, full)
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n", "\r"])))
    bom = "\ufeff" if draw(st.booleans()) else ""
    return bom + text + draw(st.sampled_from(["", "\n", "\r\n", "\n\n "]))


def _outside_strings(text: str, old: str, new: str) -> str:
    parts = text.split('"')
    if '\\"' in text:  # too clever for this helper; leave it
        return text
    return '"'.join(
        part.replace(old, new) if at % 2 == 0 else part for at, part in enumerate(parts)
    )


@settings(max_examples=100, deadline=None)
@given(documents())
def test_install_and_uninstall_are_the_identity(text):
    base = decode(text.encode())
    added = decode(add(base).encode())
    assert take(added, containers(base)) == base
    value, more = (json.loads(each.removeprefix("\ufeff")) for each in (base, added))
    hooks, more_hooks = value.pop("hooks", {}), more.pop("hooks")
    assert list(value.items()) == list(more.items())
    for event in {*hooks, *EVENTS}:
        mine = [GROUPS[event]] if event in GROUPS else []
        assert more_hooks[event] == hooks.get(event, []) + mine


@settings(max_examples=100, deadline=None)
@given(documents(), st.sampled_from(["value", "first", "before ours", "behind ours"]))
def test_an_edit_in_between_is_all_that_is_left(text, edit):
    base = decode(text.encode())
    edited, wanted = _edit(add(base), edit, base), _edit(base, edit, base)
    if edited is None or wanted is None:
        return
    assert decode(edited.encode())
    assert take(edited, containers(base)) == wanted


def _edit(text: str, edit: str, base: str) -> str | None:
    """Edit as a person would, at a place that exists with and without our entries."""
    root = read_root(text)
    if edit == "value":
        return text.replace('"TOKEN-1"', '{"other": [1, 2]}')
    if edit == "first":
        at = root.start + 1
        return text[:at] + '"new": 1,' + text[at:] if read_root(base).members else None
    hooks = root.get("hooks")
    stop = read_box(text, hooks.value).get("Stop") if hooks else None
    before = containers(base)
    if stop is None or before.get("/hooks/Stop", "") is not None:
        return None
    groups = read_box(text, stop.value)
    new = json.dumps(THEIRS)
    if edit == "before ours":
        at = groups.members[0].start
        return text[:at] + new + ", " + text[at:]
    at = groups.members[-1].end
    return text[:at] + ", " + new + text[at:]
