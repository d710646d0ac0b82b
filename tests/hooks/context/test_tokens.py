"""Counting a session's tokens in the state, over many hooks, files and processes."""

from __future__ import annotations

import json
import shutil
from datetime import timedelta

import pytest

from hooks.context.followed import everything
from hooks.context.session_state import document
from hooks.context.state_embedded import EmbeddedState
from hooks.context.tokens import count, key_of
from hooks.context.usage import Counter, total
from tests.hooks.context.test_usage import FORK, line
from tests.support.run_hook import wait_for_workers
from tests.support.session import TRANSCRIPTS


@pytest.fixture
def state(home, noon):
    opened = EmbeddedState.open(str(home), noon)
    yield opened
    opened.close()


def kept(state, session="s1"):
    [value] = state.read([key_of(session)])
    return document(value)


def output(state, session="s1"):
    return total(Counter(kept(state, session)).models.values()).output


def run(state, path, session="s1", **named):
    return count(state, session, lambda _: everything(str(path), session), **named)


def write(path, *lines, end="\n"):
    path.write_text("".join(json.dumps(one) + "\n" for one in lines)[:-1] + end)


def test_each_hook_adds_what_is_new(state, tmp_path):
    path = tmp_path / "s1.jsonl"
    write(path, line("m1"))
    run(state, path)
    assert output(state) == 2
    write(path, line("m1"), line("m1"), line("m2"))
    run(state, path)
    run(state, path)
    assert output(state) == 4


def test_split_at_every_byte_each_message_still_counts_once(state, tmp_path):
    path = tmp_path / "s1.jsonl"
    data = b"".join(
        json.dumps(line(*one)).encode() + b"\n"
        for one in (("m1", (1, 5, 0, 0)), ("m1", (1, 7, 0, 0)), ("m2", (1, 1, 1, 1)))
    )
    for cut in range(0, len(data) + 1, 3):
        session = f"s{cut}"
        named = data.replace(b'"s1"', b'"' + session.encode() + b'"')
        path.write_bytes(named[:cut])
        run(state, path, session)
        path.write_bytes(named[:cut])  # the same file, the same bytes
        with path.open("ab") as file:
            file.write(named[cut:])
        run(state, path, session)
        assert output(state, session) == 8, cut


@pytest.mark.parametrize("what", ["truncated", "rotated", "position-lost"])
def test_reading_again_from_the_first_line_counts_nothing_twice(state, tmp_path, what):
    path = tmp_path / "s1.jsonl"
    write(path, line("m1"), line("m2"))
    run(state, path)
    if what == "truncated":
        write(path, line("m2"))
    elif what == "rotated":
        shutil.copy(path, tmp_path / "copy")
        (tmp_path / "copy").replace(path)
    else:
        state.delete([key_of("s1")])
    run(state, path)
    assert output(state) == 4


def test_a_fork_begins_at_nothing_and_its_origin_keeps_its_own(state, tmp_path):
    path = tmp_path / f"{FORK}.jsonl"
    shutil.copy(TRANSCRIPTS / "forked.jsonl", path)
    run(state, path, FORK)
    assert output(state, FORK) == 42


def test_subagents_count_with_their_session(state, tmp_path):
    session = json.loads((TRANSCRIPTS / "subagent-main.jsonl").read_text().split("\n")[0])[
        "sessionId"
    ]
    path = tmp_path / f"{session}.jsonl"
    shutil.copy(TRANSCRIPTS / "subagent-main.jsonl", path)
    side = tmp_path / session / "subagents"
    side.mkdir(parents=True)
    shutil.copy(TRANSCRIPTS / "subagent-sidechain.jsonl", side / "agent-a3494a5b96b1bafc9.jsonl")
    run(state, path, session)
    run(state, path, session)
    assert output(state, session) == 4 * 42


def test_what_is_too_much_for_a_hook_is_left_alone(state, tmp_path):
    path = tmp_path / "s1.jsonl"
    write(path, line("m1"))
    assert not run(state, path, limit=10)
    assert kept(state) == {}
    assert run(state, path, limit=10_000)
    assert run(state, path, limit=10), "nothing is new"


def test_the_counters_end_a_day_after_the_last_hook(home, state, tmp_path, noon):
    path = tmp_path / "s1.jsonl"
    write(path, line("m1"))
    run(state, path)
    later = EmbeddedState.open(str(home), noon + timedelta(hours=25))
    assert kept(later) == {}
    later.close()


def test_the_hooks_of_a_session_count_as_it_goes_on(home, session):
    current = session()
    current.start()
    current.prompt("hello")
    current.says("one")
    current.stop()
    current.says("two", "three")
    current.stop()
    current.end()
    current.settle()
    found = EmbeddedState.open(str(home), _now())
    assert output(found, current.id) == 2 * 42
    found.close()


def test_a_large_backlog_is_counted_by_the_worker(home, session):
    current = session()
    current.start()
    current.says("one")
    current.write("user", {"role": "user", "content": "x" * (5 << 20)})
    current.says("two")
    current.stop()
    wait_for_workers(home)
    found = EmbeddedState.open(str(home), _now())
    assert output(found, current.id) == 2 * 42
    found.close()


def _now():
    from datetime import UTC, datetime

    return datetime.now(UTC)  # noqa: TID251 - the hooks above had the real clock
