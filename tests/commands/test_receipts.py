from __future__ import annotations

import json

from hooks.context import keep
from hooks.settings import Settings
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
    assert f"{key[:8]}  2026-11-30  pending" in run_cli("receipts", home=home).stdout

    done = run_cli("flush", home=home)

    assert (done.returncode, done.stdout) == (0, "1 committed\n"), done.stderr
    assert f"{key[:8]}  2026-11-30  committed" in run_cli("receipts", home=home).stdout
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
