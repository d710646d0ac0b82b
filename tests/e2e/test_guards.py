"""The guards in the real client, by a process for each event: told, switched off, not started."""

from __future__ import annotations

FAILING = {"tool": "Bash", "input": {"command": "echo 'error: no such table' >&2; exit 3"}}
FAILURES = 5  # from here on the agent is told
TOLD = "has now failed"


def fail(client, api, times: int = FAILURES) -> list[bool]:
    """Let a new session run a command that fails; say of each request whether it was told."""
    before = len(api.requests())
    for _ in range(times):
        api.says(FAILING)
    client.run("set it up")
    return [TOLD in request.text for request in api.requests()[before:]]


def test_a_command_that_keeps_failing_is_told_at_the_fifth_time(client, api):
    assert fail(client, api) == [False] * FAILURES + [True]


def test_the_words_alone_switch_controls_without_the_model_and_for_the_next_sessions_too(
    client, api
):
    client.run("hello")
    before = len(api.received)
    answer = client.run("disable controls")
    assert answer.rc == 0
    assert answer.text.endswith(
        "Controls are off on this installation, until you switch them on (`controls on`): the "
        "retry breaker, the read cache and the signals do nothing; memory goes on."
    )
    assert api.received[before:] == [], "the words reached the model"
    assert not any(fail(client, api))
    assert "brainhooks: controls are off on this installation" in client.verb("brain_status")

    client.run("/brainhooks:controls on")
    assert fail(client, api)[-1]


def test_no_process_starts_for_a_tool_that_no_guard_cares_about(client, api):
    (client.project / "notes.txt").write_text("one\n", encoding="utf-8")
    api.says({"tool": "Bash", "input": {"command": "ls"}})
    api.says({"tool": "Read", "input": {"file_path": str(client.project / "notes.txt")}})
    api.says(
        {
            "tool": "Edit",
            "input": {
                "file_path": str(client.project / "notes.txt"),
                "old_string": "one",
                "new_string": "two",
            },
        }
    )
    api.says({"tool": "TodoWrite", "input": {"todos": []}})
    api.says(
        {
            "tool": "Agent",
            "input": {
                "description": "look",
                "prompt": "look",
                "subagent_type": "general-purpose",
                "run_in_background": False,
            },
        }
    )
    answer = client.run("work")
    assert (client.project / "notes.txt").read_text(encoding="utf-8") == "two\n"
    assert api.requests("subagent")
    names = [one["hook_name"] for one in answer.hooks("PreToolUse")]
    assert names == ["PreToolUse:Bash", "PreToolUse:Read"]
    names = [one["hook_name"] for one in answer.hooks("PostToolUse")]
    assert names == ["PostToolUse:Bash", "PostToolUse:Read", "PostToolUse:Edit"]
