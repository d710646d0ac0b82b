"""A second read of one file in the real client: answered, read again, and a subagent's own."""

from __future__ import annotations

import pytest

UNCHANGED = "is unchanged since you read it at"
TEXT = "the parser lives in two places\n"


@pytest.fixture
def read(client):
    """A call that reads the project's file, where second reads are answered."""
    client.extra["BRAINHOOKS_READ_CACHE"] = "1"
    path = client.project / "notes.txt"
    path.write_text(TEXT * 3, encoding="utf-8")
    return {"tool": "Read", "input": {"file_path": str(path)}}


def answered(request):
    """Say of each result of a read in ``request`` whether it was our sentence."""
    blocks = [
        block
        for message in request.body["messages"]
        if message["role"] == "user" and isinstance(message["content"], list)
        for block in message["content"]
        if block.get("type") == "tool_result"
    ]
    return [UNCHANGED in str(block["content"]) for block in blocks]


def test_a_second_read_is_answered_the_third_reads_and_an_edited_file_is_read(client, api, read):
    path = read["input"]["file_path"]
    edit = {"file_path": path, "old_string": TEXT * 3, "new_string": "one place\n"}
    for turn in (read, read, read, read, {"tool": "Edit", "input": edit}, read, read):
        api.says(turn)
    client.run("look")
    assert answered(api.requests()[-1]) == [False, True, False, True, False, False, True]
    assert api.requests()[-1].text.count("one place") >= 2


def test_another_range_and_a_subagents_read_go_through(client, api, read):
    part = {"tool": "Read", "input": {**read["input"], "offset": 2, "limit": 1}}
    task = {"description": "look", "prompt": "look", "subagent_type": "general-purpose"}
    api.says(read)
    api.says(part)
    api.says({"tool": "Agent", "input": {**task, "run_in_background": False}})
    for turn in (read, read):
        api.subagent_turns.append([turn])
    api.says(part)
    api.says(read)
    client.run("look")
    assert answered(api.requests("subagent")[-1]) == [False, True]
    assert answered(api.requests()[-1]) == [False, False, False, True, True]


def test_after_a_compaction_in_the_same_process_it_is_read(client, api, read):
    for turn in (read, "Read.", read):
        api.says(turn)
    client.chat("look", "/compact", "look again")
    assert api.requests("compact")
    assert answered(api.requests()[-1])[-1] is False
    assert TEXT.strip() in api.requests()[-1].text
