from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from hooks.payload import Event
from hooks.quick import door_note, nothing_to_do, signature, tools_note, unchanged

PROMPT = Event("UserPromptSubmit", session_id="s-1", prompt="hello")


@pytest.fixture
def home(tmp_path):
    for folder in ("last-run", "door"):
        (tmp_path / "brain" / folder).mkdir(parents=True)
    events = ("UserPromptSubmit", "Stop", "MessageDisplay", "SessionStart")
    for event in (*events, "PreToolUse", "PostToolUse", "PostToolUseFailure"):
        (tmp_path / "brain" / "last-run" / event).touch()
    return str(tmp_path)


def note(home, watch):
    Path(door_note(home, "s-1")).write_text(json.dumps({"watch": watch}))
    tools(home)


def tools(home, **fields):
    quiet = {"cares": [], "git": False, "folders": {"": ""}, "watch": {}}
    Path(tools_note(home, "s-1")).write_text(json.dumps({**quiet, **fields}))


def tool(event, name="Bash", cwd="", **given):
    return Event(event, session_id="s-1", tool_name=name, tool_input=given, cwd=cwd)


def test_a_prompt_with_nothing_changed_needs_nothing(home):
    file = Path(home, "cache")
    file.write_text("x")
    note(home, {str(file): signature(str(file)), home + "/absent": "-"})
    assert nothing_to_do(PROMPT, home) is True


@pytest.mark.parametrize("change", ["written", "replaced", "removed", "appeared"])
def test_any_change_of_a_watched_file_is_work(home, change):
    file, absent = Path(home, "cache"), Path(home, "absent")
    file.write_text("x")
    note(home, {str(file): signature(str(file)), str(absent): "-"})
    if change == "written":
        file.write_text("xy")
    elif change == "replaced":
        other = Path(home, "other")
        other.write_text("y")
        os.utime(other, ns=(file.stat().st_atime_ns, file.stat().st_mtime_ns))
        other.replace(file)
    elif change == "removed":
        file.unlink()
    else:
        absent.write_text("x")
    assert nothing_to_do(PROMPT, home) is False


@pytest.mark.parametrize(
    "prompt", ["/brainhooks:lessons", "  /brainhooks:forget 1", "/brainhooks:", "\n/brainhooks:x y"]
)
def test_a_verb_is_always_work(home, prompt):
    note(home, {})
    assert nothing_to_do(PROMPT._replace(prompt=prompt), home) is False


@pytest.mark.parametrize("text", ["", "{", "[]", '{"watch":[]}', '{"watch":null}', '{"other":{}}'])
def test_a_damaged_note_proves_nothing(home, text):
    Path(door_note(home, "s-1")).write_text(text)
    assert nothing_to_do(PROMPT, home) is False


@pytest.mark.parametrize("session", ["", "../door/s-1", "a/b", "s\0", "é", ".."])
def test_a_session_id_that_is_no_file_name_proves_nothing(home, session):
    assert nothing_to_do(PROMPT._replace(session_id=session), home) is False


def test_the_first_run_of_an_event_is_work_whatever_else_holds(home):
    note(home, {})
    os.unlink(os.path.join(home, "brain", "last-run", "UserPromptSubmit"))
    assert nothing_to_do(PROMPT, home) is False


def test_a_session_start_is_never_skipped(home):
    assert nothing_to_do(Event("SessionStart", session_id="s-1"), home) is False


@pytest.mark.parametrize(
    ("delta", "index", "final", "skipped"),
    [
        ("plain", 0, True, True),
        ("<!-- @lesson -->x<!-- @/lesson -->", 0, True, False),
        ("plain", 0, False, False),
        ("plain", 1, True, False),
    ],
)
def test_only_a_whole_message_without_a_marker_is_shown_unseen(home, delta, index, final, skipped):
    event = Event("MessageDisplay", message_id="m", delta=delta, index=index, final=final)
    assert nothing_to_do(event, home) is skipped


def test_a_signature_never_equals_absence(tmp_path):
    assert signature(str(tmp_path)) != "-"
    assert signature(str(tmp_path / "no")) == "-"
    assert signature("a\0b") == "-"


@pytest.mark.parametrize("watch", [None, [], "x", 1])
def test_only_a_list_of_files_can_be_unchanged(watch):
    assert unchanged(watch) is False


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse"])
def test_a_tool_that_no_guard_cares_for_needs_nothing(home, event):
    tools(home, cares=[f"{event}:Read"])
    assert nothing_to_do(tool(event, command="ls"), home) is True
    assert nothing_to_do(tool(event, "Read", file_path="/x"), home) is False
    tools(home, cares=[f"{event}:*"])
    assert nothing_to_do(tool(event, command="ls"), home) is False


def test_a_tool_that_failed_is_always_work(home):
    tools(home)
    assert nothing_to_do(tool("PostToolUseFailure", command="ls"), home) is False


@pytest.mark.parametrize("event", ["UserPromptSubmit", "PreToolUse", "PostToolUse"])
def test_a_branch_that_moved_is_work_in_its_folder_only(home, event):
    head = Path(home, "HEAD")
    head.write_text("ref: refs/heads/main")
    seen = {"/a": f"{signature(str(head))} {head}", "/b": ""}
    note(home, {})
    tools(home, folders=seen)
    asked = tool(event, command="ls", cwd="/a")
    assert nothing_to_do(asked, home) is True
    head.write_text("ref: refs/heads/other")
    assert nothing_to_do(asked, home) is False
    assert nothing_to_do(asked._replace(cwd="/b"), home) is True
    assert nothing_to_do(asked._replace(cwd="/c"), home) is False


@pytest.mark.parametrize("folders", [None, [], {"": 1}, {}, "x"])
def test_a_damaged_list_of_folders_proves_nothing(home, folders):
    note(home, {})
    tools(home, folders=folders)
    assert nothing_to_do(PROMPT, home) is False
    assert nothing_to_do(tool("PostToolUse", command="ls"), home) is False


@pytest.mark.parametrize(
    ("command", "quiet"),
    [
        ("gh pr create --fill", False),
        ("gh pr merge 3", False),
        ("glab mr create", False),
        ("g=gh; $g pr new", False),
        ("gh pr view 3", True),
        ("echo the right thing", True),
        ("git push -u origin x", True),
        ("git commit -m x", True),
    ],
)
def test_only_a_command_that_may_open_or_merge_a_pull_request_is_read(home, command, quiet):
    tools(home)
    assert nothing_to_do(tool("PostToolUse", command=command), home) is quiet
    assert nothing_to_do(tool("PreToolUse", command=command), home) is True


def test_what_git_does_is_read_while_its_note_says_so(home):
    tools(home, git=True)
    assert nothing_to_do(tool("PostToolUse", command="git commit -m x"), home) is False
    assert nothing_to_do(tool("PostToolUse", command="ls"), home) is True


def test_a_server_tool_for_pull_requests_is_read(home):
    tools(home)
    assert nothing_to_do(tool("PostToolUse", "mcp__github__merge_pull_request"), home) is False
    assert nothing_to_do(tool("PostToolUse", "mcp__el__ask"), home) is True
