"""TLS, Sentinel and Cluster serve the hooks where they are served: through the server door."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

import pytest

from hooks.context import state_down
from scripts.swarm_v2.installation import installation
from tests.support.redis_servers import (
    Cluster,
    Sentinels,
    Server,
    ask,
    binary,
    tls_binary,
    tls_options,
)
from tests.support.run_hook import recorded
from tests.support.server_door import Door

SECRET = "hunter2"
FAILURES_UNTIL_TOLD = 5


@contextmanager
def tls(folder):
    folder.mkdir()
    options = (f"requirepass {SECRET}", *tls_options(folder))
    with Server(folder, tls_binary(), *options) as server:
        url = f"rediss://:{SECRET}@127.0.0.1:{server.tls_port}?ssl_ca_certs={folder / 'cert.pem'}"
        yield url, [f"redis://:{SECRET}@127.0.0.1:{server.port}"]


@contextmanager
def sentinel(folder):
    with Sentinels(folder, binary("wheel"), SECRET) as servers:
        yield servers.url, [f"redis://:{SECRET}@127.0.0.1:{servers.master.port}"]


@contextmanager
def cluster(folder):
    with Cluster(folder, binary("wheel")) as servers:
        yield servers.url, [node.url for node in servers.nodes]


@pytest.mark.parametrize("form", [tls, sentinel, cluster], ids=lambda form: form.__name__)
def test_what_failed_before_is_known_to_the_next_server_too(form, home, project, tmp_path):
    payload = recorded("PostToolUseFailure", cwd=str(project))
    with form(tmp_path / "redis") as (url, servers):
        told = [{}]
        while not told[-1] and len(told) < 5 * FAILURES_UNTIL_TOLD:
            # A server for each: nothing but the Redis knows what failed.
            with Door(home, {"REDIS_URL": url, "CLAUDE_PROJECT_DIR": str(project)}) as door:
                door.begin()
                numbered = {**payload, "tool_use_id": f"toolu_{len(told)}"}
                told.append(door.call("PostToolUseFailure", numbered))
            # On a busy machine a server may be too late for an event, which then is not counted.
            Path(state_down.path_of(str(home))).unlink(missing_ok=True)
        keys = [key.decode() for one in servers for key in ask(one, "KEYS", "*")]
    assert told[-1]
    assert len(told[1:]) >= FAILURES_UNTIL_TOLD
    own = installation(home).installation_id
    assert keys
    assert {key.rsplit(":", 2)[0] for key in keys} == {f"agentihooks:{own}"}
    assert not (home / "state.db").exists()
    log = home / "logs" / "hooks.log"
    assert SECRET not in str(told) + (log.read_text(encoding="utf-8") if log.exists() else "")
