"""The real client with a brain service that fails, then heals: kept, delivered once, told again."""

from __future__ import annotations

import json

import pytest

from tests.support.brain_server import BrainServer
from tests.support.git import make_repo

LESSON = "the staging database is reset every night"
LATER = ("deploys happen on Tuesdays", "the parser lives in two places")
LAST = "the cache must be warmed by hand"
MARKED = f"Done. <!-- @lesson severity=high -->{LESSON}<!-- @/lesson --> Anything else?"


def marked(text):
    return f"<!-- @lesson -->{text}<!-- @/lesson -->"


@pytest.fixture
def server(tmp_path, client):
    with BrainServer(tmp_path / "service") as found:
        client.extra = {
            "BRAIN_URL": found.url,
            "BRAIN_HTTP_TOKEN": found.token,
            "BRAIN_HTTP_TIMEOUT": "1",
        }
        yield found
        client.settle()


def let_the_pause_end(client):
    """After a failure the drainer waits for a minute: date that minute back."""
    path = client.memory / "brain" / "drain-pause.json"
    note = json.loads(path.read_bytes())
    path.write_text(json.dumps({**note, "until": note["since"]}))


def waiting(client):
    return len(list((client.memory / "brain-outbox").glob("*.json")))


WHY = {
    "status:503": "503",
    "silent": "no answer within 1 s",
    "html": "without a plain ok",
    "store-silent": "no answer within 1 s",
}


@pytest.mark.parametrize("way", WHY)
def test_what_a_failing_service_did_not_take_is_delivered_once_when_it_heals(
    client, api, server, way
):
    server.always("POST /marker", way)
    api.says(MARKED)
    first = client.run("please look around")
    assert LESSON in first.message("Stop")
    api.says(*(marked(text) for text in LATER))
    client.run("and there")
    assert waiting(client) == 3
    status = client.verb("brain_status")
    (said,) = [line for line in status.splitlines() if "cannot be delivered" in line]
    assert "3 markers wait" in said
    assert WHY[way] in said

    server.heal()
    there, before = server.contents(), len(server.requests("POST /marker"))
    let_the_pause_end(client)
    client.run("and again")  # tells of what waits, and delivers it
    assert all(api.requests()[-1].text.count(text) == 1 for text in (LESSON, *LATER))
    assert server.contents() == [LESSON, *LATER]
    assert len(server.requests("POST /marker")) - before == 3 - len(there)  # none that it has
    assert waiting(client) == 0
    assert "all is well" in client.verb("brain_status")

    before = len(server.requests("POST /marker"))
    api.says(marked(LAST))
    client.chat("and once more", "and a second Stop")  # what the service knows comes back
    assert all(api.requests()[-1].text.count(text) == 1 for text in (LESSON, *LATER))
    assert server.contents() == [LESSON, *LATER, LAST]
    assert len(server.requests("POST /marker")) - before == 1


def test_another_project_is_told_what_is_for_all_and_nothing_else(client, api, server, tmp_path):
    row = {"id": "r1", "title": "", "content": "deploys are frozen", "priority": 9, "metadata": {}}
    server.seed("hot_arcs", row)
    api.says(MARKED)
    client.run("please look around")
    other = make_repo(tmp_path / "api", "https://git.example.org/shop/api.git")
    client.run("here?", cwd=other)
    client.run("and here?", cwd=other)
    told = api.requests()[-1].text
    assert LESSON not in told
    assert told.count("deploys are frozen") == 1


def test_a_forgotten_memory_of_a_service_stays_away(client, api, server):
    api.says(MARKED)
    client.run("please look around")
    client.run("a second session")
    listed = client.verb("lessons")
    (line,) = [line for line in listed.splitlines() if LESSON in line]
    assert "Forgot" in client.verb(f"forget {line.split()[0]}")
    client.settle()
    client.run("a third session")
    assert LESSON not in api.requests()[-1].text
    assert server.contents() == [LESSON]  # a plain service cannot forget
