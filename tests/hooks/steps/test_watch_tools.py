"""Which tools' events end at the door, and which are looked at, as failures come and go."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hooks.context.breaker import count
from hooks.context.operation import Operation
from hooks.context.state_embedded import EmbeddedState
from hooks.context.tool_watch import EDITING
from hooks.ctx import Ctx
from hooks.payload import Event
from hooks.quick import tools_note
from hooks.settings import Settings
from hooks.steps import watch_tools
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


class Overtaken(EmbeddedState):
    """A state in which another hook counts a failure once this one has looked."""

    overtakes = True

    def read(self, keys):
        found = super().read(keys)
        if self.overtakes:
            self.overtakes = False
            document, _ = count({}, Operation("Read"), "e", target="t", edited=False, denies=False)
            self.write(keys[0], json.dumps(document).encode())
        return found


def test_a_failure_that_is_counted_while_the_note_is_written_is_in_it(home, project, noon):
    event = Event("PostToolUse", session_id="s-1", cwd=str(project), tool_name="Bash")
    ctx = Ctx(event, Settings(str(home)), {}, noon)
    home.mkdir()
    ctx._state, ctx._asked_for_state = Overtaken.open(str(home), noon), True
    watch_tools.run(ctx)
    ctx.close()
    note = json.loads(Path(tools_note(str(home), "s-1")).read_text(encoding="utf-8"))
    assert "PostToolUse:Read" in note["cares"]
