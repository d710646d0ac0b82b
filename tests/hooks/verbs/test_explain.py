from __future__ import annotations

import pytest

from hooks.clock import iso
from hooks.context import injections
from hooks.context.compose import Source
from hooks.context.ledger import Ledger, Sighting
from hooks.verbs.explain import NoSuchSessionError, line_number, run
from tests.support.memories import remember


def told(ctx, key: str, line: str, session: str = "session-1") -> None:
    sources = [Source((key,), line)]
    injections.note(
        ctx.settings.home, session, "SessionStart", f"…{line}…", sources, at=iso(ctx.at)
    )


def sighted(ctx, key: str, path, at_byte: int) -> None:
    ledger = Ledger.open(ctx.settings.home, ctx.at)
    row = Sighting(
        "msg_1", 0, 0, "lesson", "d", key, "", "session-0", str(path), at_byte, iso(ctx.at)
    )
    with ledger.writing():
        ledger.add_sighting(row)
    ledger.close()


def test_each_line_is_told_with_memory_speaker_date_session_and_transcript_line(
    home, ctx, tmp_path
):
    key = remember(home, "a1", "run migrations first")
    transcript = tmp_path / "t.jsonl"
    transcript.write_bytes(b'{"n":1}\n{"n":2}\n{"n":3}\n')
    sighted(ctx, key, transcript, 8)
    told(ctx, key, "- [a1a1a1a1, lesson] run migrations first")

    said = run("", ctx)

    assert said.startswith("In this session the agent was told 1 memory line.")
    assert "SessionStart, 2026-11-30 12:00 UTC:" in said
    assert "- [a1a1a1a1, lesson] run migrations first" in said
    assert (
        f"a1a1a1a1: lesson by agent, 2026-11-29, session session-0, line 2 of {transcript}" in said
    )


def test_a_transcript_that_is_gone_is_said_to_be(home, ctx, tmp_path):
    key = remember(home, "a1", "run migrations first", **{"class": "person"})
    sighted(ctx, key, tmp_path / "gone.jsonl", 8)
    told(ctx, key, "- run migrations first")
    said = run("", ctx)
    assert "lesson by you" in said
    assert "gone.jsonl (the transcript is gone)" in said


def test_a_forgotten_memory_is_no_longer_remembered(ctx):
    told(ctx, "a1" * 16, "- run migrations first")
    assert "a1a1a1a1: no longer remembered" in run("", ctx)


def test_a_session_that_was_told_nothing(home, ctx):
    assert run("", ctx) == "The agent was told nothing in this session."
    assert not home.exists()


def test_outside_a_session_the_latest_one_is_explained_and_any_by_its_beginning(ctx):
    told(ctx, "a1" * 16, "- one", session="abc-1")
    shell = ctx._replace(session_id="")

    assert run("", shell).startswith("In session abc-1 the agent")
    assert run("abc", shell).startswith("In session abc-1 the agent")
    with pytest.raises(NoSuchSessionError):
        run("../../etc", shell)


def test_what_was_only_the_how_to_note_is_said_so(ctx):
    injections.note(ctx.settings.home, "session-1", "SessionStart", "how", [], at=iso(ctx.at))
    assert "no memory" in run("", ctx)


def test_the_line_number_is_right_at_every_byte(tmp_path):
    path = tmp_path / "t"
    data = b"a\n\nbc\nd"
    path.write_bytes(data)
    for offset in range(len(data)):
        assert line_number(str(path), offset) == data[:offset].count(b"\n") + 1
