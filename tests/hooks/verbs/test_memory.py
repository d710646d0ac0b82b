from __future__ import annotations

import re

import pytest

from hooks.context.switch import load
from hooks.errors import HookError, StateError
from hooks.verbs.memory import NowhereToSwitchError, run
from tests.support.memories import WEB

LESSON = "<!-- @lesson -->{}<!-- @/lesson -->"


def is_off(ctx, project: str = WEB, session: str = "session-1") -> bool:
    return load(ctx.settings.home).off(ctx.at, project, session) is not None


def test_off_holds_for_everything_and_the_end_is_said(ctx):
    assert run("off --for 90m", ctx) == (
        "Memory is off for everything on this installation, until 2026-11-30 13:30 UTC."
    )
    assert run("", ctx).startswith("Memory is off for everything")
    assert is_off(ctx, "another/project/x", "another-session")


def test_a_session_and_a_project_are_switched_alone(ctx):
    assert "off for this session, until you switch it on (`memory on`)" in run("off --session", ctx)
    assert is_off(ctx)
    assert not is_off(ctx, session="session-2")
    run("on", ctx)

    assert f"off for the project {WEB}" in run("off --project", ctx)
    assert is_off(ctx, session="session-2")
    assert not is_off(ctx, project="another/project/x")


def test_a_plain_on_ends_whatever_is_off_here(ctx):
    for words in ("off", "off --project", "off --session"):
        run(words, ctx)
    assert run("on", ctx) == "Memory is on here."
    assert not is_off(ctx)


def test_on_for_a_session_says_what_still_holds(ctx):
    run("off", ctx)
    run("off --session", ctx)
    assert run("on --session", ctx).startswith(
        "Nothing is off for this session now, but memory is off for everything on this installation"
    )


@pytest.mark.parametrize("scope", ["project", "session"])
def test_off_for_a_part_is_said_to_be_recorded_while_everything_is_off(ctx, scope):
    run("off --for 1h", ctx)

    said = run(f"off --{scope} --for 2h", ctx).split("\n")
    shorter = run(f"off --{scope} --for 30m", ctx).split("\n")

    name = {"project": f"the project {WEB}", "session": "this session"}[scope]
    assert said == [f"Memory is off for {name}, until 2026-11-30 14:00 UTC."]
    assert shorter == [
        f"Memory is off for {name}, until 2026-11-30 12:30 UTC.",
        "It is also off for everything on this installation, until 2026-11-30 13:00 UTC.",
    ]


def test_a_session_that_starts_while_memory_is_off_says_until_when_and_how_to_end_it(session, home):
    first = session()
    first.start()
    first.prompt("/brainhooks:memory off --project --for 2h")
    told = session().start().message
    first.prompt("/brainhooks:memory off")
    open_end = session().start().message

    assert re.fullmatch(
        rf"brainhooks: memory is off for the project {WEB}, until \d{{4}}-\d\d-\d\d \d\d:\d\d UTC; "
        "/brainhooks:memory on switches it on before",
        told,
    )
    assert open_end == (
        "brainhooks: memory is off for everything on this installation, "
        "until you switch it on (/brainhooks:memory on)"
    )


def test_asking_changes_nothing(home, ctx):
    assert run("", ctx) == "Memory is on here."
    assert not home.exists()


def test_outside_a_session_or_project_there_is_none_to_switch(ctx, tmp_path):
    with pytest.raises(NowhereToSwitchError):
        run("off --session", ctx._replace(session_id=""))
    with pytest.raises(NowhereToSwitchError) as caught:
        run("off --project", ctx._replace(cwd=str(tmp_path)))
    assert isinstance(caught.value, HookError)
    assert caught.value.hint


def test_a_damaged_switch_is_told_and_not_replaced(home, ctx):
    home.mkdir()
    (home / "memory-switch.json").write_text("{}", encoding="utf-8")
    for words in ("on", "off", ""):
        with pytest.raises(StateError):
            run(words, ctx)
    assert (home / "memory-switch.json").read_text(encoding="utf-8") == "{}"


def test_off_means_nothing_told_and_nothing_kept_also_not_later(session):
    """The whole rule, with real hook processes: what was marked while off is gone for good."""
    first = session()
    first.start()
    first.says(LESSON.format("before it was off"))
    first.stop()
    first.settle()

    assert "Memory is off" in first.prompt("/brainhooks:memory off").answer
    first.says(LESSON.format("said in private"))
    assert first.stop().reply == {}
    second = session()
    assert second.start().context == ""
    assert second.prompt("hello").context == ""

    assert first.prompt("/brainhooks:memory on").answer == "Memory is on here."
    first.says(LESSON.format("after it was on"))
    first.stop()
    first.end()
    first.settle()
    third = session()
    told = third.start().context
    third.settle()
    assert "before it was off" in told
    assert "after it was on" in told
    assert "said in private" not in told + session().start().context
    first.settle()


def test_a_project_switched_off_keeps_nothing_where_no_scope_log_is_kept_either(session):
    mine = session(env={"AGENTIHOOKS_SESSION_SCOPE": "0"})
    mine.start()
    mine.prompt("/brainhooks:memory off --project")
    mine.says("<!-- @lesson -->said while the project was off<!-- @/lesson -->")
    assert mine.stop().stdout == b""
    mine.end()
    mine.settle()
    mine.prompt("/brainhooks:memory on")
    assert "said while" not in session(env=mine.env).start().context
