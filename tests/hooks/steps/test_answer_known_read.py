"""A second read of an unchanged range, through the processes that the agent starts."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import contextmanager

import pytest

from hooks.context.operation import OURS
from tests.support.guards import all_at_once, denial, state_env, switch_controls_off
from tests.support.run_hook import recorded

__all__ = ["state_env"]
ON = {"BRAINHOOKS_READ_CACHE": "1"}
TEXT = "".join(f"line {number}\n" for number in range(1, 11))


@pytest.fixture
def file(project):
    path = project / "a.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def work(session):
    mine = session(env=ON)
    mine.start()
    mine.settle()
    return mine


def given_to(path, offset=None, limit=None):
    fields = {"file_path": str(path), "offset": offset, "limit": limit}
    return {name: value for name, value in fields.items() if value is not None}


def ask(mine, path, *, agent="", **fields):
    """The agent is about to read; return why it is denied, "" where it reads."""
    return denial(mine.fire("PreToolUse.Read", tool_input=given_to(path, **fields), agent_id=agent))


def show(mine, path, *, agent="", content=None, offset=None, limit=None, **file):
    """The agent was shown what stands there, or ``content``."""
    first = (offset or 1) - 1
    rows = path.read_text(encoding="utf-8").split("\n")
    some = rows[first : first + limit if limit else None]
    said = recorded("PostToolUse.Read")["tool_response"]
    said["file"] = {
        "filePath": str(path),
        "content": "\n".join(some) if content is None else content,
        "numLines": len(some),
        "startLine": first + 1,
        "totalLines": len(rows),
        **file,
    }
    run = mine.fire(
        "PostToolUse.Read",
        tool_input=given_to(path, offset, limit),
        tool_response=said,
        agent_id=agent,
    )
    assert (run.rc, run.stderr) == (0, "")


def read(mine, path, **fields):
    """Read as the client does; say whether the tool ran."""
    if ask(mine, path, **fields):
        return False
    show(mine, path, **fields)
    return True


def test_a_second_read_of_an_unchanged_file_is_answered_and_a_third_goes_through(
    session, state_env, file
):
    mine = session(env={**ON, **state_env})
    mine.start()
    assert read(mine, file)
    said = ask(mine, file)
    assert said.startswith(f"{OURS}{file} is unchanged since you read it at ")
    assert "the next try is let through" in said
    assert read(mine, file)
    assert not read(mine, file)
    mine.settle()


def test_nothing_is_answered_unless_it_was_asked_for(session, file):
    mine = session()
    mine.start()
    assert [read(mine, file) for _ in range(3)] == [True] * 3


def test_of_eight_reads_at_once_one_is_answered_and_seven_go_through(session, state_env, file):
    mine = session(env={**ON, **state_env})
    mine.start()
    assert read(mine, file)
    payload = given_to(file)
    runs = all_at_once(8, lambda: mine.fire("PreToolUse.Read", tool_input=payload))
    assert sorted(bool(denial(run)) for run in runs) == [False] * 7 + [True]
    mine.settle()


def test_eight_files_that_are_read_at_once_are_all_known(work, project):
    paths = [project / f"{number}.txt" for number in range(8)]
    for path in paths:
        path.write_text(f"{path.name}\n", encoding="utf-8")
    left = iter(paths)

    def one():
        path = next(left)
        said = recorded("PostToolUse.Read")["tool_response"]
        said["file"].update(filePath=str(path), content=f"{path.name}\n")
        return work.fire("PostToolUse.Read", tool_input=given_to(path), tool_response=said)

    all_at_once(8, one)
    assert all(ask(work, path) for path in paths)


def test_another_agent_has_not_read_it(work, file):
    assert read(work, file)
    assert read(work, file, agent="a3494a5b96b1bafc9")
    assert not read(work, file, agent="a3494a5b96b1bafc9")
    assert not read(work, file)


def test_another_session_has_not_read_it(work, session, file):
    assert read(work, file)
    assert read(session(env=ON), file)


def test_another_range_was_not_read(work, file):
    assert read(work, file, offset=2, limit=3)
    for fields in ({}, {"offset": 2}, {"limit": 3}, {"offset": 2, "limit": 4}):
        assert ask(work, file, **fields) == ""
    assert "lines 2 to 4" in ask(work, file, offset=2, limit=3)


def edited(path):
    path.write_text(TEXT.replace("3", "three"), encoding="utf-8")


def edited_with_its_old_time(path):
    was = path.stat()
    path.write_text(TEXT.replace("3", "4"), encoding="utf-8")
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))


def replaced_by_a_copy(path):
    shutil.copy2(path, path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)


def replaced_by_a_link(path):
    shutil.copy2(path, path.with_suffix(".new"))
    path.unlink()
    path.symlink_to(path.with_suffix(".new"))


def removed(path):
    path.unlink()


CHANGES = [
    edited,
    edited_with_its_old_time,
    replaced_by_a_copy,
    replaced_by_a_link,
    removed,
    lambda path: os.utime(path),
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_file_that_changed_in_any_way_is_read_again(work, file, change):
    assert read(work, file)
    change(file)
    assert ask(work, file) == ""


@pytest.mark.parametrize(
    "shows",
    [
        {"content": TEXT.replace("3", "4")},
        {"content": TEXT[:20]},
        {"truncatedByTokenCap": True},
        {"filePath": "/elsewhere"},
        {"startLine": 2},
    ],
    ids=["another text", "a part", "a first page", "another file", "other lines"],
)
def test_what_was_not_shown_as_the_file_has_it_is_read_again(work, file, shows):
    show(work, file, **shows)
    assert ask(work, file) == ""
    assert read(work, file)
    show(work, file, **shows)  # and it also ends what was known
    assert ask(work, file) == ""


def test_a_picture_and_a_failed_read_are_read_again(work, file):
    image = {"type": "image", "file": {"base64": "", "type": "image/png", "originalSize": 1}}
    work.fire("PostToolUse.Read", tool_input=given_to(file), tool_response=image)
    work.fire("PostToolUseFailure.Read", tool_input=given_to(file))
    assert ask(work, file) == ""


def test_other_tools_are_never_answered(work, file):
    assert read(work, file)
    run = work.fire("PreToolUse.Edit", tool_input=given_to(file))
    assert run.stdout == b""
    assert not read(work, file)


FORGETS = {
    "a compaction": lambda mine: mine.fire("PreCompact"),
    "what comes after one": lambda mine: mine.start("compact"),
    "a clear": lambda mine: mine.start("clear"),
    "a resume": lambda mine: mine.start("resume"),
    "a fork": lambda mine: mine.start("fork"),
    "a start": lambda mine: mine.start(),
}


@pytest.mark.parametrize("forget", FORGETS.values(), ids=FORGETS.keys())
def test_what_the_context_may_not_hold_any_more_is_read_again(work, file, forget):
    assert read(work, file)
    assert forget(work).rc == 0
    assert ask(work, file) == ""


def test_a_compaction_forgets_every_agents_reads_though_nothing_else_is_to_be_done(
    session, state_env, file
):
    mine = session(env={**ON, **state_env})
    mine.start()
    mine.prompt("hello")
    mine.says("Hello.")
    mine.stop()
    mine.fire("PreCompact")  # the first one here makes its folders, whatever there is to do
    mine.settle()
    assert read(mine, file)
    assert read(mine, file, agent="a1")
    mine.fire("PreCompact")
    assert ask(mine, file) == ""
    assert ask(mine, file, agent="a1") == ""
    assert read(mine, file)
    assert not read(mine, file)
    mine.settle()


def test_a_compaction_while_the_controls_are_off_is_not_missed(work, file, home):
    assert read(work, file)
    switch_controls_off(home)
    assert ask(work, file) == ""
    work.fire("PreCompact")
    switch_controls_off(home, off=False)
    assert ask(work, file) == ""


def test_a_compaction_while_it_was_switched_off_is_not_missed(work, session, file):
    assert read(work, file)
    quiet = session(session_id=work.id)
    quiet.fire("PreCompact")
    assert ask(work, file) == ""


@contextmanager
def out_of_reach(home):
    """No hook can open ``state.db`` meanwhile."""
    state = home / "state.db"
    state.rename(home / "kept")
    state.mkdir()
    try:
        yield
    finally:
        state.rmdir()
        (home / "kept").rename(state)
        (home / "brain" / "state-down.json").unlink()


def test_a_compaction_while_the_state_is_out_of_reach_is_not_missed(work, file, home):
    assert read(work, file)
    with out_of_reach(home):
        assert ask(work, file) == ""
        work.fire("PreCompact")
    assert ask(work, file) == ""


def test_with_the_state_out_of_reach_for_a_while_the_note_still_holds(work, file, home):
    assert read(work, file)
    with out_of_reach(home):
        assert ask(work, file) == ""
    assert ask(work, file) != ""


def test_no_text_of_the_file_is_kept(work, file, home):
    file.write_text("a secret line\n", encoding="utf-8")
    assert read(work, file)
    kept = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert b"secret line" not in kept


def test_a_denied_read_is_not_counted_as_a_failure(work, file):
    for _ in range(6):
        assert read(work, file)
        said = f"PreToolUse:Read hook error: {ask(work, file)}"
        run = work.fire("PostToolUseFailure.Read", tool_input=given_to(file), error=said)
        assert json.dumps(run.reply) == "{}"
