"""Whose a personal memory is stands in its document: whoever shows or delivers it later."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hooks.context import outbox
from hooks.context.brains import open_brain
from hooks.context.brains.local import LocalBrain
from hooks.context.flush import drain
from hooks.context.ledger import Ledger
from tests.support.keeping import Kept, lesson, turn

WEB = "git.example.org/shop/web"


class Person(Kept):
    """One of two who use the same home."""

    who = ""

    @property
    def settings(self):
        return super().settings._replace(principal=self.who)

    def seen(self, who):
        brain = open_brain(self.settings, self.env)
        try:
            return [item.text for item in brain.project_memory(WEB, who)]
        finally:
            brain.close()


@pytest.fixture
def alice(home, project):
    found = Person(home, project)
    found.who = "alice"
    turn(found, lesson("private", scope="user"), lesson("run", scope="session"), lesson("all"))
    found.collect()
    return found


def test_a_waiting_personal_marker_is_delivered_as_its_writers(alice):
    bobs = alice.settings._replace(principal="bob")
    assert drain(bobs, alice.env, alice.tick()).committed == 3
    assert alice.seen("alice") == ["private", "run", "all"]
    assert alice.seen("bob") == ["all"]


def test_also_where_only_its_receipt_is_left(alice):
    for name in alice.waiting():
        outbox.remove(alice.home, name)
    drain(alice.settings._replace(principal="bob"), alice.env, alice.tick())
    assert alice.seen("bob") == ["all"]


def test_a_waiting_document_is_shown_as_its_writers():
    document = {
        "type": "lesson",
        "content": "X",
        "attrs": {"scope": "user", "principal": "bob"},
        "idempotency_key": "a" * 32,
    }
    assert outbox.as_item({**document, "principal": "alice"}, "bob").scope_key == "user:alice"
    # an older file records nobody; the attribute is the agent's word
    assert outbox.as_item(document, "ann").scope_key == "user:ann"


def test_the_agent_cannot_sign_for_another_person(tmp_path):
    brain = LocalBrain(str(tmp_path / "local.db"), "ann")
    attrs = {"scope": "user", "principal": "bob", "project_id": WEB}
    brain.post_marker({"type": "lesson", "content": "X", "attrs": attrs}, "a" * 32)
    assert brain.project_memory(WEB, "bob") == []
    assert [item.text for item in brain.project_memory(WEB, "ann")] == ["X"]
    brain.close()


def test_every_new_document_records_its_principal(alice):
    path = Path(outbox.folder(alice.home), alice.waiting()[0])
    assert json.loads(path.read_bytes())["principal"] == "alice"
    ledger = Ledger.read_only(alice.home)
    assert ledger is not None
    assert {row.document["principal"] for row in ledger.receipts()} == {"alice"}
    ledger.close()
