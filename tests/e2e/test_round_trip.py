"""What was marked in one session is in the next one's model request, and nowhere else."""

from __future__ import annotations

from tests.support.git import make_repo

LESSON = "the staging database is reset every night"
MARKED = f"Done. <!-- @lesson severity=high -->{LESSON}<!-- @/lesson --> Anything else?"
LABEL = "SessionStart hook additional context:"


def test_a_lesson_of_session_one_is_in_the_model_request_of_session_two(client, api):
    api.says(MARKED)
    first = client.run("please look around")
    assert first.rc == 0, first.stderr
    assert LESSON not in api.requests()[0].text

    second = client.run("and again")
    assert second.session_id != first.session_id
    told = api.requests()[-1].text
    assert told.count(LESSON) == 1
    assert LABEL in told
    assert "@lesson" not in told.split("and again")[0]


def test_a_session_is_told_what_was_kept_by_the_line_for_the_person(client, api):
    assert "git.example.org/shop/web" in client.run("hello").message("SessionStart")
    api.says(MARKED)
    assert LESSON in client.run("please look around").message("Stop")
    assert client.run("nothing to keep").message("Stop") == ""


def test_another_project_sees_nothing(client, api, tmp_path):
    api.says(MARKED)
    client.run("please look around")
    other = make_repo(tmp_path / "api", "https://git.example.org/shop/api.git")
    client.run("and here?", cwd=other)
    assert LESSON not in api.requests()[-1].text
    client.run("and back here?")
    assert LESSON in api.requests()[-1].text


def test_a_resumed_session_is_not_told_the_same_twice(client, api):
    api.says(MARKED)
    client.run("please look around")
    second = client.run("a second session")
    resumed = client.run("go on", "--resume", second.session_id)
    assert resumed.session_id == second.session_id
    told = api.requests()[-1].text
    assert "a second session" in told
    assert told.count(LESSON) == 1


def test_a_fork_repeats_old_lines_and_adds_no_memory(client, api):
    api.says(MARKED)
    first = client.run("please look around")
    fork = client.run("another way", "--resume", first.session_id, "--fork-session")
    assert fork.session_id != first.session_id
    assert client.verb("lessons").count(LESSON) == 1

    other = "the cache must be warmed by hand"
    api.says(f"<!-- @lesson -->{other}<!-- @/lesson -->")
    client.run("and now?", "--resume", fork.session_id)
    client.run("a new session")
    told = api.requests()[-1].text
    assert (told.count(LESSON), told.count(other)) == (1, 1)


def test_memory_survives_a_compaction(client, api):
    api.says(MARKED)
    client.run("please look around")
    client.chat("one", "/compact", "two")
    assert api.requests("compact"), "nothing was compacted"
    told = api.requests()[-1].text
    assert "A SUMMARY OF THE TALK" in told
    assert told.count(LESSON) == 1


def test_a_lesson_of_this_session_is_back_after_its_own_compaction(client, api):
    api.says(MARKED)
    client.chat("please look around", "/compact", "go on")
    told = api.requests()[-1].text
    assert "A SUMMARY OF THE TALK" in told
    assert LESSON in told
    assert client.verb("lessons").count(LESSON) == 1


def test_a_cleared_conversation_starts_with_the_memory(client, api):
    api.says(MARKED)
    answer = client.chat("please look around", "/clear", "what now")
    assert answer.rc == 0, answer.stderr
    told = api.requests()[-1].text
    assert "please look around" not in told
    assert told.count(LESSON) == 1
