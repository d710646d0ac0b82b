"""Die by SIGKILL before each step of a commit, in a process for each, and tell what is left.

``store_crash.py OPEN WHAT``: OPEN is code that opens ``store``, WHAT a name in ``DO``. A step is a
statement of SQLite, or a question to Redis. Prints for each step what a new process then finds,
as JSON: whether it was killed, the newest number, the documents, the next commit's number.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from hooks.context.database import Database
from scripts.swarm_v2.memory.redis_link import RedisLink
from scripts.swarm_v2.memory.store import Basis, Commit, Seen, Write

SPACE, MINE = "proj", "session:ann:1"
STEPS = ((Database, "run"), (Database, "rows"), (RedisLink, "ask"))
BIG = {str(number): "x" * 40 for number in range(400)}


def opened(code):
    found = {}
    exec(code, found)
    return found["store"]


def prepare(store):
    """Begin anew, in a space that holds something of everything."""
    writes = [Write("big", "space", "set", BIG), Write("notes", MINE, "set", 1)]
    writes += [Write(id, "space", "set", {"n": 0, "m": "gone"}) for id in ("a", "b", "c")]
    store.commit(SPACE, Commit("system", tuple(writes)))
    store.acquire(SPACE, "one:1", 600_000)


def change(store):
    writes = (
        Write("a", "space", "set", {"n": 1}),
        Write("big", "space", "patch", {"1": "y"}),
        Write("b", "space", "erase", {"m": None}),
        Write("c", "space", "erase"),
        Write("notes", MINE, "delete"),
    )
    basis = Basis("context", "user:ann", (Seen(SPACE, "space", "a", 1),), ("space",))
    store.commit(SPACE, Commit("derived", writes, basis=(basis,), holder="one:1"))


def drop(store):
    store.drop_session(SPACE, MINE, "2026-11-30T12:00:00+00:00")


DO = {"change": change, "drop": drop}


def arm(limit):
    """Kill this process before its step number ``limit``."""
    count = [0]

    def wrapped(step):
        def stepped(*args, **named):
            if count[0] == limit:
                os.kill(os.getpid(), signal.SIGKILL)
            count[0] += 1
            return step(*args, **named)

        return stepped

    for cls, name in STEPS:
        setattr(cls, name, wrapped(getattr(cls, name)))


def state(store):
    keys = [("big", "space"), ("a", "space"), ("b", "space"), ("c", "space"), ("notes", MINE)]
    found = [store.read(SPACE, key, id) for id, key in keys]
    rows = [[one.op, one.seq, one.value] for one in found]
    rows[0][2] = rows[0][2]["1"]
    return [rows, len(store.basis(SPACE)), [len(one.touched) for one in store.changes(SPACE, 0)]]


def main(code, what):
    limit, killed = 0, True
    while killed:
        space = f"{SPACE}{limit}"
        globals()["SPACE"] = space
        store = opened(code)
        prepare(store)
        before = state(store)
        store.close()
        child = os.fork()
        if child == 0:
            store = opened(code)
            arm(limit)
            DO[what](store)
            os._exit(0)
        killed = os.WIFSIGNALED(os.waitpid(child, 0)[1])
        store = opened(code)
        left = {"killed": killed, "before": before, "after": state(store), "seq": store.seq(space)}
        left["next"] = store.commit(space, Commit("system", (Write("z", "space", "set", 1),)))
        store.close()
        sys.stdout.write(json.dumps(left) + "\n")
        limit += 1


if __name__ == "__main__":
    main(*sys.argv[1:])
