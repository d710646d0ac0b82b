"""What identifies a thought, and what must not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hooks.context.thought import key_of, think
from scripts.swarm_v2.keyspace import Namespace

CUTOVER = datetime(2026, 11, 1, tzinfo=UTC)
SPACE = Namespace("inst-" + "0" * 32, "none", "a/b/c")


def key(thought, at=CUTOVER):
    return key_of(thought, session="s", task="t", space=SPACE, at=at, cutover=CUTOVER)


def test_attributes_are_in_neither_key_nor_digest():
    plain, dressed = think("lesson", "X", {}), think("lesson", "X", {"severity": "high"})
    assert plain.digest == dressed.digest
    assert key(plain) == key(dressed)


@pytest.mark.parametrize("scope", ["user", "session"])
def test_a_personal_scope_makes_another_thought_and_project_is_the_default(scope):
    plain = think("lesson", "X", {})
    assert think("lesson", "X", {"scope": scope}).digest != plain.digest
    assert key(think("lesson", "X", {"scope": scope})) != key(plain)
    assert key(think("lesson", "X", {"scope": "project"})) == key(plain)
    assert think("lesson", "X", {"scope": "everybody"}).scope == "space"


def test_at_the_cutover_itself_the_key_is_the_namespaced_one():
    one = think("lesson", "X", {})
    legacy = key(one, None)
    assert key(one, CUTOVER) != legacy
    assert key(one, CUTOVER - timedelta(microseconds=1)) == legacy


def test_a_legacy_key_knows_no_scope_and_only_the_first_4096_characters():
    long = "x" * 4096
    same = {key(think("lesson", long + end, {"scope": "user"}), None) for end in ("", "a", "bc")}
    assert len(same) == 1
    assert key(think("lesson", long + "a", {})) != key(think("lesson", long, {}))


def test_secrets_are_taken_out_of_text_and_attributes_and_said():
    secret = "ghp_" + "a1B2" * 9
    one = think("lesson", f"use {secret}", {"title": secret, "path": "a"})
    assert secret not in one.content
    assert secret not in one.attrs["title"]
    assert one.redacted
    assert one.original.endswith(secret)


@settings(deadline=None, max_examples=100)
@given(
    st.text(st.characters(), max_size=60), st.dictionaries(st.text(max_size=5), st.text(max_size=9))
)
def test_any_text_has_a_key_and_can_be_stored(text, attrs):
    one = think("lesson", text, attrs)
    one.content.encode("utf-8")
    assert len(key(one)) == len(key(one, None)) == 32
    assert think("lesson", f"  {text}\n", attrs).digest == one.digest


def test_lone_surrogates_become_one_replacement_each():
    assert think("lesson", "a\ud83d", {}).content == "a\ufffd"
