from __future__ import annotations

import os
from datetime import timedelta

from hooks.context.claims import LATE, TWINS_S, answer_once, claim, drop_answers
from hooks.payload import Event
from tests.conftest import NOON

START = Event("SessionStart", session_id="s", source="startup")
PROMPT = Event("UserPromptSubmit", session_id="s", prompt_id="p", prompt="hi")
VERB = PROMPT._replace(prompt="/brainhooks:lessons")
ENV = {"CLAUDE_PID": "7"}


def age_claims(home, seconds):
    folder = os.path.join(home, "brain", "claims")
    for name in os.listdir(folder):
        when = NOON.timestamp() - seconds
        os.utime(os.path.join(folder, name), (when, when))


def test_of_two_installations_only_one_answers_an_event(tmp_path):
    home = str(tmp_path)
    assert claim(home, START, ENV, NOON) is True
    age_claims(home, 0)
    assert claim(home, START, ENV, NOON) is False


def test_a_later_start_of_the_same_session_is_answered_again(tmp_path):
    home = str(tmp_path)
    claim(home, START, ENV, NOON)
    age_claims(home, TWINS_S + 1)
    assert claim(home, START, ENV, NOON) is True


def test_a_prompt_is_answered_once_however_late_its_twin_comes(tmp_path):
    home = str(tmp_path)
    assert claim(home, PROMPT, ENV, NOON) is True
    assert claim(home, PROMPT, ENV, NOON + timedelta(hours=1)) is False
    assert claim(home, PROMPT._replace(prompt_id="q"), ENV, NOON) is True


def test_sessions_sources_and_clients_do_not_take_each_others_turn(tmp_path):
    home = str(tmp_path)
    assert claim(home, START, ENV, NOON)
    assert claim(home, START._replace(session_id="t"), ENV, NOON)
    assert claim(home, START._replace(source="compact"), ENV, NOON)
    assert claim(home, START, {"CLAUDE_PID": "8"}, NOON)


def test_a_home_that_cannot_be_written_still_answers(tmp_path):
    (tmp_path / "brain").write_text("not a folder")
    assert claim(str(tmp_path), START, ENV, NOON) is True


def test_with_one_installation_no_answer_is_left_lying_about(tmp_path):
    assert answer_once(str(tmp_path), VERB, ENV, NOON, lambda: "a secret") == "a secret"
    (left,) = os.scandir(tmp_path / "brain" / "claims")
    assert os.stat(left).st_size == 1


def test_one_that_comes_after_the_end_is_told_where_the_answer_is(tmp_path):
    answer_once(str(tmp_path), VERB, ENV, NOON, lambda: "first")
    assert answer_once(str(tmp_path), VERB, ENV, NOON, lambda: "second") == LATE
    again = VERB._replace(prompt_id="q")
    assert answer_once(str(tmp_path), again, ENV, NOON, lambda: "third") == "third"
    assert answer_once(str(tmp_path), again, ENV, NOON, lambda: "fourth") == "third"


def test_without_a_prompt_id_the_window_tells_two_prompts_apart(tmp_path):
    home, verb = str(tmp_path), VERB._replace(prompt_id="")
    assert answer_once(home, verb, ENV, NOON, lambda: "first") == "first"
    age_claims(tmp_path, TWINS_S + 1)
    assert answer_once(home, verb, ENV, NOON, lambda: "second") == "second"


def test_without_a_prompt_id_other_words_are_another_prompt_at_once(tmp_path):
    home, said = str(tmp_path), []
    for words in ("disable controls", "enable controls"):
        verb = VERB._replace(prompt_id="", prompt=words)
        said.append(answer_once(home, verb, ENV, NOON, lambda words=words: f"did {words}"))
        age_claims(home, 0)
    assert said == ["did disable controls", "did enable controls"]


def test_answers_that_nobody_took_are_emptied(tmp_path):
    home = str(tmp_path)
    claim(home, START, ENV, NOON)
    claim(home, START, ENV, NOON)
    answer_once(home, VERB, ENV, NOON, lambda: "a secret")
    drop_answers(home, NOON)
    assert [
        p for p in (tmp_path / "brain" / "claims").iterdir() if b"secret" in p.read_bytes()
    ] == []


def test_verbs_are_answered_where_the_home_cannot_be_written(tmp_path):
    (tmp_path / "brain").write_text("not a folder")
    assert answer_once(str(tmp_path), VERB, ENV, NOON, lambda: "said") == "said"
