from __future__ import annotations

import os
from datetime import timedelta

import pytest

from hooks.clock import iso
from hooks.context import injections, session_index
from hooks.context.compose import Source
from hooks.context.ledger import Ledger, Sighting
from hooks.verbs.explain import NoSuchSessionError, line_number, run
from tests.support.memories import WEB, remember


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


def indexed(ctx, session: str, project: str = WEB, **fields: str) -> None:
    entry = session_index.Entry(session, iso(ctx.at), project, **fields)
    session_index.append(ctx.settings.home, entry)


def test_outside_a_session_the_latest_of_this_project_is_explained_by_what_was_noted(ctx):
    for minutes, session, project in (
        (1, "old-1", WEB),
        (2, "new-2", WEB),
        (3, "other-3", "git.example.org/shop/api"),
    ):
        later = ctx._replace(at=ctx.at + timedelta(minutes=minutes))
        told(later, "a1" * 16, "- one", session=session)
        indexed(later, session, project)
    os.utime(injections.path_of(ctx.settings.home, "old-1"))  # as a forget does
    shell = ctx._replace(session_id="")

    assert run("", shell).startswith(f"In session new-2 of {WEB} the agent")
    assert run("other", shell).startswith("In session other-3 of git.example.org/shop/api the")


def test_a_project_of_which_no_session_was_told_anything_is_named(ctx):
    told(ctx, "a1" * 16, "- one", session="other-3")
    indexed(ctx, "other-3", "git.example.org/shop/api")
    said = run("", ctx._replace(session_id=""))
    assert said.startswith(f"The agent was told nothing in any session of {WEB};")


def test_a_folder_without_a_project_has_its_own_sessions(ctx, tmp_path):
    for name in ("here", "there"):
        folder = tmp_path / name
        folder.mkdir()
        told(ctx, "a1" * 16, "- one", session=f"in-{name}")
        indexed(ctx, f"in-{name}", "unknown", cwd=str(folder))
    shell = ctx._replace(session_id="", cwd=str(tmp_path / "here"))
    assert run("", shell).startswith("In session in-here the agent")


def test_any_session_is_named_by_its_beginning(ctx):
    told(ctx, "a1" * 16, "- one", session="abc-1")
    assert run("abc", ctx).startswith("In session abc-1 the agent")
    with pytest.raises(NoSuchSessionError):
        run("../../etc", ctx)


def test_what_was_only_the_how_to_note_is_said_so(ctx):
    injections.note(ctx.settings.home, "session-1", "SessionStart", "how", [], at=iso(ctx.at))
    assert "no memory" in run("", ctx)


def test_the_line_number_is_right_at_every_byte(tmp_path):
    path = tmp_path / "t"
    data = b"a\n\nbc\nd"
    path.write_bytes(data)
    for offset in range(len(data)):
        assert line_number(str(path), offset) == data[:offset].count(b"\n") + 1
