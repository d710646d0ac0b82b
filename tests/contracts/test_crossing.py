"""Nothing crosses projects, or hides what crossed, by the agent's own hand."""

from __future__ import annotations

import pytest

from hooks.context.ledger import Ledger


def mark(session, text, attrs="", type_="lesson"):
    session.start()
    session.prompt("go")
    session.says(f"<!-- @{type_} {attrs} -->{text}<!-- @/{type_} -->")
    session.stop()
    session.settle()


def first_key(home):
    ledger = Ledger.read_only(str(home))
    try:
        return ledger.receipts()[-1].key
    finally:
        ledger.close()


@pytest.fixture
def app(repo):
    return repo("app", "https://git.example.org/shop/app.git")


def test_correcting_a_signal_is_not_accepting_it(session, home, app):
    one = session()
    mark(one, "deploy is brokn", type_="signal")
    one.prompt(f"/brainhooks:edit {first_key(home)} deploy is broken")
    one.settle()
    assert "deploy is" not in session(project=app).start().context
    one.settle()


@pytest.mark.parametrize(
    ("type_", "attrs", "elsewhere"), [("lesson", "share=fleet", True), ("signal", "", False)]
)
def test_an_agent_replaces_nothing_that_a_person_let_cross(
    session, home, app, type_, attrs, elsewhere
):
    one = session()
    mark(one, "use the proxy", attrs, type_)
    key = first_key(home)
    assert "Accepted" in one.prompt(f"/brainhooks:accept {key}").answer
    one.settle()
    other = session(project=app) if elsewhere else session()
    mark(other, "no", f"{attrs} supersedes={key[:8]}", type_)
    assert "use the proxy" in session(project=app).start().context
    one.settle()
