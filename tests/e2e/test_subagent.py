"""A subagent starts with the top lessons, and what it marks is kept once."""

from __future__ import annotations

LESSON = "the staging database is reset every night"
FOUND = "the parser lives in two places"
TASK = {
    "tool": "Agent",
    "input": {
        "description": "look for the parser",
        "prompt": "find the parser",
        "subagent_type": "general-purpose",
        "run_in_background": False,
    },
}


def test_a_subagent_is_told_the_top_lessons_and_its_own_is_kept_once(client, api):
    api.says(f"<!-- @lesson severity=high -->{LESSON}<!-- @/lesson -->")
    client.run("please look around")

    api.says("I will ask somebody.", TASK)
    api.subagent_turns.append([f"Found. <!-- @lesson -->{FOUND}<!-- @/lesson -->"])
    api.says("It was found.")
    client.run("where is the parser")
    asked = api.requests("subagent")
    assert asked, "no subagent was started"
    assert asked[0].text.count(LESSON) == 1
    assert "SubagentStart hook additional context:" in asked[0].text

    client.run("a third session")
    told = api.requests()[-1].text
    assert (told.count(LESSON), told.count(FOUND)) == (1, 1)
    assert client.verb("lessons").count(FOUND) == 1
