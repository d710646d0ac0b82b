"""The client of a few lines: what it takes from a server, and that it bears whatever comes."""

from __future__ import annotations

import random
import socket
import time
from contextlib import contextmanager

import pytest

from hooks.context.redis_faults import NONSENSE
from hooks.context.redis_url import Place, parse
from hooks.context.resp import Link
from hooks.context.session_state import WAIT_S, Key
from hooks.context.state_redis import Names, RedisState
from hooks.errors import StateDown
from hooks.settings import Secret
from tests.support import wicked_redis
from tests.support.redis_servers import WAIT_S as PATIENT_S
from tests.support.redis_servers import Server, binary

KEY = Key("breaker", "one")
SLACK_S = 1.5  # of a machine that does other things; a wait that is not ours takes longer by far
NAMES = Names("agentihooks", "inst-" + "0" * 32)


@contextmanager
def wicked(way):
    with wicked_redis.wicked(way) as port:
        yield parse(f"redis://:hunter2@127.0.0.1:{port}")


def read_value(place, wait_s=PATIENT_S):
    """Ask as a guard does, past a login that every one of these answers as it likes."""
    link = Link(place._replace(password=Secret("")), wait_s)
    state = RedisState(link, NAMES)
    try:
        return state.read([KEY])
    finally:
        state.close()


@pytest.mark.parametrize("way", wicked_redis.WAYS)
def test_an_answer_that_is_none_is_the_state_out_of_reach_and_nothing_of_it_is_told(way):
    with wicked(way) as place:
        with pytest.raises(StateDown) as caught:
            read_value(place)
        assert "hunter2" not in str(caught.value) + caught.value.hint
        assert "127.0.0.1" not in str(caught.value)


@pytest.mark.parametrize("way", wicked_redis.STAY)
def test_nothing_takes_longer_than_its_budget_in_all(way):
    with wicked(way) as place:
        start = time.monotonic()
        with pytest.raises(StateDown):
            read_value(place, WAIT_S)
        assert time.monotonic() - start < WAIT_S + SLACK_S


@pytest.mark.parametrize("way", ["huge value", "flood"])
def test_what_a_wicked_server_says_is_bounded_in_memory(way):
    with wicked(way) as place, pytest.raises(StateDown, match="too large"):
        read_value(place)


@pytest.mark.parametrize("seed", range(40))
def test_whatever_bytes_come_only_the_one_error_leaves(seed):
    """Good answers with a few bytes changed, cut or doubled."""
    rng = random.Random(seed)
    parts = [
        b"*2\r\n",
        b"$3\r\nabc\r\n",
        b"$-1\r\n",
        b":12\r\n",
        b"+OK\r\n",
        b"-ERR no\r\n",
        b"*1\r\n",
    ]
    data = bytearray(b"".join(rng.choices(parts, k=rng.randrange(1, 8))))
    for _ in range(rng.randrange(4)):
        data[rng.randrange(len(data))] = rng.choice(b"\r\n$*+-:019a\x00\xff")
    ours, theirs = socket.socketpair()
    link = Link.__new__(Link)
    link._sock, link._got, link._taken, link._left = ours, bytearray(), 0, 5.0
    link._hello = []
    theirs.sendall(data)
    theirs.close()
    try:
        found = link.ask(("PING",))
    except StateDown:
        assert link._sock is None
    else:
        assert len(found) == 1
        link.close()


def test_after_a_failure_the_link_is_closed_and_no_late_answer_is_taken_for_anothers():
    with wicked("text") as place:
        link = Link(place._replace(password=Secret("")), PATIENT_S)
        state = RedisState(link, NAMES)
        for _ in range(2):
            with pytest.raises(StateDown):
                state.read([KEY])
        with pytest.raises(StateDown, match="closed"):
            link.ask(("PING",))


def test_several_questions_go_at_once_and_come_back_in_order(tmp_path):
    with Server(tmp_path, binary("wheel")) as server:
        link = Link(parse(server.url), PATIENT_S)
        found = link.ask(
            ("SET", "a", "1"), ("GET", "a"), ("INCR", "a"), ("GET", "b"), ("ECHO", b"\xff")
        )
        assert found == [b"OK", b"1", 2, None, b"\xff"]
        with pytest.raises(StateDown, match="answers with the error ERR"):
            link.ask(("GET", "a"), ("NO-SUCH-COMMAND", "hunter2"), ("GET", "a"))
        link.close()


def test_a_read_goes_with_the_login_and_a_write_waits_until_it_is_known_where_it_goes(tmp_path):
    options = ("requirepass secret", "databases 2")
    with Server(tmp_path, binary("wheel"), *options) as server:
        at = f"127.0.0.1:{server.port}"
        for url, question in (
            (f"redis://:secret@{at}/9", ("SET", "a", "1")),
            (f"redis://:secret@{at}/9", ("MGET", "a")),
            (f"redis://:wrong@{at}", ("MGET", "a")),
        ):
            link = Link(parse(url), PATIENT_S)
            with pytest.raises(StateDown):
                link.ask(question)
        assert server.keys(password="secret") == []
        link = Link(parse(f"redis://:secret@{at}/1"), PATIENT_S)
        assert link.ask(("MGET", "a")) == [[None]]
        assert link.ask(("SET", "a", "1")) == [b"OK"]
        link.close()
        assert server.keys(password="secret") == []


def test_a_name_is_looked_up_and_each_of_its_addresses_tried(tmp_path):
    with Server(tmp_path, binary("wheel")) as server:
        link = Link(parse(f"redis://localhost:{server.port}"), PATIENT_S)
        assert link.ask(("PING",)) == [b"PONG"]
        link.close()


@pytest.mark.parametrize(
    "place",
    [
        Place("tcp", hosts=(("127.0.0.1", 1),)),
        Place("tcp", hosts=(("name.invalid", 6379),)),
        Place("unix", path="/no/such/socket"),
        Place("unix", path="/" + "x" * 200),
        Place("unix", path="/a\0b"),
    ],
    ids=["refused", "no such name", "no such socket", "too long a path", "no path"],
)
def test_what_cannot_be_connected_to_is_out_of_reach(place):
    with pytest.raises(StateDown):
        Link(place, WAIT_S)


def test_a_server_that_takes_no_bytes_holds_a_large_question_no_longer_than_the_budget():
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        door.listen(1)
        link = Link(parse(f"redis://127.0.0.1:{door.getsockname()[1]}"), WAIT_S)
        start = time.monotonic()
        with pytest.raises(StateDown, match="in time"):
            link.ask(("SET", "a", b"x" * (64 << 20)))
        assert time.monotonic() - start < WAIT_S + SLACK_S


def test_nonsense_says_so():
    with wicked("nonsense") as place, pytest.raises(StateDown) as caught:
        read_value(place)
    assert caught.value.what == NONSENSE
