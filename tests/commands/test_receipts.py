from __future__ import annotations

import json

import pytest

from hooks.context import keep, outbox
from hooks.context.ledger import Ledger
from hooks.settings import Settings
from tests.support.keeping import Kept, lesson
from tests.support.memories import WEB
from tests.support.run_cli import run_cli


def kept(home, noon, project, text: str, session: str = "session-1") -> str:
    """Leave one marker of the person's in the outbox and return its key."""
    settings = Settings(home=str(home))
    where = keep.place(settings, {}, noon, session, str(project))
    return keep.remember(settings, where, text, {}).key


def test_without_a_ledger_there_are_no_receipts_and_nothing_is_made(home):
    done = run_cli("receipts", home=home)
    assert done.stdout == "No receipts yet: no marker was seen.\n"
    assert json.loads(run_cli("receipts", "--json", home=home).stdout) == {
        "receipts": [],
        "ignored": [],
    }
    assert not home.exists()


def test_a_flush_turns_pending_into_committed(home, noon, project):
    key = kept(home, noon, project, "the port is 443")
    assert f"{key[:8]}  2026-11-30  waiting" in run_cli("receipts", home=home).stdout

    done = run_cli("flush", home=home)

    assert (done.returncode, done.stdout) == (0, "1 committed\n"), done.stderr
    assert f"{key[:8]}  2026-11-30  delivered" in run_cli("receipts", home=home).stdout
    assert run_cli("flush", home=home).stdout == "Nothing waits for the brain.\n"


def test_a_flush_that_cannot_deliver_says_why_and_exits_1(home, noon, project):
    kept(home, noon, project, "the port is 443")
    done = run_cli("flush", home=home, env={"BRAIN_SOURCE_TYPE": "none"})
    assert done.returncode == 1
    assert done.stderr.startswith("1 marker still waiting: ")


def test_receipts_of_one_session_as_json(home, noon, project):
    kept(home, noon, project, "one")
    key = kept(home, noon, project, "two", session="session-2")

    said = json.loads(run_cli("receipts", "--session", "session-2", "--json", home=home).stdout)

    [receipt] = said["receipts"]
    assert (receipt["key"], receipt["state"]) == (key, "pending")
    assert receipt["project"] == WEB
    assert receipt["body"]["content"] == "two"


def test_a_redaction_is_said_in_the_receipt(home, noon, project):
    kept(home, noon, project, "password=correct-horse-battery")
    said = run_cli("receipts", home=home).stdout
    assert "(redacted: " in said
    assert "correct-horse" not in said


@pytest.fixture
def unknown(home, project):
    """Two markers of two sessions, of which a lost ledger could not say if the brain has them."""
    one, two = Kept(home, project), Kept(home, project)
    for each, text in ((one, "one"), (two, "two")):
        each.ask()
        each.say(lesson(text))
        each.collect()
    ledger = Ledger.open(str(home), one.at)
    for receipt in ledger.waiting():
        ledger.change(receipt.key, one.at, state="unknown", reason="the ledger was lost")
        outbox.remove_key(str(home), receipt.key)
    ledger.close()
    return one, two


def test_what_is_unknown_is_sent_again_on_a_persons_word(home, unknown):
    one, _ = unknown
    done = run_cli("receipts", "--resend", "--session", one.session.id, home=home)
    assert done.stdout == "1 marker to be sent again; brainhooks flush delivers now\n"
    assert [r.state for r in one.receipts()] == ["pending", "unknown"]
    one.drain()
    assert one.texts() == ["one"]
    run_cli("receipts", "--resend", home=home)
    one.drain()
    assert one.texts() == ["one", "two"]
    assert one.states() == ["committed", "committed"]


def test_or_is_taken_for_delivered_and_never_sent(home, unknown):
    one, _ = unknown
    done = run_cli("receipts", "--assume-delivered", home=home)
    assert done.stdout == "2 markers taken for delivered\n"
    one.drain()
    one.collect()
    assert one.texts() == []
    assert one.states() == ["committed", "committed"]
    assert "by a person's word" in one.receipts()[0].reason


def test_both_answers_at_once_change_nothing(home, unknown):
    done = run_cli("receipts", "--assume-delivered", "--resend", home=home)
    assert done.returncode == 2
    assert unknown[0].states() == ["unknown", "unknown"]


def test_where_all_is_known_there_is_nothing_to_say_and_nothing_made(home):
    done = run_cli("receipts", "--resend", home=home)
    assert (done.returncode, done.stdout) == (0, "Of every marker it is known what became of it.\n")
    assert not home.exists()


def test_the_status_is_yellow_until_the_person_has_chosen(home, unknown):
    said = json.loads(run_cli("brain_status", "--json", home=home).stdout)
    assert said["level"] == "yellow"
    (problem,) = [row for row in said["problems"] if "nobody knows" in row["what"]]
    assert "--resend or --assume-delivered" in problem["next"]
    run_cli("receipts", "--assume-delivered", home=home)
    said = json.loads(run_cli("brain_status", "--json", home=home).stdout)
    assert [row for row in said["problems"] if "nobody knows" in row["what"]] == []


def test_what_belongs_to_no_project_is_said_to(home, noon, project, tmp_path):
    kept(home, noon, tmp_path, "nowhere", session="")
    kept(home, noon, project, "in the shop")
    said = run_cli("receipts", home=home).stdout.splitlines()
    assert [line for line in said if "(for no project)" in line] == [said[1]]
    assert "nowhere" in said[1]


@pytest.mark.parametrize("word", ["--resend", "--assume-delivered"])
def test_what_is_said_of_one_session_is_not_said_of_all(home, unknown, word):
    done = run_cli("receipts", word, "--session", "another", home=home)
    said = "Of every marker of session another it is known what became of it.\n"
    assert (done.returncode, done.stdout) == (0, said)
    assert unknown[0].states() == ["unknown", "unknown"]
