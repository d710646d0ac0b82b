"""Doctor asks a brain service, and tells a wrong address from a wrong token."""

from __future__ import annotations

import json

import pytest

from tests.support.brain_server import BrainServer
from tests.support.run_cli import run_cli


@pytest.fixture
def server(tmp_path):
    with BrainServer(tmp_path / "service") as found:
        yield found


def findings(home, **env):
    done = run_cli("doctor", "--json", home=home, env=env)
    assert done.stderr == ""
    return [row for row in json.loads(done.stdout) if row["check"] == "brain service"], done.stdout


def test_a_service_that_answers_is_well_and_asking_makes_no_home(home, server):
    found, _ = findings(home, BRAIN_URL=server.url, BRAIN_HTTP_TOKEN=server.token)
    assert [row["level"] for row in found] == ["ok"]
    assert "brain-api" in found[0]["what"]
    assert not home.exists()


@pytest.mark.parametrize(
    ("route", "way", "token", "says"),
    [
        pytest.param("GET /feed", "", "another", "token", id="wrong token"),
        pytest.param("GET /health", "html", "t0ken-of-the-test", "well", id="a web site"),
        pytest.param("GET /feed", "status:503", "t0ken-of-the-test", "503", id="unwell"),
        pytest.param("GET /health", "silent", "t0ken-of-the-test", "within", id="silent"),
    ],
)
def test_what_is_wrong_is_said_with_a_next_step_and_without_the_token(
    home, server, route, way, token, says
):
    server.always(route, way)
    env = {"BRAIN_URL": server.url, "BRAIN_HTTP_TOKEN": token, "BRAIN_HTTP_TIMEOUT": "0.5"}
    found, printed = findings(home, **env)
    assert [row["level"] for row in found] == ["warn"]
    assert says in found[0]["what"]
    assert found[0]["next"]
    assert token not in printed
    assert server.url not in printed


def test_nothing_is_asked_where_no_service_is_configured(home):
    assert findings(home)[0] == []
