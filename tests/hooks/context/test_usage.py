"""Each API message counts once, whatever is split, doubled, copied or in another order."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hooks.context.usage import (
    MOST_OPEN,
    Context,
    Counter,
    Usage,
    compacted_to,
    message_of,
    total,
    window_of,
)
from tests.support.session import recorded_lines

OPUS = "claude-opus-5-5"
ORIGIN = "0ab96787-666b-4423-b983-6a30353e01f6"
FORK = "623d8cd4-e8cf-4f96-84e5-69eec9699b32"


def line(ident, usage=(1, 2, 3, 4), *, model=OPUS, session="s1", **fields):
    names = (
        *("input_tokens", "output_tokens", "cache_read_input_tokens"),
        "cache_creation_input_tokens",
    )
    message = {"id": ident, "model": model, "usage": dict(zip(names, usage, strict=True))}
    return {"type": "assistant", "message": message, "sessionId": session, **fields}


def counted(lines, session="s1", *, main=True, document=None):
    counter = Counter(document or {})
    for one in lines:
        message = message_of(one)
        if message is not None:
            counter.add(message, session=session, main=main)
        elif main and (left := compacted_to(one)) is not None:
            counter.compact(left)
    return counter


def test_lines_of_one_message_count_once_with_the_usage_met_last():
    lines = [line("m1", (5, 1, 0, 0)), line("m2"), line("m1", (5, 9, 0, 0))]
    assert counted(lines).models == {OPUS: Usage(6, 11, 3, 4)}


def test_models_are_counted_apart():
    models = counted([line("m1"), line("m2", model="claude-haiku-4-5")]).models
    assert models == {OPUS: Usage(1, 2, 3, 4), "claude-haiku-4-5": Usage(1, 2, 3, 4)}
    assert total(models.values()) == Usage(2, 4, 6, 8)


@pytest.mark.parametrize(
    ("name", "messages"),
    [("plain", 1), ("tools", 5), ("resumed", 3), ("compacted", 3), ("cleared-1-before", 1)],
)
def test_a_recorded_session_counts_each_of_its_messages(name, messages):
    lines = recorded_lines(name)
    session = next(one["sessionId"] for one in lines)
    ids = {one["message"]["id"] for one in lines if one["type"] == "assistant"}
    assert len(ids) == messages
    used = total(counted(lines, session).models.values())
    assert used.output == 42 * messages
    assert used.cache_read == 300 * messages


def test_a_fork_counts_only_what_it_asked_for_itself():
    """Its file repeats the origin's three messages; the fourth is its own."""
    assert counted(recorded_lines("forked"), FORK).models == {OPUS: Usage(104, 42, 300, 20)}
    assert counted(recorded_lines("resumed"), ORIGIN).models[OPUS].output == 3 * 42


def test_the_origin_counts_nothing_anew_from_its_forks_file():
    both = [*recorded_lines("resumed"), *recorded_lines("forked")]
    assert counted(both, ORIGIN).models[OPUS].output == 3 * 42


def test_a_forks_context_is_the_whole_conversation_that_it_took_over():
    copied = recorded_lines("forked")[:-12]
    copied = [one for one in copied if one.get("requestSessionId")]
    assert counted(copied, FORK).models == {}
    assert counted(copied, FORK).context == Context(OPUS, 103 + 300 + 20)


def test_a_subagents_messages_are_its_sessions_and_not_its_context():
    main, side = recorded_lines("subagent-main"), recorded_lines("subagent-sidechain")
    session = main[0]["sessionId"]
    counter = counted(main, session)
    alone = counter.context
    again = counted(side, session, main=False, document=counter.document())
    assert again.models[OPUS].output == 4 * 42
    assert again.context == alone == Context(OPUS, 106 + 300 + 20)


def test_what_the_client_writes_in_the_apis_name_counts_nothing():
    lines = recorded_lines("api-error")
    assert counted(lines, lines[0]["sessionId"]).models == {}


