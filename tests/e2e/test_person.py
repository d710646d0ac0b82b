"""What is remembered is the person's: forgotten and switched off from inside the client."""

from __future__ import annotations

import re

LESSON = "the staging database is reset every night"
OTHER = "deploys happen on Tuesdays"
MARKED = f"Done. <!-- @lesson severity=high -->{LESSON}<!-- @/lesson -->"


def id_of(client, text: str) -> str:
    line = next(line for line in client.verb("lessons").splitlines() if text in line)
    return re.search(r"\b[0-9a-f]{6,32}\b", line)[0]


def test_a_forgotten_lesson_stays_away_and_costs_no_model_request(client, api):
    api.says(MARKED, f"<!-- @lesson -->{OTHER}<!-- @/lesson -->")
    first = client.run("please look around")
    before = len(api.received)
    answer = client.run(f"/brainhooks:forget {id_of(client, LESSON)}")
    assert answer.rc == 0
    assert "orgot" in answer.text, answer.text
    assert api.received[before:] == [], "a verb reached the model"

    client.run("a new session")
    assert LESSON not in api.requests()[-1].text
    assert OTHER in api.requests()[-1].text
    client.run("go on", "--resume", first.session_id, "--fork-session")
    client.run("another new session")
    assert LESSON not in api.requests()[-1].text


def test_with_memory_off_nothing_is_injected_or_kept_also_not_later(client, api):
    api.says(f"<!-- @lesson -->{OTHER}<!-- @/lesson -->")
    client.run("please look around")
    client.run("/brainhooks:memory off")

    api.says(MARKED)
    off = client.run("work without memory")
    told = api.requests()[-1].text
    assert OTHER not in told
    assert "hook additional context" not in told
    assert off.message("Stop") == ""
    assert client.files_with(LESSON) == []

    client.run("/brainhooks:memory on")
    client.run("go on", "--resume", off.session_id)
    client.run("a new session")
    told = api.requests()[-1].text
    assert OTHER in told
    assert LESSON not in told
    assert client.files_with(LESSON) == []


def test_a_remembered_text_comes_back_word_for_word(client, api):
    before = len(api.received)
    client.run("/brainhooks:remember ask before you touch $HOME/`config`")
    assert api.received[before:] == []
    client.run("a new session")
    assert "ask before you touch $HOME/`config`" in api.requests()[-1].text
