"""Counting, logging and the status line with a real Redis, where no file holds the state."""

from __future__ import annotations

import json

import pytest

from hooks.context.transcript_log import path_of
from tests.hooks.test_statusline import run, said
from tests.support.redis_servers import (
    BUILDS,
    Server,
    ask,
    binary,
    free_port,
    tls_binary,
    tls_options,
)


@pytest.fixture(params=BUILDS)
def server(request, tmp_path):
    with Server(tmp_path / "redis", binary(request.param)) as one:
        yield one


def uuids(home, session):
    with open(path_of(str(home), session), "rb") as file:
        return [json.loads(line)["uuid"] for line in file]


def test_a_session_is_counted_and_logged_with_its_state_in_redis_alone(home, session, server):
    env = {"REDIS_URL": server.url, "BRAINHOOKS_TRANSCRIPT_LOG": "1"}
    current = session(env=env)
    current.start()
    for text in ("one", "two"):
        current.prompt("hello")
        current.says(text)
        current.stop()
    current.settle()
    assert not (home / "state.db").exists()
    line, _ = run(home, said(current), env=env)
    assert line == "web main | ctx 0% of 200k | in 202 out 84 read 600 write 40"
    assert len(uuids(home, current.id)) == 4

    ask(server.url, "FLUSHALL")
    current.says("three")
    current.stop()
    current.settle()
    assert len(uuids(home, current.id)) == len(set(uuids(home, current.id))) == 5
    assert "out 126" in run(home, said(current), env=env)[0]


def test_what_a_server_that_is_down_missed_is_made_up_for(home, session, server):
    env = {"REDIS_URL": server.url, "BRAINHOOKS_TRANSCRIPT_LOG": "1"}
    current = session(env=env)
    current.start()
    current.says("one")
    server.freeze()
    try:
        current.stop()
    finally:
        server.thaw()
    current.settle()
    assert not (home / "logs" / "transcripts").exists()
    (home / "brain" / "state-down.json").unlink()
    current.says("two")
    current.stop()
    assert len(uuids(home, current.id)) == 2
    assert "out 84" in run(home, said(current), env=env)[0]


def test_a_state_that_takes_redis_py_is_the_workers_and_one_that_is_down_is_marked(home, session):
    """Nobody listens there: the worker says so once, and the hooks leave it alone for a while."""
    env = {"REDIS_URL": f"rediss://127.0.0.1:{free_port()}"}
    current = session(env=env)
    current.start()
    current.says("one")
    for _ in range(2):
        assert current.stop().rc == 0
        current.settle()
        current.says("two")
    log = (home / "logs" / "hooks.log").read_text(encoding="utf-8")
    assert log.count("the sessions' state is down") == 1
    assert run(home, said(current), env=env)[0] == "web main"


def test_with_tls_the_worker_counts_and_logs(home, session, tmp_path):
    folder = tmp_path / "tls"
    folder.mkdir()
    with Server(folder, tls_binary(), *tls_options(folder)) as server:
        ca = folder / "cert.pem"
        url = f"rediss://127.0.0.1:{server.tls_port}?ssl_ca_certs={ca}"
        current = session(env={"REDIS_URL": url, "BRAINHOOKS_TRANSCRIPT_LOG": "1"})
        current.start()
        current.says("one")
        current.stop()
        current.settle()
        assert len(uuids(home, current.id)) == 1
        found = server.keys()
        kinds = [key.split(":")[2] for key in found]
        assert kinds == ["logger", "tokens"]
