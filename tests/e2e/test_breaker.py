"""What has failed ten times does not run in the real client, where that was asked for."""

from __future__ import annotations

FAILING = {"tool": "Bash", "input": {"command": "ls missing-dir/$RANDOM"}}
DENIED = "`ls` was not run: it has failed 10 times"


def runs(api) -> list[bool]:
    """Say of each shell command and edit of the conversation whether it ran."""
    blocks = [
        block
        for message in api.requests()[-1].body["messages"]
        if message["role"] == "user" and isinstance(message["content"], list)
        for block in message["content"]
        if block.get("type") == "tool_result"
    ]
    return [DENIED not in str(block["content"]) for block in blocks]


def test_what_failed_ten_times_is_denied_until_something_was_written(client, api):
    client.extra["BRAINHOOKS_BREAKER_DENY"] = "1"
    write = {"file_path": str(client.project / "new.txt"), "content": "x\n"}
    for _ in range(13):
        api.says(FAILING)
    api.says({"tool": "Write", "input": write})
    api.says(FAILING)
    client.run("look")
    assert runs(api) == [True] * 10 + [False] * 3 + [True] * 2
    assert "`ls` has now failed 10 times" in api.requests()[-1].text
    assert "has now failed 20 times" not in api.requests()[-1].text


def test_ten_failing_runs_with_an_edit_between_each_are_never_denied(client, api):
    client.extra["BRAINHOOKS_BREAKER_DENY"] = "1"
    for number in range(12):
        api.says(FAILING)
        api.says({"tool": "Bash", "input": {"command": f"echo {number} > new.txt"}})
    client.run("look")
    assert runs(api) == [True] * 24
