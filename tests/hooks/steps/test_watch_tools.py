"""Which tools' events end at the door, and which are looked at, as failures come and go."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hooks.context.tool_watch import EDITING
from hooks.quick import tools_note
from tests.support.guards import all_at_once, bash, failing, have_failed


def cares(mine):
    note = json.loads(Path(tools_note(str(mine.home), mine.id)).read_text(encoding="utf-8"))
    return [one for one in note["cares"] if one not in EDITING]


@pytest.mark.parametrize(
    ("deny", "once", "ten_times"),
    [
        ("0", ["PostToolUse:Bash"], ["PostToolUse:Bash"]),
        ("1", ["PostToolUse:*"], ["PostToolUse:*", "PreToolUse:Bash"]),
    ],
)
def test_only_what_may_end_a_failure_is_looked_at(session, deny, once, ten_times):
    mine = session(env={"BRAINHOOKS_BREAKER_DENY": deny})
    mine.start()
    assert cares(mine) == []
    failing(mine)
    assert cares(mine) == once
    have_failed(mine, 10)
    assert cares(mine) == ten_times
    bash(mine, "npm test")
    assert cares(mine) == []
    mine.settle()


def test_eight_hooks_at_once_leave_a_note_that_knows_every_failure(session):
    mine = session()
    mine.start()
    names = iter(range(8))
    tools = ("Bash", "Read", "Grep", "Glob", "WebFetch", "LS", "Skill", "mcp__a__b")
    all_at_once(8, lambda: failing(mine, tool_name=tools[next(names)]))
    assert sorted(cares(mine)) == sorted(f"PostToolUse:{tool}" for tool in tools)
    mine.settle()