def test_behind_a_compaction_the_context_is_what_it_left():
    lines = recorded_lines("compacted")
    boundary = next(n for n, one in enumerate(lines) if one.get("subtype") == "compact_boundary")
    session = lines[0]["sessionId"]
    assert counted(lines[: boundary + 1], session).context == Context(OPUS, 2634)
    assert counted(lines, session).context == Context(OPUS, 104 + 300 + 20)


@pytest.mark.parametrize(
    ("model", "tokens", "window"),
    [
        ("claude-opus-5-5", 10, 200_000),
        ("claude-sonnet-4-5[1m]", 10, 1_000_000),
        ("Claude-Sonnet-4-5[1M]", 10, 1_000_000),
        ("", 0, 200_000),
        ("claude-opus-5-5", 200_001, 1_000_000),
    ],
)
def test_the_window_is_what_the_models_id_says(model, tokens, window):
    assert window_of(model, tokens) == window


def test_the_window_that_was_asked_for_is_kept_with_the_context():
    asked = line("m1", requestedModel="claude-opus-5-5[1m]")
    assert counted([asked]).context == Context("claude-opus-5-5[1m]", 1 + 3 + 4)


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"type": "user", "message": {"usage": {}}},
        line("m1") | {"message": "text"},
        line("m1") | {"message": {"id": "m1", "model": OPUS, "usage": [1]}},
        line(""),
        line("m1", model="<synthetic>"),
        line("m1", isApiErrorMessage=True),
    ],
)
def test_a_line_that_says_nothing_usable_is_no_message(broken):
    assert message_of(broken) is None


@pytest.mark.parametrize("number", [-1, True, 1.5, "7", None, 1 << 80])
def test_a_damaged_number_counts_as_none(number):
    assert counted([line("m1", (number, 2, 3, 4))]).models == {OPUS: Usage(0, 2, 3, 4)}


@pytest.mark.parametrize(
    "damaged",
    [
        {"v": 2, "models": {OPUS: [9, 9, 9, 9]}},
        {"v": 1, "models": [], "open": "x", "counted": 7, "context": {"tokens": 9}},
        {"v": 1, "models": {OPUS: ["a", -1, None]}, "open": {"i": []}, "context": [1]},
    ],
)
def test_a_damaged_document_counts_from_nothing(damaged):
    counter = counted([line("m1")], document=damaged)
    assert counter.models[OPUS] == Usage(1, 2, 3, 4)


def test_a_message_far_back_is_still_known():
    lines = [line(f"m{n}", (1, 1, 1, 1)) for n in range(MOST_OPEN * 2)]
    document = counted(lines).document()
    assert len(document["open"]) == MOST_OPEN
    again = counted(lines, document=document)
    assert again.models == {OPUS: Usage(*[MOST_OPEN * 2] * 4)}


MESSAGES = st.lists(
    st.tuples(
        st.sampled_from([f"m{n}" for n in range(6)]),
        st.tuples(*[st.integers(0, 1000)] * 4),
    ),
    max_size=30,
)


@settings(max_examples=100, deadline=None)
@given(MESSAGES, st.lists(st.integers(0, 30), max_size=4))
def test_however_the_lines_come_each_message_counts_once_with_its_last_usage(messages, cuts):
    """Stored and read again at every cut, as so many hooks do."""
    document: dict[str, object] = {}
    bounds = [0, *sorted(cuts), len(messages)]
    for start, end in itertools.pairwise(bounds):
        lines = [line(ident, usage) for ident, usage in messages[start:end]]
        document = counted(lines, document=document).document()
    last = {ident: usage for ident, usage in messages}
    sums = [sum(usage[n] for usage in last.values()) for n in range(4)]
    assert total(Counter(document).models.values()) == Usage(*sums)
    # read again from the first line: nothing more
    lines = [line(ident, usage) for ident, usage in messages]
    assert counted(lines, document=document).models == Counter(document).models
