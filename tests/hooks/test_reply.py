from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hooks.reply import SILENT, Block, Reply, Say, Show, Silent, Tell, encode, merge, units

quick = settings(deadline=None, max_examples=100)
texts = st.text(max_size=8)
joining = st.just(SILENT) | texts.map(Say) | texts.map(Tell)
replies = joining | texts.map(Block) | texts.map(Show)


@quick
@given(st.text())
def test_units_are_utf16_code_units(text: str) -> None:
    assert units(text) == len(text.encode("utf-16-le")) // 2


def test_an_emoji_is_two_units_and_half_a_pair_is_one() -> None:
    assert (units("a🎯é"), units("\ud800")) == (4, 1)


@quick
@given(st.lists(joining))
def test_what_is_said_and_told_joins_in_order(some: list[Reply]) -> None:
    said = [reply.text for reply in some if type(reply) is Say and reply.text]
    told = [reply.text for reply in some if type(reply) is Tell and reply.text]
    wanted: list[Reply] = [Say("\n\n".join(said))] if said else []
    wanted += [Tell("\n".join(told))] if told else []
    found = merge(some)
    assert found == wanted
    assert [type(reply) for reply in found] == [type(reply) for reply in wanted]


@pytest.mark.parametrize("last", [Block("done"), Show("◆ x")], ids=repr)
def test_a_block_or_a_shown_text_ends_the_run(last: Reply) -> None:
    def run() -> Iterator[Reply]:
        yield Say("context")
        yield last
        pytest.fail("a step ran behind it")

    found = merge(run())
    assert found == [last]
    assert type(found[0]) is type(last)


def test_silence_is_no_byte_at_all() -> None:
    assert encode([], "Stop") == b""
    assert encode(merge([SILENT, Silent(), Say(""), Tell("")]), "Stop") == b""


def test_each_kind_of_reply_is_written_as_the_agent_reads_it() -> None:
    def document(*some: Reply, event: str = "UserPromptSubmit") -> object:
        return json.loads(encode(some, event))

    assert document(Say("c"), event="SessionStart") == {
        "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "c"}
    }
    assert document(Tell("for you"), event="Stop") == {"systemMessage": "for you"}
    assert document(Show(""), event="MessageDisplay") == {
        "hookSpecificOutput": {"hookEventName": "MessageDisplay", "displayContent": ""}
    }
    assert document(Block("Forgot it")) == {
        "decision": "block",
        "reason": "Forgot it",
        "hookSpecificOutput": {
            "hookEventName": "UserPromptSubmit",
            "suppressOriginalPrompt": True,
        },
    }
    assert document(Say("c"), Tell("t")) == {
        "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "c"},
        "systemMessage": "t",
    }


@quick
@given(st.lists(replies, max_size=4))
def test_output_is_one_line_of_ascii_json_or_nothing(some: list[Reply]) -> None:
    out = encode(merge(some), "UserPromptSubmit")
    if out:
        assert out.isascii()
        assert out.endswith(b"}\n")
        assert out.count(b"\n") == 1
        assert b"\r" not in out
        assert isinstance(json.loads(out), dict)
